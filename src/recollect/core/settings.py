"""The settings a store keeps: their names, defaults and bounds. They take effect on the next recall."""

import math
from collections.abc import Mapping
from typing import Final

from recollect.core.errors import BadSetting
from recollect.core.fusion import LARGEST_WEIGHT, RRF_K
from recollect.core.memory import DEFAULT_LENGTH_LIMIT
from recollect.core.query import DEFAULT_LIMIT, LARGEST_LIMIT
from recollect.values import value

Value = float | int | str


@value
class Setting:
    default: Value
    about: str
    least: float = 0
    most: float = 0
    choices: tuple[str, ...] = ()

    def parse(self, name: str, text: str) -> Value:
        if self.choices:
            if text not in self.choices:
                raise BadSetting(f"{name} is one of {', '.join(self.choices)}, not {text!r}.")
            return text
        whole = isinstance(self.default, int)
        try:
            value: float = int(text) if whole else float(text)
        except ValueError:
            value = math.nan
        if not self.least <= value <= self.most:
            what = "a whole number" if whole else "a number"
            raise BadSetting(f"{name} is {what} from {self.least:g} to {self.most:g}, not {text!r}.")
        return value


SETTINGS: Final[Mapping[str, Setting]] = {
    "weight.lexical": Setting(0.16, "weight of the words leg; 0 switches it off", most=LARGEST_WEIGHT),
    "weight.dense": Setting(1.0, "weight of the meaning leg; 0 switches it off", most=LARGEST_WEIGHT),
    "weight.exact": Setting(0.05, "weight of the rare-terms leg; 0 switches it off", most=LARGEST_WEIGHT),
    "fusion": Setting("convex", "how legs become one list", choices=("convex", "reciprocal-rank")),
    "normaliser": Setting(
        "theoretical-minimum", "how convex brings scores to 0..1", choices=("theoretical-minimum", "min-max")
    ),
    "floor.lexical": Setting(0.0, "least share of the query's idf that must match", most=1),
    "floor.dense": Setting(0.0, "least cosine to the query", most=1),
    "floor.exact": Setting(0.0, "least share of the query's rare terms that must match", most=1),
    "context": Setting(1.0, "how much of its session neighbours' score a memory takes; 0 switches it off", most=1),
    "spread": Setting(
        0.5, "how much score flows to what shares names and rare words with the best; 0 switches it off", most=5
    ),
    "quoted-first": Setting(1, "whether what holds the query word for word comes first; 0 switches it off", most=1),
    "newest-first": Setting(
        1, "whether the newer of two near-identical statements comes first; 0 switches it off", most=1
    ),
    "rerank": Setting(0, "how many of the best a cross-encoder reads again; 0 switches it off", most=100),
    "rerank-timeout-ms": Setting(1000, "milliseconds after which the cross-encoder has no say", least=1, most=600_000),
    "depth": Setting(100, "how many hits each leg brings", least=10, most=10_000),
    "leg-timeout-ms": Setting(2000, "milliseconds after which a leg is left out", least=1, most=600_000),
    "limit": Setting(DEFAULT_LIMIT, "how many memories a recall brings", least=1, most=LARGEST_LIMIT),
    "prompt.memories": Setting(5, "how many memories a prompt is given at most; 0 for none", most=50),
    "prompt.tokens": Setting(1000, "how many tokens a prompt is given at most", least=100, most=100_000),
    "prompt.floor": Setting(
        1.0, "how much must speak for what a prompt is given: 2 is twice as sure, 0 gives whatever is found", most=10
    ),
    "learn": Setting(
        "review",
        "what becomes of what conversations say: it waits for `recollect review`, is kept directly, or is not read",
        choices=("review", "directly", "off"),
    ),
    "learn-by": Setting(
        "rules",
        "what reads conversations: rules, or the language model of RECOLLECT_EXTRACTOR within its budget",
        choices=("rules", "llm"),
    ),
    "length-limit": Setting(DEFAULT_LENGTH_LIMIT, "most characters of a memory", least=100, most=1_000_000),
}
CONSTANTS: Final[Mapping[str, Setting]] = {
    "weight.graph": Setting(0.0, "the weight of a graph leg, which only the benchmark has", most=LARGEST_WEIGHT),
    "context.graph": Setting(0.0, "the graph leg's part of `context`", most=1),
    "rrf.k": Setting(RRF_K, "the constant of reciprocal rank fusion", least=1, most=1000),
    "context.dense": Setting(0.0, "the dense leg's part of `context`", most=1),
    "context.exact": Setting(0.0, "the exact leg's part of `context`", most=1),
    "context.lexical": Setting(1.0, "the words leg's part of `context`", most=1),
    "spread.names": Setting(1.0, "the weight of a name that memories share", most=LARGEST_WEIGHT),
    "spread.terms": Setting(0.3, "the weight of a rare word that memories share", most=LARGEST_WEIGHT),
    "spread.relations": Setting(0.0, "the weight of a relation between what memories mention", most=LARGEST_WEIGHT),
    "spread.links": Setting(1.0, "the weight of a link between memories", most=LARGEST_WEIGHT),
    "spread.unnamed": Setting(0.3, "what is left of `spread` where the question names nothing known", most=1),
    "spread.session": Setting(0.1, "what is left of `spread` where the best stands in a session", most=1),
    "words-in-context": Setting(1.4, "what the words' weight is multiplied by where they were averaged", most=5),
}
"""What the benchmark varies and nobody sets: their values are results, not wishes."""


@value
class Settings:
    """The settings in force: what was set, and the defaults for the rest."""

    values: Mapping[str, Value]

    def number(self, name: str) -> float:
        return float(self._value(name))

    def whole(self, name: str) -> int:
        return int(self.number(name))

    def choice(self, name: str) -> str:
        return str(self._value(name))

    def by_leg(self, prefix: str) -> dict[str, float]:
        """Give the settings `prefix.LEG` by leg: weights, floors, parts."""
        start = f"{prefix}."
        names = (name for name in (*SETTINGS, *CONSTANTS) if name.startswith(start))
        return {name.removeprefix(start): self.number(name) for name in names}

    def _value(self, name: str) -> Value:
        value = self.values.get(name)
        return (SETTINGS.get(name) or CONSTANTS[name]).default if value is None else value


def setting(name: str) -> Setting:
    if name not in SETTINGS:
        raise BadSetting(f"There is no setting {name!r}. `recollect config` lists them all.")
    return SETTINGS[name]


def parse_setting(name: str, text: str) -> Value:
    return setting(name).parse(name, text)
