"""`review`: what was learned without being asked, and what becomes of it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Final

import typer

from recollect.cli.options import Json

if TYPE_CHECKING:
    from recollect.core.review import Pending, Queue
    from recollect.service.recollect import Recollect
    from recollect.service.review import Settled

NOTHING: Final = "Nothing waits for review."


def review(
    *,
    listed: Annotated[bool, typer.Option("--list", help="Show what waits, and decide nothing.")] = False,
    accepted: Annotated[
        list[str] | None, typer.Option("--accept", metavar="ID", help="Keep this one. Repeatable.")
    ] = None,
    superseding: Annotated[
        list[str] | None,
        typer.Option("--supersede", metavar="ID", help="Keep this one in place of what it contradicts. Repeatable."),
    ] = None,
    rejected: Annotated[
        list[str] | None, typer.Option("--reject", metavar="ID", help="Never ask about this one again. Repeatable.")
    ] = None,
    accept_all: Annotated[
        bool, typer.Option("--accept-all", help="Keep all but what seems to contradict a memory.")
    ] = False,
    json: Json = False,
) -> None:
    """Go through what was learned from conversations: a key each to accept, edit, merge or reject it."""
    chosen = {"accept": accepted or [], "supersede": superseding or [], "reject": rejected or []}
    with _open() as (memory, queue):
        if accept_all or any(chosen.values()):
            _report(*_settle(memory, queue, chosen, accept_all=accept_all), as_json=json)
        elif listed or json:
            _list(memory, queue, as_json=json)
        else:
            from recollect.cli.choosing import is_at_terminal
            from recollect.cli.review_walk import walk

            if not is_at_terminal():
                raise typer.BadParameter(
                    "This goes through a list with you and needs a terminal. --list shows what waits; --accept, "
                    "--supersede and --reject with its id, or --accept-all, settle it."
                )
            walk(memory, queue)


@contextmanager
def _open() -> "Iterator[tuple[Recollect, Queue]]":
    from recollect.config import read_config
    from recollect.journal.candidates import JournalQueue
    from recollect.journal.file import Journal
    from recollect.wiring import open_recollect

    config = read_config()
    with Journal(config.journal) as journal, open_recollect(config) as memory:
        yield memory, JournalQueue(journal)


def _list(memory: "Recollect", queue: "Queue", *, as_json: bool) -> None:
    from recollect.cli.show_review import from_pending, show_waiting

    waiting = queue.waiting(memory.space)
    if as_json:
        from recollect.cli.as_json import write_json

        write_json({"waiting": [from_pending(each) for each in waiting]})
        return
    from recollect.cli.paper import Paper

    paper = Paper()
    if waiting:
        show_waiting(paper, waiting, memory.clock())
    else:
        paper.write(NOTHING)


def _settle(
    memory: "Recollect", queue: "Queue", chosen: Mapping[str, Sequence[str]], *, accept_all: bool
) -> "tuple[list[Settled], int]":
    """Do what the options say, once all of them are sure to mean something; say how much is left to look at."""
    deeds: dict[str, Callable[[], Settled]] = {}
    for what, handles in chosen.items():
        for handle in handles:
            pending = queue.find(memory.space, handle)
            if pending.id in deeds:
                raise typer.BadParameter(f"{pending.short_id} is named twice: say one thing about it.")
            deeds[pending.id] = _deed(what, memory, queue, pending)
    left = 0
    for pending in queue.waiting(memory.space) if accept_all else ():
        if pending.supersedes:
            left += pending.id not in deeds
        else:
            deeds.setdefault(pending.id, _deed("accept", memory, queue, pending))
    return [deed() for deed in deeds.values()], left


def _deed(what: str, memory: "Recollect", queue: "Queue", pending: "Pending") -> "Callable[[], Settled]":
    from recollect.service.review import accept, find_replaced, reject, supersede

    if what == "reject":
        return lambda: reject(queue, pending)
    if what == "accept":
        return lambda: accept(memory, queue, pending)
    replaced = find_replaced(memory, pending)
    if replaced is None:
        raise typer.BadParameter(f"{pending.short_id} contradicts no memory that is there: --accept keeps it.")
    return lambda: supersede(memory, queue, pending, replaced)


def _report(settled: "Sequence[Settled]", left: int, *, as_json: bool) -> None:
    if as_json:
        from recollect.cli.as_json import write_json

        write_json(
            {
                "kept": [each.memory.id for each in settled if each.memory],
                "rejected": [each.pending.id for each in settled if not each.memory],
                "left": left,
            }
        )
        return
    from recollect.cli.paper import NOTICE, Paper, plain
    from recollect.cli.show_review import show_settled
    from recollect.cli.words import count

    paper = Paper()
    for each in settled:
        show_settled(paper, each)
    if left:
        contrary = count(left, "seems to contradict a memory and waits", "seem to contradict memories and wait")
        paper.write(plain(f"{contrary}: `recollect review` shows both.", NOTICE))
    elif not settled:
        paper.write(NOTHING)
