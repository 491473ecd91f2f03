"""What the outside must offer: a store with its legs, vectors and concepts, an embedder, an extractor, a clock."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Literal, Protocol

from recollect.core.concepts import Extraction, MentionKind
from recollect.core.hits import Evidence, Hit, Ref, Surroundings
from recollect.core.language_model import Budgets
from recollect.core.memory import Link, Memory, Revision
from recollect.core.query import Query, Scope
from recollect.core.settings import Settings, Value
from recollect.core.spread import Tie, TieKind
from recollect.core.vectors import Vector
from recollect.values import value

Clock = Callable[[], datetime]
"""The time now, in UTC."""


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


class Embedder(Protocol):
    """Text in, vectors out. The gate (`service/gate.py`) is the only one who may hold one."""

    @property
    def model(self) -> str:
        """Which model: the name that opens it again, and that no model with other vectors has."""

    @property
    def where(self) -> Literal["local", "remote"]:
        """Whether text leaves this machine."""

    @property
    def dimension(self) -> int | None:
        """How long its vectors are, once that is known."""

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        """Embed what is kept, one vector a text, in order."""

    def embed_query(self, text: str, seconds: float) -> Vector:
        """Embed what is asked, within so many seconds."""


class Reranker(Protocol):
    """A cross-encoder: reads the query and a text together and says how well they fit."""

    def score(self, query: str, texts: Sequence[str]) -> list[float]: ...


EmbedQuery = Callable[[str, str, float], Vector]
"""Gives the vector that a model makes of a query, within so many seconds."""


@value
class VectorSet:
    """The vectors of one model. Recalls compare those of the active set and of no other."""

    model: str
    dimension: int | None
    active: bool
    vectors: int
    waiting: int


Queued = tuple[Ref, int]
"""A memory, in the state that it was queued in."""


@value
class Waiting:
    """A memory that waits for its vector, and what was said just before it in its session, oldest first."""

    memory: Memory
    before: tuple[Memory, ...]
    ticket: int
    """The change it was queued by: a later one makes a vector of this state worthless."""

    @property
    def queued(self) -> Queued:
        return Ref(self.memory.space, self.memory.id), self.ticket


class Vectors(Protocol):
    """The vector sets. A vector there is of the present text: whatever changes that removes it and queues it anew."""

    def sets(self) -> list[VectorSet]: ...

    def active(self) -> str | None:
        """Give the model whose set recalls use."""

    def begin(self, model: str) -> None:
        """Make a model's set, all memories queued for it; one that is there goes on where it stood."""

    def waiting(self, model: str, limit: int, space: str | None = None) -> list[Waiting]:
        """Give the next memories that want a vector of this model, of all spaces or of one."""

    def keep(self, model: str, made: Sequence[tuple[Waiting, bytes]]) -> int:
        """Keep vectors, each once and only of what is still so; say how many that were."""

    def count_waiting(self, spaces: Sequence[str]) -> int:
        """Count the memories of some spaces that the active set lacks."""

    def switch(self, model: str | None) -> None:
        """Make a model's set the one that recalls use; `None` for none of them."""

    def drop(self, model: str) -> None:
        """Remove a set that is not active, and its queue."""


class Extractor(Protocol):
    """Memories in, concepts out. Only `service/extract.py` may hold one, which gives it no sensitive memory."""

    @property
    def name(self) -> str:
        """Who reads: whatever reads otherwise has another name."""

    def extract(self, memories: Sequence[Memory]) -> list[Extraction]:
        """Read what each memory mentions and says, in order."""


@value
class Reader:
    """An extractor as the store knows it: what it may still use, and how much waits for it."""

    name: str
    calls: int
    tokens: int
    most_calls: int | None
    most_tokens: int | None
    waiting: int


@value
class Said:
    """A relation of a concept to another, since and until when, and the memories that state it."""

    source: str
    relation: str
    target: str
    since: datetime
    until: datetime | None
    evidence: tuple[Ref, ...]


@value
class Concept:
    """A concept with all that is known of it."""

    name: str
    aliases: tuple[str, ...]
    mentions: tuple[tuple[Ref, MentionKind], ...]
    relations: tuple[Said, ...]


@value
class Common:
    """A concept, and how many memories mention it."""

    name: str
    memories: int


