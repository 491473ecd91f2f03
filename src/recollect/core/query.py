"""What is asked of a recall: the words, where to look, how much to bring back."""

from datetime import datetime
from typing import Final, Literal

from recollect.core.errors import BadQuery
from recollect.core.memory import LARGEST_PLACE, Memory
from recollect.values import field, value

Sort = Literal["relevance", "importance", "recency"]
SORTS: Final[tuple[Sort, ...]] = ("relevance", "importance", "recency")

DEFAULT_LIMIT: Final = 10
LARGEST_LIMIT: Final = 1000
LARGEST_PAGE: Final = (1 << 31) - 1
"""A list is not ranked, so it may be as long as the store."""


@value
class Scope:
    """What a recall looks at. Every part narrows; an empty part does not.

    `project` looks at that project and at what belongs to none, which holds everywhere. `before` admits only
    memories whose place in their session is lower, and so none without a place.
    `as_of` answers with what was believed at that moment.
    """

    spaces: tuple[str, ...]
    project: str | None = None
    sessions: frozenset[str] = frozenset()
    categories: frozenset[str] = frozenset()
    before: int | None = None
    as_of: datetime | None = None

    @property
    def narrows(self) -> bool:
        """Whether anything inside a space is left out."""
        return bool(self.project or self.sessions or self.categories) or self.before is not None

    def admits(self, memory: Memory) -> bool:
        """Whether a memory, as it is or as it was then, lies inside: the rule that stores apply in SQL."""
        return (
            memory.space in self.spaces
            and memory.deleted_at is None
            and (not self.project or memory.project in {None, self.project})
            and (not self.sessions or memory.session in self.sessions)
            and (not self.categories or memory.category in self.categories)
            and (self.before is None or (memory.place is not None and memory.place < self.before))
        )


@value
class Query:
    text: str
    scope: Scope
    limit: int | None = DEFAULT_LIMIT
    """How many memories to bring at most; `None` for as many as the setting says."""
    sort: Sort = "relevance"
    budget: int | None = None
    """Most tokens the answer may take, whole memories only."""
    exclude: frozenset[str] = field(default_factory=frozenset)
    """Ids of what the prompt already holds."""


def check(query: Query) -> None:
    """Refuse what cannot be asked."""
    check_scope(query.scope)
    if not query.text.strip():
        raise BadQuery("Ask for something: the query is empty.")
    if query.limit is not None:
        check_limit(query.limit, LARGEST_LIMIT)
    if query.sort not in SORTS:
        raise BadQuery(f"Sort by {', '.join(SORTS)}; {query.sort!r} is none of them.")
    if query.budget is not None and query.budget < 1:
        raise BadQuery(f"The budget is a number of tokens above 0, not {query.budget}.")


def check_scope(scope: Scope) -> None:
    if not scope.spaces:
        raise BadQuery("There is nowhere to look: name at least one space.")
    names = (*scope.spaces, scope.project or "", *scope.sessions, *scope.categories)
    if any("\ud800" <= character <= "\udfff" for character in "".join(names)):
        raise BadQuery("A space, project, session or category has half of a surrogate pair in it: that is not text.")
    if scope.as_of is not None and scope.as_of.tzinfo is None:
        raise BadQuery("`as_of` is a time without a zone: say which zone, or give it in UTC.")
    if scope.before is not None and not 0 <= scope.before <= LARGEST_PLACE:
        raise BadQuery(f"`before` is a place in a session, from 0 to {LARGEST_PLACE:,}, not {scope.before}.")


def check_limit(limit: int, most: int) -> None:
    if not 1 <= limit <= most:
        raise BadQuery(f"The limit is a whole number from 1 to {most:,}, not {limit}.")
