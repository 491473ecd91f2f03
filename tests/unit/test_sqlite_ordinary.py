"""The dense leg as hooks have it: evidence is how far a cosine stands above what is ordinary in the space."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from fakes import ToyEmbedder
from making import about, make_memory, make_query, ref_of
from recollect.core.errors import LegTimeout
from recollect.core.vectors import Vector
from recollect.service.embed import build, embed_waiting
from recollect.service.gate import Gate
from recollect.stores.sqlite import ordinary
from recollect.stores.sqlite.dense import DenseLeg
from recollect.stores.sqlite.ordinary import THIS_AND_THAT, AboveOrdinary
from recollect.stores.sqlite.store import SqliteStore

ASKED = "asked"
MANY = len(THIS_AND_THAT)
CLOSE = 1e-3
"""Vectors are kept as halves."""


@dataclass
class Plane(ToyEmbedder):
    """Embeds in a plane, by the cosine that each text is to have to what is asked; all others have the same."""

    model: str = "plane"
    dimension: int | None = 2
    cosines: Mapping[str, float] = field(default_factory=dict)
    others: float = 0.0
    afterwards: Callable[[], object] = lambda: None
    """What happens in the world after a query was embedded."""

    def embed_query(self, text: str, seconds: float) -> Vector:
        vector = super().embed_query(text, seconds)
        self.shown.append(text)
        self.afterwards()
        return vector

    def vector(self, text: str) -> Vector:
        cosine = 1.0 if text == ASKED else self.cosines.get(text, self.others)
        return [cosine, (1 - cosine * cosine) ** 0.5]


@contextmanager
def _opened(path: Path, *models: Plane) -> Iterator[tuple[SqliteStore, DenseLeg]]:
    """Give a store whose memories are the texts that the models know, embedded by the last one, and its leg."""
    gates = {each.model: Gate(each) for each in models}
    store = SqliteStore(
        str(path / "memory.db"), embed_query=lambda model, text, seconds: gates[model].embed_query(text, seconds)
    )
    try:
        store.memories.add([make_memory(n, text) for n, text in enumerate(models[0].cosines, 1)])
        for each in models:
            build(store, gates[each.model])
            each.shown.clear()
        (dense,) = (leg for leg in store.legs if isinstance(leg, DenseLeg))
        yield store, dense
    finally:
        store.close()


def _evidence(leg: AboveOrdinary, **scope: str) -> dict[int, float]:
    """Give how much speaks for each memory, by its number."""
    hits = leg.search(make_query(ASKED, **scope), 10, 60)
    return {int(hit.ref.id[-4:], 16): hit.evidence for hit in hits}


def test_evidence_is_the_way_from_the_ordinary_to_the_same(tmp_path: Path) -> None:
    """The mean over the space and the sentences is worth 0, a cosine of 1 is worth 1, what is below the mean 0."""
    model = Plane(cosines={"near": 0.8, "same": 1.0, "far": 0.1}, others=0.2)
    with _opened(tmp_path, model) as (_, dense):
        mean = (0.8 + 1.0 + 0.1 + MANY * 0.2) / (3 + MANY)
        assert _evidence(AboveOrdinary(dense)) == {
            1: about((0.8 - mean) / (1 - mean), CLOSE),
            2: about(1.0, CLOSE),
            3: 0.0,
        }


def test_the_scores_are_the_dense_legs(tmp_path: Path) -> None:
    """Only the evidence is read otherwise: what is found, in what order and by which score, is the same."""
    with _opened(tmp_path, Plane(cosines={"near": 0.8, "far": 0.1, "nearer": 0.9})) as (_, dense):
        query = make_query(ASKED)
        found, plain = (leg.search(query, 2, 60) for leg in (AboveOrdinary(dense), dense))
        assert [(hit.ref, hit.score) for hit in found] == [(hit.ref, hit.score) for hit in plain]
        assert [hit.ref for hit in found] == [ref_of(3), ref_of(1)]
        assert (AboveOrdinary.name, AboveOrdinary.least) == (dense.name, dense.least)


def test_one_memory_alone_is_measured_by_the_sentences(tmp_path: Path) -> None:
    """A space of one memory has that one as its mean; what is ordinary comes from this and that."""
    with _opened(tmp_path, Plane(cosines={"near": 0.8}, others=0.3)) as (_, dense):
        mean = (0.8 + MANY * 0.3) / (1 + MANY)
        assert _evidence(AboveOrdinary(dense)) == {1: about((0.8 - mean) / (1 - mean), CLOSE)}


def test_a_model_to_which_all_is_the_same_finds_no_evidence(tmp_path: Path) -> None:
    """Where the ordinary is a cosine of 1, nothing stands above it."""
    with _opened(tmp_path, Plane(cosines={"one": 1.0, "two": 1.0}, others=1.0)) as (_, dense):
        assert _evidence(AboveOrdinary(dense)) == {1: 0.0, 2: 0.0}


def test_the_ordinary_is_of_the_whole_space(tmp_path: Path) -> None:
    """A scope that admits less does not change what is ordinary, so that one floor fits small projects too."""
    model = Plane(cosines={"near": 0.8, "far": 0.1}, others=0.4)
    with _opened(tmp_path, model) as (store, dense):
        store.memories.add([make_memory(3, "elsewhere", project="elsewhere")])
        embed_waiting(store, Gate(model))
        leg = AboveOrdinary(dense)
        whole = _evidence(leg)
        assert whole.keys() == {1, 2, 3}
        assert _evidence(leg, project="here") == {1: whole[1], 2: whole[2]}


def test_the_sentences_are_embedded_once_for_each_model(tmp_path: Path) -> None:
    """Another model makes its own, and going back to the first makes none."""
    first, second = Plane("first", cosines={"near": 0.8}, others=0.2), Plane("second", others=0.5)
    with _opened(tmp_path, first, second) as (store, dense):
        leg = AboveOrdinary(dense)
        for model in ("second", "first", "second", "first"):
            store.vectors.switch(model)
            leg.search(make_query(ASKED), 10, 60)
        assert first.shown == second.shown == [ASKED, *THIS_AND_THAT, ASKED]


class _Clock:
    """The time as the leg reads it, which goes on by a second with each text that is embedded."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def go_on(self) -> None:
        self.now += 1.0


def test_time_may_run_out_while_the_sentences_are_embedded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The leg is left out, and the next search goes on with what is missing."""
    clock = _Clock()
    monkeypatch.setattr(ordinary, "time", clock)
    model = Plane(cosines={"near": 0.8}, afterwards=clock.go_on)
    with _opened(tmp_path, model) as (_, dense):
        leg = AboveOrdinary(dense)
        with pytest.raises(LegTimeout, match="plane is still being loaded"):
            leg.search(make_query(ASKED), 10, 10.0)
        assert model.shown == [ASKED, *THIS_AND_THAT[:9]]
        leg.search(make_query(ASKED), 10, 60.0)
        assert model.shown == [ASKED, *THIS_AND_THAT[:9], ASKED, *THIS_AND_THAT[9:]]


def test_weighing_one_memory_is_left_to_the_dense_leg(tmp_path: Path) -> None:
    """An explanation speaks of the cosine itself."""
    with _opened(tmp_path, Plane(cosines={"near": 0.8})) as (_, dense):
        query = make_query(ASKED)
        assert AboveOrdinary(dense).weigh(query, ref_of(1)) == dense.weigh(query, ref_of(1))
        assert "cosine to the query is 0.800" in dense.weigh(query, ref_of(1)).summary
