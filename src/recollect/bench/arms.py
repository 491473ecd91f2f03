"""What is compared: an arm is a name and settings for the product's own recall, and never a copy of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal

from recollect.bench.errors import BenchError
from recollect.core.settings import CONSTANTS, SETTINGS, Setting, Value

HARNESS: Final[Mapping[str, Value]] = {"leg-timeout-ms": 600_000, "rerank-timeout-ms": 600_000}
"""What holds for every arm: a busy machine must not change a result."""

_BARE: Final[Mapping[str, Value]] = {
    "context": 0.0,
    "spread": 0.0,
    "newest-first": 0,
    "rerank": 0,
    "weight.exact": 0.0,
}
"""Legs and their fusion, and nothing else."""
_EQUAL: Final[Mapping[str, Value]] = {"weight.lexical": 1.0, "weight.dense": 1.0}
_SEEDS: Final[Mapping[str, Value]] = {**_BARE, **_EQUAL, "fusion": "reciprocal-rank", "rrf.k": 60}
_GRAPH: Final[Mapping[str, Value]] = {**_SEEDS, "depth": 50, "weight.graph": 0.35}
_NO_TIES: Final[Mapping[str, Value]] = {
    "spread.names": 0.0,
    "spread.terms": 0.0,
    "spread.relations": 0.0,
    "spread.links": 0.0,
}
_CONVEX: Final[Mapping[str, Value]] = {**_BARE, "fusion": "convex"}


@dataclass(frozen=True, slots=True)
class Arm:
    name: str
    about: str
    values: Mapping[str, Value] = field(default_factory=dict)
    words: Literal["ours", "fts5", "ts_rank"] = "ours"
    """Which words leg."""
    vectors: Literal["together", "alone"] = "together"
    """Whether a turn is embedded together with those before it, as the product does, or alone."""
    importance: Literal["even", "random"] = "even"
    """No set rates importance: all alike, or at random, which shows what the prior costs where it says nothing."""
    concepts: Literal["rules", "triples"] = "rules"
    """Whether the triples that a set brings along are imported besides what rules read."""
    graph: Literal["stage", "leg", "leg with the base"] = "stage"
    """Whether the graph is a stage, as in the product, or a leg, which brings only what no other one found, or all."""
    through: Literal["library", "server"] = "library"
    """Whether the product is asked in this process, over SQLite, or over HTTP, as a server over Postgres."""

    @property
    def needs_postgres(self) -> bool:
        return self.words == "ts_rank" or self.through == "server"

    @property
    def needs_model(self) -> bool:
        """Whether it is about meaning. One that leaves that to the product's default is as good without a model."""
        return bool(self.values.get("weight.dense"))


