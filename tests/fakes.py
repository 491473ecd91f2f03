"""A store kept in a dictionary, legs that answer what they were told to, and models whose vectors mean nothing.

Nothing here imitates a database: it offers what a recall asks of its ports, and no more.
"""

import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal, cast

from recollect.core.concepts import fold
from recollect.core.context import TURNS_BEFORE
from recollect.core.hits import Evidence, Hit, Ref, Surroundings, merge_hits
from recollect.core.memory import Link, Memory
from recollect.core.ports import (
    Concepts,
    Count,
    Embedder,
    Leg,
    Links,
    Memories,
    Problem,
    SettingsKeeper,
    Vectors,
    Waiting,
)
from recollect.core.query import Query, Scope
from recollect.core.settings import Settings, Value
from recollect.core.spread import Tie, TieKind
from recollect.core.vectors import Vector, pack, to_unit
from recollect.service.gate import Gate

if TYPE_CHECKING:
    from recollect.core.language_model import Budgets

TOY_DIMENSION = 16


@dataclass
class ToyEmbedder:
    """Gives each text a direction of its own, the same in every process; those of two models have nothing in common."""

    model: str = "toy"
    dimension: int | None = TOY_DIMENSION
    where: Literal["local", "remote"] = "local"
    shown: list[str] = field(default_factory=list)
    """Every text that reached it, in order."""

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        self.shown += texts
        return [self.vector(text) for text in texts]

    def embed_query(self, text: str, seconds: float) -> Vector:
        assert seconds > 0
        return self.vector(text)

    def vector(self, text: str) -> Vector:
        return to_unit(_draw(f"{self.model}: {text}", self.dimension or TOY_DIMENSION))


@dataclass
class BandedEmbedder(ToyEmbedder):
    """Has documents near an axis of its own, and queries near that axis or its opposite: a cosine tells the model.

    `band` is 1 for cosines above 0.9 and -1 for those below -0.9. Between two axes they are near 0.
    """

    axis: int = 0
    band: Literal[1, -1] = 1
    queries: dict[str, str] = field(default_factory=dict)
    """Which model embedded each query; may be shared by several models."""

    def embed_query(self, text: str, seconds: float) -> Vector:
        self.queries[text] = self.model
        return [self.band * value for value in super().embed_query(text, seconds)]

    def vector(self, text: str) -> Vector:
        noise = [0.0, 0.0, *_draw(f"{self.model}: {text}", TOY_DIMENSION - 2)]
        values = [0.15 * value for value in to_unit(noise)]
        values[self.axis] = 1.0
        return to_unit(values)


def expect_vectors(memories: Sequence[Memory], embedder: Embedder) -> dict[str, bytes]:
    """Give the vectors that a model makes of memories as they are, by their ids."""
    may_leave = [memory for memory in memories if memory.deleted_at is None and not memory.sensitive]
    turns = {(memory.session, memory.place): memory for memory in may_leave}
    waiting = []
    for memory in may_leave:
        places = range((memory.place or 0) - TURNS_BEFORE, memory.place or 0) if memory.session else range(0)
        before = [turns[memory.session, place] for place in places if (memory.session, place) in turns]
        waiting.append(Waiting(memory, tuple(before), 0))
    vectors = Gate(embedder).embed(waiting)
    return {each.memory.id: pack(vector) for each, vector in zip(waiting, vectors, strict=True)}


def _draw(seed: str, count: int) -> list[float]:
    generator = random.Random(seed.encode("utf-8", "surrogatepass"))
    return [generator.gauss(0, 1) for _ in range(count)]


@dataclass
class TellingLeg:
    """Brings the given scores, by memory, and remembers what it was asked."""

    name: str
    scores: Mapping[Ref, float] = field(default_factory=dict)
    evidence: Mapping[Ref, float] = field(default_factory=dict)
    least: float = 0.0
    asked: list[Query] = field(default_factory=list)
    afterwards: Callable[[], object] = lambda: None
    """What happens in the world after the leg has looked."""

    def search(self, query: Query, depth: int, seconds: float) -> Sequence[Hit]:
        assert seconds > 0
        self.asked.append(query)
        found = [
            [
                Hit(ref, score, self.evidence.get(ref, 1.0))
                for ref, score in self.scores.items()
                if ref.space == space and ref.id not in query.exclude
            ]
            for space in query.scope.spaces
        ]
        self.afterwards()
        return merge_hits(found, depth)

    def weigh(self, query: Query, ref: Ref) -> Evidence:
        assert query.text
        return Evidence(f"it scores {self.scores.get(ref, 0):g}")


