"""The tools that look and change nothing."""

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Final

from mcp_types import CallToolResult

from recollect.core.memory import is_id
from recollect.core.record import parse_time
from recollect.mcp import parameters as given
from recollect.mcp.asking import FindAsker
from recollect.mcp.refusals import refusing
from recollect.mcp.results import GetResult, ListResult, RecallResult, StatsResult, WhyNotResult
from recollect.mcp.showing import Showing
from recollect.mcp.wording import answer, word_get, word_list, word_recall, word_stats, word_why_not
from recollect.service.recollect import HERE, Recollect

EVERYWHERE: Final = "*"
PAGE: Final = 20
MOST_NAMES: Final = 20
"""Categories and projects that the stats name, those with most memories first."""


class Reading:
    def __init__(self, find_asker: FindAsker) -> None:
        self._find_asker = find_asker

    @refusing
    def memory_recall(
        self,
        *,
        query: given.Words,
        limit: given.Limit | None = None,
        project: given.Project = HERE,
        sessions: given.Sessions | None = None,
        categories: given.Categories | None = None,
        before: given.Before | None = None,
        as_of: given.AsOf | None = None,
        sort: given.Order = "relevance",
        budget: given.Budget | None = None,
        exclude: given.Exclude | None = None,
        explain: given.Explain = False,
    ) -> Annotated[CallToolResult, RecallResult]:
        asker = self._find_asker()
        recollect = asker.open("read")
        asked = recollect.query(
            query,
            limit=limit,
            project=_project(project),
            sessions=sessions or (),
            categories=categories or (),
            before=before,
            as_of=_time(as_of),
            sort=sort,
            budget=budget,
            exclude=_ids(recollect, exclude),
        )
        found = asker.recall(lambda: recollect.answer(asked))
        result = Showing(recollect).recall(found, explained=explain)
        return answer(result, word_recall(result))

    @refusing
    def memory_get(self, *, id: given.Handle) -> Annotated[CallToolResult, GetResult]:  # noqa: A002 - the field's name
        asker = self._find_asker()
        recollect = asker.open("read")
        memory = recollect.get(id)
        asker.note("read", [memory])
        result = Showing(recollect).get(memory)
        return answer(result, word_get(result))

    @refusing
    def memory_list(
        self,
        *,
        limit: given.PageSize = PAGE,
        after: given.After | None = None,
        categories: given.Categories | None = None,
        project: given.Project = HERE,
    ) -> Annotated[CallToolResult, ListResult]:
        asker = self._find_asker()
        recollect = asker.open("read")
        scope = recollect.scope(project=_project(project), categories=categories or ())
        page = recollect.page(scope, limit + 1, after or None)
        asker.note("list", page[:limit])
        showing = Showing(recollect)
        result: ListResult = {"memories": [showing.listed(memory) for memory in page[:limit]]}
        if len(page) > limit:
            result["next"] = page[limit - 1].id
        return answer(result, word_list(result))

    @refusing
    def memory_why_not(
        self,
        *,
        query: given.Words,
        id: given.Handle,  # noqa: A002 - the field's name
        limit: given.Limit | None = None,
        project: given.Project = HERE,
        sessions: given.Sessions | None = None,
        categories: given.Categories | None = None,
        before: given.Before | None = None,
        as_of: given.AsOf | None = None,
        sort: given.Order = "relevance",
        budget: given.Budget | None = None,
        exclude: given.Exclude | None = None,
    ) -> Annotated[CallToolResult, WhyNotResult]:
        asker = self._find_asker()
        recollect = asker.open("read")
        asked = recollect.query(
            query,
            limit=limit,
            project=_project(project),
            sessions=sessions or (),
            categories=categories or (),
            before=before,
            as_of=_time(as_of),
            sort=sort,
            budget=budget,
            exclude=_ids(recollect, exclude),
        )
        memory = recollect.get(id)
        asker.note("why-not", [memory])
        result = Showing(recollect).why_not(memory, recollect.why_not(asked, id, agent=True))
        return answer(result, word_why_not(result))

    @refusing
    def memory_stats(self) -> Annotated[CallToolResult, StatsResult]:
        recollect = self._find_asker().open("read")
        count = next((count for count in recollect.store.count() if count.space == recollect.space), None)
        result: StatsResult = {
            "memories": count.memories if count else 0,
            "forgotten": count.forgotten if count else 0,
            "sensitive": count.sensitive if count else 0,
            "links": count.links if count else 0,
            "categories": dict(list(count.categories.items())[:MOST_NAMES]) if count else {},
            "projects": dict(list(count.projects.items())[:MOST_NAMES]) if count else {},
        }
        if recollect.project is not None:
            result["project"] = recollect.project
        return answer(result, word_stats(result))


def _ids(recollect: Recollect, handles: Iterable[str] | None) -> list[str]:
    return [handle if is_id(handle) else recollect.find(handle).id for handle in handles or ()]


def _project(project: str | None) -> str | None:
    """Read a scope's project: everywhere is no narrowing, and an empty name is one not given."""
    return None if project in {None, EVERYWHERE} else project or HERE


def _time(text: str | None) -> datetime | None:
    return parse_time(text) if text else None