ARMS: Final[Mapping[str, Arm]] = {
    arm.name: arm
    for arm in (
        Arm("lexical", "words alone", {**_BARE, "weight.lexical": 1.0, "weight.dense": 0.0}),
        Arm("dense", "meaning alone", {**_BARE, "weight.lexical": 0.0, "weight.dense": 1.0}, vectors="alone"),
        Arm(
            "seeds",
            "a common recipe: FTS5 and meaning, rank fusion with k=60, 1:1, depth 50",
            {**_SEEDS, "depth": 50},
            words="fts5",
            vectors="alone",
        ),
        Arm(
            "seeds-postgres",
            "that recipe on Postgres: ts_rank, all words and then any, in place of FTS5",
            {**_SEEDS, "depth": 50},
            words="ts_rank",
            vectors="alone",
        ),
        Arm(
            "ts-rank",
            "words alone by Postgres, as in that recipe",
            {**_BARE, "weight.lexical": 1.0, "weight.dense": 0.0},
            words="ts_rank",
        ),
        Arm("seeds-our-words", "that recipe over our words", {**_SEEDS, "depth": 50}, vectors="alone"),
        Arm("rrf", "rank fusion of words and meaning, k=60, 1:1", _SEEDS, vectors="alone"),
        Arm("convex-min-max", "convex fusion, lowest hit as 0", {**_CONVEX, "normaliser": "min-max"}, vectors="alone"),
        Arm(
            "convex",
            "convex fusion, lowest possible score as 0",
            {**_CONVEX, "normaliser": "theoretical-minimum"},
            vectors="alone",
        ),
        Arm("default", "the product as it comes"),
        Arm("server", "the product as it comes, through `recollect serve` over Postgres", through="server"),
        Arm("no-spread", "without score flowing through what memories share", {"spread": 0.0}),
        Arm("spread-names", "score flowing through names alone", {**_NO_TIES, "spread.names": 1.0}),
        Arm("spread-terms", "score flowing through rare words alone", {**_NO_TIES, "spread.terms": 1.0}),
        Arm("spread-links", "score flowing through links alone", {**_NO_TIES, "spread.links": 1.0}),
        Arm("triples", "with a model's triples besides the rules", concepts="triples"),
        Arm(
            "spread-relations",
            "score flowing through a model's relations alone",
            {**_NO_TIES, "spread.relations": 1.0},
            concepts="triples",
        ),
        Arm(
            "spread-all",
            "score flowing through everything, a model's relations included",
            {"spread.relations": 0.5},
            concepts="triples",
        ),
        Arm(
            "seeds-graph", "the seeds' graph leg: RRF at 0.35, base set excluded", _GRAPH, vectors="alone", graph="leg"
        ),
        Arm(
            "seeds-graph-base",
            "the seeds' graph leg: RRF at 0.35, base set included",
            _GRAPH,
            vectors="alone",
            graph="leg with the base",
        ),
        Arm("no-context", "without the neighbours' scores", {"context": 0.0}),
        Arm("no-reading-together", "without reading turns together for their vectors", vectors="alone"),
        Arm("no-newest", "without the newer of two like statements first", {"newest-first": 0}),
        Arm("no-exact", "without the rare-terms leg", {"weight.exact": 0.0}),
        Arm("no-dense", "without meaning", {"weight.dense": 0.0}),
        Arm("random-importance", "with importance at random", importance="random"),
    )
}
STANDARD: Final = ("lexical", "default")
"""What is run unless told otherwise."""


def find_arm(name: str) -> Arm:
    if name not in ARMS:
        raise BenchError(f"There is no arm {name!r}. There are {', '.join(ARMS)}.")
    return ARMS[name]


def vary(arm: Arm, values: Mapping[str, Value]) -> Arm:
    """Give an arm with some settings changed, named after them."""
    if not values:
        return arm
    changes = ",".join(f"{name}={value}" for name, value in values.items())
    return replace(arm, name=f"{arm.name}+{changes}", about=f"{arm.about}, {changes}", values={**arm.values, **values})


def read_value(name: str, text: str) -> Value:
    return _setting(name).parse(name, text)


def values_of(arm: Arm, *, has_model: bool) -> dict[str, Value]:
    """Give what the arm sets, as the product will read it: without a model there is no meaning to ask."""
    for name in arm.values:
        _setting(name)
    if arm.needs_model and not has_model:
        raise BenchError(f"The arm {arm.name} searches by meaning: name a model with --model.")
    without = {} if has_model else {"weight.dense": 0.0}
    return {**HARNESS, **arm.values, **without}


def resolve(values: Mapping[str, Value]) -> dict[str, Value]:
    """Give every setting and constant as it is in force, defaults included."""
    return {name: values.get(name, setting.default) for name, setting in {**SETTINGS, **CONSTANTS}.items()}


def _setting(name: str) -> Setting:
    found = SETTINGS.get(name) or CONSTANTS.get(name)
    if found is None:
        raise BenchError(f"There is no setting {name!r}. There are {', '.join((*SETTINGS, *CONSTANTS))}.")
    return found
