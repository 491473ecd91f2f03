"""`list`, `show` and `history`: what there is, without asking for anything."""

from typing import Annotated

import typer

from recollect.cli.options import (
    AsOf,
    Before,
    Categories,
    Everywhere,
    Id,
    Json,
    Project,
    Sessions,
    choose_project,
    moment,
    place,
)
from recollect.core.memory import Link, Memory

_PAGE = 20
_LARGEST_PAGE = 1_000_000


def list_memories(
    *,
    project: Project = None,
    everywhere: Everywhere = False,
    sessions: Sessions = None,
    categories: Categories = None,
    before: Before = None,
    as_of: AsOf = None,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="Most memories.")] = _PAGE,
    after: Annotated[str | None, typer.Option("--after", metavar="ID", help="Go on behind this memory.")] = None,
    json: Json = False,
) -> None:
    """List memories, newest first, a line each."""
    from recollect.wiring import open_recollect

    with open_recollect() as memory:
        scope = memory.scope(
            project=choose_project(project, none=everywhere, flag="--everywhere"),
            sessions=sessions or (),
            categories=categories or (),
            before=place(before),
            as_of=moment(as_of),
        )
        limit = min(limit, _LARGEST_PAGE)
        # One more than asked for tells whether there are more.
        found = memory.page(scope, limit + 1, after)
        page, more = found[:limit], found[limit:]
        now = memory.clock()
        is_empty = not page and not memory.page(memory.scope(project=None), 1)
    if json:
        from recollect.cli.as_json import write_json
        from recollect.core.record import to_record
        from recollect.core.sensitivity import redact

        write_json({"memories": [to_record(redact(each)) for each in page], "next": page[-1].id if more else None})
        return
    from recollect.cli.paper import DIM, Paper, plain
    from recollect.cli.show import show_list
    from recollect.cli.words import where

    paper = Paper()
    if page:
        show_list(paper, page, now)
    elif is_empty:
        paper.write('Nothing is remembered yet: `recollect remember "..."` keeps the first thing.')
    else:
        paper.write(f"Nothing {'more ' if after else ''}{where(scope)}.")
    if more and paper.is_terminal:
        paper.write(plain(f"\n--after {page[-1].short_id} shows more.", DIM))


def show(handle: Id, as_of: AsOf = None, json: Json = False) -> None:
    """Show a memory whole, with its links; a forgotten one too."""
    from recollect.wiring import open_recollect

    with open_recollect() as memory:
        shown = memory.get(handle, moment(as_of))
        links = [
            (link, memory.get(_other_end(link, shown)))
            for link in memory.links([shown], moment(as_of))
            if shown.id in (link.source, link.target)
        ]
        now = memory.clock()
    from recollect.core.links import read_link

    ends = [(read_link(link.kind, outgoing=link.source == shown.id), link, other) for link, other in links]
    if json:
        from recollect.cli.as_json import pointer, write_json
        from recollect.core.record import format_time, to_record

        write_json(
            {
                **to_record(shown),
                "links": [
                    {**pointer(how, other), "created_at": format_time(link.created_at)} for how, link, other in ends
                ],
            }
        )
        return
    from recollect.cli.paper import Paper
    from recollect.cli.show import show_memory

    show_memory(Paper(), shown, now, [(how, other) for how, _, other in ends])


def history(handle: Id, json: Json = False) -> None:
    """Show every state a memory was in, oldest first."""
    from recollect.wiring import open_recollect

    with open_recollect() as memory:
        states = memory.history(handle)
    if json:
        from recollect.cli.as_json import from_history, write_json

        write_json(from_history(states))
        return
    from recollect.cli.paper import Paper
    from recollect.cli.show import show_history

    show_history(Paper(), states)


def _other_end(link: Link, memory: Memory) -> str:
    return link.target if link.source == memory.id else link.source
