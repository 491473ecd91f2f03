"""`forget` and `undo`."""

from dataclasses import replace
from typing import Annotated

import typer

from recollect.cli.options import Json, Yes
from recollect.core.errors import NotFound
from recollect.core.memory import Link, Memory


def forget(
    handles: Annotated[list[str], typer.Argument(metavar="ID", help="Their ids, or the last characters of them.")],
    purge: Annotated[bool, typer.Option("--purge", help="Remove them and their history for good.")] = False,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Take memories out of every recall. `undo` brings them back, unless they were purged."""
    from recollect.wiring import open_recollect

    with open_recollect() as memory:
        # All of them are looked up first, so that one wrong id leaves everything as it was.
        chosen = list({each.id: each for each in map(memory.get, handles)}.values())
        if not purge:
            _refuse_forgotten(chosen)
        if purge and not yes:
            _ask_about(chosen)
        for each in chosen:
            if purge:
                memory.purge(each.id)
            else:
                memory.forget(each.id)
    if json:
        from recollect.cli.as_json import write_json

        write_json({"purged" if purge else "forgotten": [each.id for each in chosen]})
        return
    from recollect.cli.paper import Paper
    from recollect.cli.show import line

    paper = Paper()
    for each in chosen:
        paper.write(line(each), "Removed for good " if purge else "Forgot ", cut=True)


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


def _ask_about(chosen: list[Memory]) -> None:
    from recollect.cli.asking import ask_first
    from recollect.cli.paper import Paper
    from recollect.cli.show import line
    from recollect.cli.words import count

    paper = Paper(errors=True)
    for each in chosen:
        paper.write(line(each), cut=True)
    ask_first(f"Remove {count(len(chosen), 'memory', 'memories')} and all history for good?")
