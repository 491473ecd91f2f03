"""A store as an arm sees it: the same memories, links and vectors, with the arm's settings and legs."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final, cast

from recollect.bench.errors import BenchError
from recollect.core.hits import Evidence, Hit, Ref
from recollect.core.memory import Memory
from recollect.core.ports import Leg, Memories, Store
from recollect.core.query import Query
from recollect.core.settings import Settings, Value

_LEVELS: Final = 1 << 32


class ArmStore:
    """Passes on whatever an arm does not change, so that it keeps step with what a store offers."""

    def __init__(self, inside: Store, values: Mapping[str, Value], legs: Sequence[Leg], memories: Memories) -> None:
        self._inside = inside
        self.settings = ArmSettings(values)
        self.legs = tuple(legs)
        self.memories = memories

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever it is of the store inside
        return getattr(self._inside, name)


def as_arm(
    inside: Store, values: Mapping[str, Value], *, legs: Sequence[Leg] | None = None, seed: int | None = None
) -> Store:
    """Give a store that recalls as an arm does; a seed makes importance random."""
    memories = inside.memories if seed is None else cast("Memories", RandomImportance(inside.memories, seed))
    return cast("Store", ArmStore(inside, values, inside.legs if legs is None else legs, memories))


class ArmSettings:
    def __init__(self, values: Mapping[str, Value]) -> None:
        self._settings = Settings(dict(values))

    def read(self, space: str | None = None) -> Settings:  # noqa: ARG002 - an arm's hold everywhere
        return self._settings

    def set(self, name: str, value: Value | None, space: str | None = None) -> None:  # noqa: ARG002 - as above
        raise BenchError(f"An arm's settings stand as they are: {name} cannot become {value}.")


class RandomImportance:
    """Memories whose importance is drawn by a seed and their id: the same in every run, and about nothing."""

    def __init__(self, inside: Memories, seed: int) -> None:
        self._inside = inside
        self._seed = seed

    def get(self, refs: Collection[Ref], as_of: datetime | None = None) -> dict[Ref, Memory]:
        return {
            ref: replace(memory, importance=self._draw(ref)) for ref, memory in self._inside.get(refs, as_of).items()
        }

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever it is of the memories inside
        return getattr(self._inside, name)

    def _draw(self, ref: Ref) -> float:
        digest = hashlib.sha256(f"{self._seed}\0{ref.id}".encode()).digest()
        return int.from_bytes(digest[:4], "big") / (_LEVELS - 1)


class RememberedLeg:
    """A leg that is asked each question once: a sweep changes what is done with hits, not the hits."""

    def __init__(self, inside: Leg) -> None:
        self._inside = inside
        self._answers: dict[tuple[Query, int], Sequence[Hit]] = {}

    @property
    def name(self) -> str:
        return self._inside.name

    @property
    def least(self) -> float:
        return self._inside.least

    def search(self, query: Query, depth: int, seconds: float) -> Sequence[Hit]:
        key = (query, depth)
        if key not in self._answers:
            self._answers[key] = self._inside.search(query, depth, seconds)
        return self._answers[key]

    def weigh(self, query: Query, ref: Ref) -> Evidence:
        return self._inside.weigh(query, ref)
