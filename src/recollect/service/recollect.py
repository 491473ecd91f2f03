"""Recollect as one person on one machine uses it: a store, a space, and the project they stand in.

The command line, the MCP server and Python programs all work through this class.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Self, TypedDict, Unpack

from recollect.core.errors import Ambiguous, NotFound
from recollect.core.hits import Evidence, Ref
from recollect.core.memory import Link, Memory, Revision, make_id
from recollect.core.ports import Clock, Reranker, Store
from recollect.core.query import LARGEST_PAGE, Query, Scope, Sort, check_limit, check_scope
from recollect.core.sensitivity import may_leave, redact
from recollect.core.settings import Settings, parse_setting, setting
from recollect.core.trace import WhyNot, ways_to
from recollect.service import recall as recalling
from recollect.service import remember as remembering
from recollect.service.gate import Gates
from recollect.service.recall import Recall
from recollect.service.ways import Came, find_ways
from recollect.values import field, replace, value

if TYPE_CHECKING:
    from recollect.service.graph import Graph
    from recollect.service.transfer import Imported

HERE: Final = "."
"""The project one stands in, if it is one; otherwise everything of one's own."""
_RANDOM_BITS: Final = 74
_SHORTEST_HANDLE: Final = 4


class How(TypedDict, total=False):
    """How to answer a question: all that a query has besides its words."""

    limit: int | None
    project: str | None
    sessions: Iterable[str]
    categories: Iterable[str]
    before: int | None
    as_of: datetime | None
    sort: Sort
    budget: int | None
    exclude: Iterable[str]


