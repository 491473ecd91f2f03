"""What the outside must offer: a store with its legs, and a clock."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from recollect.core.hits import Hit, Ref
from recollect.core.memory import Link, Memory, Revision
from recollect.core.query import Query, Scope
from recollect.core.settings import Settings, Value

Clock = Callable[[], datetime]
"""The time now, in UTC."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why a leg scores one memory as it does: a sentence, and what each part of the query adds."""

    summary: str
    parts: tuple[tuple[str, float], ...] = ()


Loaded = Literal["added", "updated", "unchanged", "conflict"]
"""What became of a memory that was loaded with its past."""


class Leg(Protocol):
    """One way of finding candidates."""

    @property
    def name(self) -> str: ...

    @property
    def least(self) -> float:
        """The lowest score it could give."""

    def search(self, query: Query, depth: int, seconds: float) -> Sequence[Hit]:
        """Find the best hits in the query's scope, what it excludes left out, best first.

        Stops by itself with `LegTimeout` when the time is over.
        """

    def weigh(self, query: Query, ref: Ref) -> Evidence:
        """Say what speaks for one memory, found or not."""


class Memories(Protocol):
    def add(self, memories: Sequence[Memory]) -> None:
        """Keep new memories, all or none, indexed and queued; an id that is taken is a `Conflict`."""

    def change(self, memory: Memory) -> None:
        """Replace the version before this one, which is kept; anything else in its place is a `Conflict`."""

    def load(self, histories: Sequence[Sequence[Memory]], *, dry_run: bool = False) -> list[Loaded]:
        """Take in memories with all their states, oldest first; one that conflicts with what is here is not."""

    def get(self, refs: Collection[Ref], as_of: datetime | None = None) -> dict[Ref, Memory]:
        """Give those that exist, forgotten ones included, as they are or as they were."""

    def resolve(self, spaces: Sequence[str], handle: str, limit: int = 10) -> list[Memory]:
        """Find memories, forgotten ones included, by their id or its last characters."""

    def page(self, scope: Scope, limit: int, after: Ref | None = None) -> list[Memory]:
        """List a scope's memories, newest first, from behind `after` on."""

    def history(self, ref: Ref) -> list[Revision]:
        """Give every state a memory was in, oldest first, the present one last."""

    def walk(self, spaces: Sequence[str] = ()) -> Iterator[Ref]:
        """Give every memory, forgotten ones included, oldest id first; no spaces means all."""

    def purge(self, ref: Ref) -> None:
        """Remove a memory, its past, its terms and its links for good."""


class Links(Protocol):
    def add(self, link: Link, *, dry_run: bool = False) -> bool:
        """Keep a link, or carry over its end; `False` if it is there already."""

    def end(self, link: Link, at: datetime) -> bool:
        """End a link that holds; it stays visible to `as_of`. `False` if there is none."""

    def among(self, refs: Collection[Ref], as_of: datetime | None = None) -> list[Link]:
        """Give the links that touch these memories, and the whole chains of what supersedes them."""

    def all_of(self, ref: Ref) -> list[Link]:
        """Give every link from this memory, ended ones included."""


class SettingsKeeper(Protocol):
    def read(self) -> Settings: ...

    def set(self, name: str, value: Value | None) -> None:
        """Set a value; `None` goes back to the default."""


@dataclass(frozen=True, slots=True)
class Count:
    """How much a space holds."""

    space: str
    memories: int
    forgotten: int
    sensitive: int
    revisions: int
    links: int
    waiting: int
    """Memories that wait in the outbox for work off the write path."""
    categories: Mapping[str, int]
    projects: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something `doctor` found wrong, and what mends it."""

    what: str
    remedy: str


class Store(Protocol):
    @property
    def memories(self) -> Memories: ...
    @property
    def links(self) -> Links: ...
    @property
    def settings(self) -> SettingsKeeper: ...
    @property
    def legs(self) -> Sequence[Leg]: ...

    def count(self) -> list[Count]: ...

    def last_change(self, space: str) -> Memory | Link | None:
        """Give what changed last of all in a space, forgotten and ended ones included."""

    def size(self) -> int:
        """Bytes on disk."""

    def examine(self, progress: Callable[[int, int], None]) -> list[Problem]:
        """Check that the index and the counts agree with the rows."""

    def mend(self) -> None:
        """Build the index and the counts anew from the rows."""

    def close(self) -> None: ...
