"""`forget` and `undo`."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from recollect.cli.options import Everywhere, Json, Project, Yes, choose_project, moment_since
from recollect.core.errors import NotFound
from recollect.core.learning import LEARNED
from recollect.core.memory import Link, Memory
from recollect.core.query import LARGEST_PAGE, Scope
from recollect.values import replace

if TYPE_CHECKING:
    from recollect.service.recollect import Recollect


def forget(
    handles: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID", help="Their ids, or the last characters of them.", show_default=False),
    ] = None,
    *,
    since: Annotated[
        str | None,
        typer.Option("--since", metavar="TIME", help="All remembered since then: 2h, 3d, 2026-05-31 or with a time."),
    ] = None,
    learned: Annotated[bool, typer.Option("--learned", help="With --since: only what was learned unasked.")] = False,
    project: Project = None,
    everywhere: Everywhere = False,
    purge: Annotated[bool, typer.Option("--purge", help="Remove them and their history for good.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would go, and change nothing.")] = False,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Take memories out of every recall. `undo` brings them back, unless they were purged."""
    from recollect.wiring import open_recollect

    if (since is None) == (not handles):
        raise typer.BadParameter("Give the ids of memories, or --since a time; not both.")
    if since is None and (learned or everywhere or project is not None):
        raise typer.BadParameter("--learned, --project and --everywhere say what --since looks at.")
    with open_recollect() as memory:
        if since is None:
            # All of them are looked up first, so that one wrong id leaves everything as it was.
            chosen = list({each.id: each for each in map(memory.get, handles or ())}.values())
        else:
            scope = memory.scope(project=choose_project(project, none=everywhere, flag="--everywhere"))
            chosen = _made_since(memory, scope, moment_since(since, memory.clock()), learned=learned)
        if not purge:
            _refuse_forgotten(chosen)
        if not dry_run and chosen and not yes and (purge or since is not None):
            _ask_about(chosen, purge=purge)
        for each in () if dry_run else chosen:
            if purge:
                memory.purge(each.id)
            else:
                memory.forget(each.id)
    _say(chosen, "purged" if purge else "forgotten", dry_run=dry_run, as_json=json)


def undo(
    handle: Annotated[
        str | None,
        typer.Argument(metavar="ID", help="Its id, or the last characters of it. Default: what changed last."),
    ] = None,
    json: Json = False,
) -> None:
    """Take back the last change of a memory, or the last change of all. Twice brings it back."""
    from recollect.wiring import open_recollect

    with open_recollect() as memory:
        changed = memory.undo_last() if handle is None else memory.undo(handle)
    if json:
        from recollect.cli.as_json import write_json
        from recollect.core.record import to_link_record, to_record

        write_json(to_link_record(changed) if isinstance(changed, Link) else to_record(changed))
        return
    from recollect.cli.paper import Paper
    from recollect.cli.show import line

    if isinstance(changed, Link):
        done = "Linked again" if changed.ended_at is None else "Ended"
        Paper().write(f"{done}: {changed.source[-8:]} {changed.kind} {changed.target[-8:]}")
        return
    done = "Forgot " if changed.deleted_at else "Brought back "
    Paper().write(line(replace(changed, deleted_at=None)), done, cut=True)


def _refuse_forgotten(chosen: list[Memory]) -> None:
    for each in chosen:
        if each.deleted_at:
            raise NotFound(f"{each.id} is forgotten already: `recollect undo {each.short_id}` brings it back.")


def _made_since(memory: "Recollect", scope: Scope, since: datetime, *, learned: bool) -> list[Memory]:
    """Give what was remembered since then, of one project or of all; what belongs to none is not the project's."""
    return [
        each
        for each in memory.page(scope, LARGEST_PAGE)
        if each.created_at >= since
        and (LEARNED in each.tags or not learned)
        and (not scope.project or each.project == scope.project)
    ]


def _ask_about(chosen: list[Memory], *, purge: bool) -> None:
    from recollect.cli.asking import ask_first
    from recollect.cli.paper import Paper
    from recollect.cli.show import line
    from recollect.cli.words import count

    paper = Paper(errors=True)
    for each in chosen:
        paper.write(line(each), cut=True)
    many = count(len(chosen), "memory", "memories")
    if purge:
        ask_first(f"Remove {many} and all history for good?")
    else:
        ask_first(f"Forget {many}? `recollect undo ID` brings each back.", "Nothing was forgotten.")


def _say(chosen: list[Memory], done: str, *, dry_run: bool, as_json: bool) -> None:
    if as_json:
        from recollect.cli.as_json import write_json

        write_json({f"would_be_{done}" if dry_run else done: [each.id for each in chosen]})
        return
    from recollect.cli.paper import Paper
    from recollect.cli.show import line

    paper = Paper()
    words = {"forgotten": ("Would forget ", "Forgot "), "purged": ("Would remove for good ", "Removed for good ")}
    for each in chosen:
        paper.write(line(each), words[done][not dry_run], cut=True)
    if not chosen:
        paper.write("Nothing was remembered since then.")
