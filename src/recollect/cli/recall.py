"""`recall` and `why-not`."""

from typing import TYPE_CHECKING, Annotated, Final, cast

import typer

from recollect.cli.options import (
    AsOf,
    Before,
    Budget,
    Categories,
    Everywhere,
    Exclude,
    Id,
    Json,
    Limit,
    Project,
    Sessions,
    SortBy,
    Words,
    choose_project,
    moment,
    place,
)
from recollect.core.query import Query
from recollect.service.recall import Recall
from recollect.service.recollect import Recollect

if TYPE_CHECKING:
    from recollect.core.query import Sort

_CATCH_UP_SECONDS: Final = 1.0
"""How long a recall may be held up by memories that wait to be read, and by those that wait to be embedded."""


def recall(
    query: Words,
    *,
    project: Project = None,
    everywhere: Everywhere = False,
    sessions: Sessions = None,
    categories: Categories = None,
    before: Before = None,
    as_of: AsOf = None,
    sort: SortBy = "relevance",
    limit: Limit = None,
    budget: Budget = None,
    exclude: Exclude = None,
    explain: Annotated[bool, typer.Option("--explain", "-x", help="Show what each leg and stage did.")] = False,
    json: Json = False,
) -> None:
    """Find what is known about something, best first."""
    from recollect.cli.weigh import weigh
    from recollect.wiring import open_recollect

    with open_recollect() as memory:
        asked = _query(
            memory, query, project=project, everywhere=everywhere, sessions=sessions, categories=categories,
            before=before, as_of=as_of, sort=sort, limit=limit, budget=budget, exclude=exclude,
        )  # fmt: skip
        memory.catch_up(_CATCH_UP_SECONDS)
        answer = memory.answer(asked)
        weighed = weigh(memory, answer) if explain else None
        if json:
            from recollect.cli.as_json import from_recall, write_json

            write_json(from_recall(answer, weighed))
            return
        from recollect.cli.explain import show_explanation, show_stages
        from recollect.cli.paper import Paper
        from recollect.cli.show import show_answer

        paper = Paper()
        show_answer(
            paper,
            answer,
            memory.clock(),
            None
            if weighed is None
            else lambda result, indent: show_explanation(paper, answer, result, weighed, indent),
        )
        if weighed is not None:
            show_stages(paper, answer)
        if not (answer.results or answer.left_out):
            paper.write(_advice(memory, answer))


def why_not(
    handle: Id,
    query: Words,
    *,
    project: Project = None,
    everywhere: Everywhere = False,
    sessions: Sessions = None,
    categories: Categories = None,
    before: Before = None,
    as_of: AsOf = None,
    sort: SortBy = "relevance",
    limit: Limit = None,
    budget: Budget = None,
    exclude: Exclude = None,
    json: Json = False,
) -> None:
    """Say why a memory is not in the answer to a query."""
    from recollect.wiring import open_recollect

    with open_recollect() as memory:
        ref = memory.find(handle)
        asked = _query(
            memory, query, project=project, everywhere=everywhere, sessions=sessions, categories=categories,
            before=before, as_of=as_of, sort=sort, limit=limit, budget=budget, exclude=exclude,
        )  # fmt: skip
        memory.catch_up(_CATCH_UP_SECONDS)
        verdict = memory.why_not(asked, ref.id)
    if json:
        from dataclasses import asdict

        from recollect.cli.as_json import write_json

        write_json({"id": ref.id, **asdict(verdict)})
        return
    from recollect.cli.paper import Paper

    Paper().write(verdict.reason)


def _query(
    memory: Recollect,
    words: list[str],
    *,
    project: str | None,
    everywhere: bool,
    sessions: list[str] | None,
    categories: list[str] | None,
    before: int | None,
    as_of: str | None,
    sort: str,
    limit: int | None,
    budget: int | None,
    exclude: list[str] | None,
) -> Query:
    return memory.query(
        " ".join(words),
        limit=limit,
        project=choose_project(project, none=everywhere, flag="--everywhere"),
        sessions=sessions or (),
        categories=categories or (),
        before=place(before),
        as_of=moment(as_of),
        sort=cast("Sort", sort),
        budget=budget,
        exclude=[memory.find(each).id for each in exclude or ()],
    )


def _advice(memory: Recollect, answer: Recall) -> str:
    """Say what to try when nothing was found."""
    if not memory.page(memory.scope(project=None), 1):
        return 'Nothing is remembered yet: `recollect remember "..."` keeps the first thing.'
    if answer.query.scope.project:
        return "Try other words, or --everywhere to look in all projects."
    return "Try other words, or fewer of them: `recollect list` shows what there is."