@value
class Recollect:
    store: Store
    clock: Clock
    random: Callable[[int], int]
    """Gives so many random bits."""
    space: str
    project: str | None = None
    """The project one stands in."""
    gates: Gates = field(default_factory=Gates)
    """The ways to the embedding models."""
    reranker: Reranker | None = None
    others: tuple[str, ...] = ()
    """Further spaces to look in, besides the one that is written to."""
    reading_seconds: float = 0.0
    """How long `recall` may read concepts of what waits, where nobody else does: in a program of one's own."""
    settle: Callable[[], None] = lambda: None
    """Called once something of the project one stands in is remembered: it then keeps its name."""

    @property
    def spaces(self) -> tuple[str, ...]:
        return (self.space, *self.others)

    def remember(
        self,
        content: str,
        *,
        category: str = "facts",
        tags: Iterable[str] = (),
        keywords: Iterable[str] = (),
        importance: float = 0.5,
        project: str | None = HERE,
        session: str | None = None,
        place: int | None = None,
        sensitive: bool = False,
        id: str | None = None,  # noqa: A002 - the field's name
        at: datetime | None = None,
    ) -> Memory:
        """Keep something worth knowing. When this returns, it is on disk and can be recalled by its words."""
        now = self.clock() if at is None else at
        memory = Memory(
            id=self.make_id(now) if id is None else id,
            space=self.space,
            content=content,
            created_at=now,
            updated_at=now,
            category=category,
            tags=tuple(tags),
            keywords=tuple(keywords),
            importance=importance,
            project=self._project(project),
            session=session,
            place=place,
            sensitive=sensitive,
        )
        return self.keep(memory)[0]

    def keep(self, memory: Memory) -> tuple[Memory, bool]:
        """Keep a memory that was made elsewhere; say whether it is new. The same again gives what is there."""
        kept, is_new = remembering.remember(self.store, memory)
        if is_new and kept.project is not None and kept.project == self.project:
            self.settle()
        return kept, is_new

    def query(self, text: str, **how: Unpack[How]) -> Query:
        """Put a question, to be answered by `answer` or looked into by `why_not`."""
        return Query(
            text,
            scope=self.scope(
                project=how.get("project", HERE),
                sessions=how.get("sessions", ()),
                categories=how.get("categories", ()),
                before=how.get("before"),
                as_of=how.get("as_of"),
            ),
            limit=how.get("limit"),
            sort=how.get("sort", "relevance"),
            budget=how.get("budget"),
            exclude=frozenset(how.get("exclude", ())),
        )

    def recall(self, text: str, **how: Unpack[How]) -> Recall:
        """Find what is known about something, best first."""
        query = self.query(text, **how)
        if self.reading_seconds:
            from recollect.service.extract import catch_up

            catch_up(self.store, self.reading_seconds)
        return self.answer(query)

    def answer(self, query: Query) -> Recall:
        return recalling.recall(self.store, query, self.reranker)

    def why_not(self, query: Query, handle: str, *, agent: bool = False) -> WhyNot:
        """Say why a memory is not in the answer to a query, to its owner or to an agent."""
        see = self.hide_ways if agent else None
        return recalling.explain_missing(self.store, query, self.find(handle), self.reranker, see)

    def evidence(self, answer: Recall, memory: Memory) -> dict[str, Evidence]:
        """Give what each leg says about one memory of an answer."""
        return recalling.weigh_evidence(self.store, answer, Ref(memory.space, memory.id))

    def ways(self, answer: Recall, ref: Ref) -> tuple[Came, ...]:
        """Give how score came to one memory of an answer, from which others."""
        return find_ways(self.store, answer, ref)

    def hide_ways(self, answer: Recall, ref: Ref) -> Recall:
        """Give an answer with those ways to one memory that an agent may know: a way tells what both its ends say."""
        as_of = answer.query.scope.as_of
        read = self.store.memories.get({ref, *ways_to(answer.trace, ref)}, as_of)
        seen = {each for each, memory in read.items() if may_leave(self.redact(memory, as_of))}
        ways = tuple(way for way in answer.trace.ways.get(ref, ()) if {ref, way.source} <= seen)
        return replace(answer, trace=replace(answer.trace, ways={ref: ways}))

    def graph(self, handle: str, as_of: datetime | None = None) -> "Graph":
        """Give what ties a memory to others."""
        from recollect.service.graph import draw_graph

        return draw_graph(self.store, self.get(handle, as_of), as_of)

    def catch_up(self, seconds: float) -> None:
        """Read and embed what little waits, for so long each: what was just remembered is then found in every way."""
        from recollect.service import extract

        extract.catch_up(self.store, seconds)
        if self.store.vectors.active() is not None:
            from recollect.service import embed

            embed.catch_up(self.store, self.gates, seconds)

    def scope(
        self,
        *,
        project: str | None = HERE,
        sessions: Iterable[str] = (),
        categories: Iterable[str] = (),
        before: int | None = None,
        as_of: datetime | None = None,
    ) -> Scope:
        return Scope(self.spaces, self._project(project), frozenset(sessions), frozenset(categories), before, as_of)

    def find(self, handle: str) -> Ref:
        """Give the memory with this id, or whose id ends so."""
        if len(handle) < _SHORTEST_HANDLE:
            raise NotFound(f"{handle!r} is too short for an id: give at least its last {_SHORTEST_HANDLE} characters.")
        found = self.store.memories.resolve(self.spaces, handle.strip().lower())
        if not found:
            raise NotFound(f"There is no memory {handle}: `recollect list` shows what there is.")
        if len(found) > 1:
            listed = ", ".join(memory.id for memory in found)
            raise Ambiguous(f"{handle} fits several memories: {listed}. Give more of the id.")
        return Ref(found[0].space, found[0].id)

    def get(self, handle: str, as_of: datetime | None = None) -> Memory:
        """Give a memory, forgotten or not, as it is or as it was."""
        ref = self.find(handle)
        memory = self.store.memories.get([ref], as_of).get(ref)
        if memory is None:
            raise NotFound(f"{ref.id} was not known yet at that time.")
        return memory

    def page(self, scope: Scope, limit: int, after: str | None = None) -> list[Memory]:
        """List a scope's memories, newest first, from behind the memory `after` on."""
        check_scope(scope)
        check_limit(limit, LARGEST_PAGE)
        return self.store.memories.page(scope, limit, None if after is None else self.find(after))

    def edit(self, handle: str, *, version: int | None = None, **changes: Any) -> Memory:  # noqa: ANN401
        """Change some fields of a memory; what it was before stays in its history."""
        if "project" in changes:
            changes["project"] = self._project(changes["project"])
        return remembering.edit(self.store, self.clock, self.find(handle), changes, version)

    def forget(self, handle: str) -> Memory:
        return remembering.forget(self.store, self.clock, self.find(handle))

    def undo(self, handle: str) -> Memory:
        """Take back the last change of a memory."""
        return remembering.undo(self.store, self.clock, self.find(handle))

    def restore(self, handle: str) -> Memory:
        """Bring back a memory that was forgotten."""
        return remembering.restore(self.store, self.clock, self.find(handle))

    def undo_last(self) -> Memory | Link:
        """Take back the last change of all, to a memory or to a link."""
        last = self.store.last_change(self.space)
        if last is None:
            raise NotFound("There is nothing to undo: nothing was ever remembered here.")
        if isinstance(last, Link):
            return remembering.undo_link(self.store, self.clock, last)
        return remembering.undo(self.store, self.clock, Ref(last.space, last.id))

    def purge(self, handle: str) -> Ref:
        """Remove a memory and its whole history for good."""
        ref = self.find(handle)
        self.store.memories.purge(ref)
        return ref

    def history(self, handle: str) -> list[Revision]:
        return self.store.memories.history(self.find(handle))

    def link(self, source: str, kind: str, target: str) -> Link:
        return remembering.link(self.store, self.clock, self.find(source), kind, self.find(target))

    def unlink(self, source: str, kind: str, target: str) -> Link:
        return remembering.unlink(self.store, self.clock, self.find(source), kind, self.find(target))

    def links(self, memories: Collection[Memory], as_of: datetime | None = None) -> list[Link]:
        return self.store.links.among([Ref(memory.space, memory.id) for memory in memories], as_of)

    def redact(self, memory: Memory, as_of: datetime | None = None) -> Memory:
        """Give a memory as an agent may see it. What was sensitive at any time is hidden in all of its past."""
        if as_of is not None and may_leave(memory):
            past = self.store.memories.history(Ref(memory.space, memory.id))
            memory = replace(memory, sensitive=not all(may_leave(revision.memory) for revision in past))
        return redact(memory)

    def export_lines(self) -> Iterator[str]:
        from recollect.service import transfer

        return transfer.export_lines(self.store)

    def import_lines(
        self, lines: Iterable[str], *, dry_run: bool = False, progress: Callable[[int], None] = lambda _: None
    ) -> "Imported":
        from recollect.service import transfer

        return transfer.import_lines(self.store, lines, dry_run=dry_run, progress=progress)

    def settings(self) -> Settings:
        return self.store.settings.read(self.space)

    def set(self, name: str, text: str | None) -> None:
        """Change a setting of the store; `None` goes back to its default."""
        setting(name)
        self.store.settings.set(name, None if text is None else parse_setting(name, text))

    def make_id(self, now: datetime) -> str:
        return make_id(int(now.timestamp() * 1000), self.random(_RANDOM_BITS))

    def close(self) -> None:
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _project(self, project: str | None) -> str | None:
        return self.project if project == HERE else project