class Concepts(Protocol):
    """What memories are about. A mention is of the present text: whatever changes that removes it."""

    def begin(self, extractor: str) -> None:
        """Make an extractor known, all memories queued for it; one that is known goes on where it stood."""

    def drop(self, extractor: str) -> None:
        """Forget an extractor, all that it read and its queue."""

    def readers(self, space: str | None = None) -> list[Reader]:
        """Give all extractors, and how much waits for each, in all spaces or in one."""

    def waiting(self, extractor: str, limit: int, space: str | None = None) -> list[Waiting]:
        """Give the next memories that this extractor has not read, of all spaces or of one."""

    def keep(self, extractor: str, made: Sequence[tuple[Waiting, Extraction]]) -> int:
        """Keep what was read, each once and only of what is still so; say how many memories that were."""

    def load(self, extractor: str, read: Mapping[Ref, Extraction]) -> int:
        """Keep what somebody else read in memories that are there; say how many those were."""

    def ties(
        self,
        refs: Sequence[Ref],
        kinds: Collection[TieKind],
        as_of: datetime | None = None,
        seconds: float | None = None,
    ) -> dict[Ref, list[Tie]]:
        """Give what memories share with others, but for what too many share.

        Stops by itself with `LegTimeout` when the time is over.
        """

    def knows(self, spaces: Sequence[str], names: Collection[str]) -> bool:
        """Whether any of these names is a concept in one of the spaces."""

    def find(self, space: str, name: str) -> Concept | None: ...

    def alike(self, space: str, name: str) -> list[str]:
        """Give names, folded, that lead to concepts which memories mention, and that begin as this one does."""

    def common(self, space: str, limit: int) -> list[Common]:
        """Give the concepts that most memories of a space mention, more than one at least, those with most first."""

    def alias(self, space: str, name: str, alias: str) -> None:
        """Give a concept another name; if that is a concept already, both become one."""


class Memories(Protocol):
    def add(self, memories: Sequence[Memory]) -> None:
        """Keep new memories, all or none, indexed and queued; an id that is taken is a `Conflict`."""

    def change(self, memory: Memory) -> None:
        """Replace the version before this one, which is kept; anything else in its place is a `Conflict`."""

    def load(self, histories: Sequence[Sequence[Memory]], *, dry_run: bool = False) -> list[Loaded]:
        """Take in memories with all their states, oldest first; one that conflicts with what is here is not."""

    def get(self, refs: Collection[Ref], as_of: datetime | None = None) -> dict[Ref, Memory]:
        """Give those that exist, forgotten ones included, as they are or as they were."""

    def surroundings(
        self, refs: Collection[Ref], scope: Scope, reach: int, exclude: Collection[str] = ()
    ) -> Surroundings:
        """Give what stands up to `reach` places from these in their sessions, inside the scope and not excluded."""

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
    def read(self, space: str | None = None) -> Settings:
        """Give the settings in force, for everybody or in one space, where a store lets spaces differ."""

    def set(self, name: str, value: Value | None, space: str | None = None) -> None:
        """Set a value; `None` goes back to the default."""


@value
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


@value
class Problem:
    """Something `doctor` found wrong, and what mends it."""

    what: str
    remedy: str


class Lag(Protocol):
    """How far the background work is behind."""

    @property
    def waiting(self) -> int: ...
    @property
    def seconds(self) -> float:
        """How long the oldest job has waited."""

    @property
    def failed(self) -> int: ...


@value
class Health:
    """What there is to know of a database that can be reached and has this program's schema."""

    schema: str = ""
    by_meaning: bool = False
    """Whether it can hold vectors."""


class Store(Protocol):
    @property
    def memories(self) -> Memories: ...
    @property
    def links(self) -> Links: ...
    @property
    def vectors(self) -> Vectors: ...
    @property
    def concepts(self) -> Concepts: ...
    @property
    def budgets(self) -> Budgets: ...
    @property
    def settings(self) -> SettingsKeeper: ...
    @property
    def legs(self) -> Sequence[Leg]: ...
    @property
    def asks_in_turn(self) -> bool:
        """Whether its legs share one connection, and so are asked one after the other."""

    def reading(self, query: Query) -> AbstractContextManager[None]:
        """Have what this thread reads be of one state, if the store can; what the query needs first is made before."""

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
