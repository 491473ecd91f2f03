"""A store kept in a dictionary, and legs that answer what they were told to: for the stages of a recall.

Nothing here imitates a database: it offers what a recall asks of its ports, and no more.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import cast

from recollect.core.hits import Hit, Ref, merge_hits
from recollect.core.memory import Link, Memory
from recollect.core.ports import Count, Evidence, Leg, Links, Memories, Problem, SettingsKeeper
from recollect.core.query import Query
from recollect.core.settings import Settings, Value


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


@dataclass
class _Linked:
    links: Sequence[Link]

    def among(self, refs: Collection[Ref], as_of: datetime | None = None) -> list[Link]:  # noqa: ARG002
        return list(self.links)


@dataclass
class _Set:
    values: dict[str, Value]

    def read(self) -> Settings:
        return Settings(self.values)

    def set(self, name: str, value: Value | None) -> None:
        raise NotImplementedError


class DictStore:
    """Offers what a recall needs: given memories, links, settings and legs."""

    def __init__(
        self,
        memories: Sequence[Memory],
        legs: Sequence[Leg],
        *,
        links: Sequence[Link] = (),
        settings: Mapping[str, Value] | None = None,
    ) -> None:
        self.kept = {Ref(memory.space, memory.id): memory for memory in memories}
        self.memories = cast("Memories", _Kept(self.kept))
        self.links = cast("Links", _Linked(links))
        self.settings: SettingsKeeper = _Set(dict(settings or {}))
        self.legs = legs

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