@dataclass
class FailingLeg(TellingLeg):
    error: Exception = field(default_factory=RuntimeError)

    def search(self, query: Query, depth: int, seconds: float) -> Sequence[Hit]:
        super().search(query, depth, seconds)
        raise self.error


@dataclass
class _Kept:
    memories: dict[Ref, Memory]

    def get(self, refs: Collection[Ref], as_of: datetime | None = None) -> dict[Ref, Memory]:
        return {
            ref: memory
            for ref in refs
            if (memory := self.memories.get(ref)) and (as_of is None or memory.created_at <= as_of)
        }

    def surroundings(
        self, refs: Collection[Ref], scope: Scope, reach: int, exclude: Collection[str] = ()
    ) -> Surroundings:
        present = [
            (ref, memory) for ref, memory in self.memories.items() if scope.admits(memory) and ref.id not in exclude
        ]
        near = {ref: found for ref in refs if (found := list(_near(self.memories.get(ref), present, reach)))}
        counts = {}
        for ref in near.keys() | {other for found in near.values() for other, _ in found}:
            distances = [distance for _, distance in _near(self.memories.get(ref), present, reach)]
            counts[ref] = tuple(distances.count(each + 1) for each in range(reach))
        return Surroundings(near, counts)


def _near(memory: Memory | None, others: Iterable[tuple[Ref, Memory]], reach: int) -> Iterable[tuple[Ref, int]]:
    if memory is None or memory.session is None or memory.place is None:
        return
    for ref, other in others:
        same = (other.space, other.project, other.session) == (memory.space, memory.project, memory.session)
        if same and other.place is not None and 0 < abs(other.place - memory.place) <= reach:
            yield ref, abs(other.place - memory.place)


@dataclass
class _Linked:
    links: Sequence[Link]

    def among(self, refs: Collection[Ref], as_of: datetime | None = None) -> list[Link]:  # noqa: ARG002
        return list(self.links)


@dataclass
class _Embedded:
    waiting: int

    def count_waiting(self, spaces: Sequence[str]) -> int:
        assert spaces
        return self.waiting


@dataclass
class _Tied:
    given: Mapping[Ref, Sequence[Tie]]
    known: Collection[str]
    asked: list[Sequence[Ref]] = field(default_factory=list)

    def ties(
        self,
        refs: Sequence[Ref],
        kinds: Collection[TieKind],
        as_of: datetime | None = None,  # noqa: ARG002
        seconds: float | None = None,
    ) -> dict[Ref, list[Tie]]:
        assert seconds
        self.asked.append(refs)
        return {ref: [tie for tie in self.given.get(ref, ()) if tie.kind in kinds] for ref in refs}

    def knows(self, spaces: Sequence[str], names: Collection[str]) -> bool:
        assert spaces
        return not {fold(name) for name in names}.isdisjoint(self.known)


@dataclass
class _Set:
    values: dict[str, Value]

    def read(self, space: str | None = None) -> Settings:  # noqa: ARG002
        return Settings(self.values)

    def set(self, name: str, value: Value | None, space: str | None = None) -> None:
        raise NotImplementedError


class DictStore:
    """Offers what a recall needs: given memories, links, ties, settings and legs."""

    def __init__(
        self,
        memories: Sequence[Memory],
        legs: Sequence[Leg],
        *,
        links: Sequence[Link] = (),
        settings: Mapping[str, Value] | None = None,
        waiting: int = 0,
        ties: Mapping[Ref, Sequence[Tie]] | None = None,
        known: Collection[str] = (),
    ) -> None:
        self.kept = {Ref(memory.space, memory.id): memory for memory in memories}
        self.memories = cast("Memories", _Kept(self.kept))
        self.links = cast("Links", _Linked(links))
        self.vectors = cast("Vectors", _Embedded(waiting))
        self.tied = _Tied(ties or {}, known)
        self.concepts = cast("Concepts", self.tied)
        # No recall asks for them.
        self.budgets = cast("Budgets", None)
        self.settings: SettingsKeeper = _Set(dict(settings or {}))
        self.legs = legs
        self.asks_in_turn = False

    def reading(self, query: Query) -> AbstractContextManager[None]:  # noqa: ARG002
        return nullcontext()

    def last_change(self, space: str) -> Memory | Link | None:
        raise NotImplementedError

    def count(self) -> list[Count]:
        raise NotImplementedError

    def size(self) -> int:
        raise NotImplementedError

    def examine(self, progress: Callable[[int, int], None]) -> list[Problem]:
        raise NotImplementedError

    def mend(self) -> None:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError
