"""`review` in a terminal: one candidate after the other, one key each."""

from collections.abc import Callable

from recollect.cli.choosing import QUIT, choose_key
from recollect.cli.editor import edit_text
from recollect.cli.paper import DIM, NOTICE, Paper, plain
from recollect.cli.review import NOTHING
from recollect.cli.show_review import show_beside, show_pending, show_settled
from recollect.cli.words import count
from recollect.core.errors import RecollectError
from recollect.core.memory import Memory
from recollect.core.review import Pending, Queue
from recollect.service.recollect import Recollect
from recollect.service.review import Settled, accept, find_replaced, find_similar, merge, reject, still_waits, supersede


def walk(memory: Recollect, queue: Queue) -> None:
    """Show what waits, and do with each what the key says; `u` goes back to the one before."""
    paper = Paper()
    waiting = queue.waiting(memory.space)
    if not waiting:
        paper.write(NOTHING)
        return
    done: list[tuple[int, Settled]] = []
    place = 0
    while place < len(waiting):
        if not still_waits(queue, waiting[place]):
            place += 1
            continue
        replaced, similar = _show(paper, memory, waiting[place], f"{place + 1} of {len(waiting)}")
        key = choose_key(paper, _choices(replaced, similar, can_undo=bool(done)))
        if key == QUIT:
            break
        if key == "u":
            place, settled = done.pop()
            settled.take_back()
            continue
        deed = _deeds(memory, queue, waiting[place], replaced, similar).get(key)
        if deed is not None:
            try:
                settled = deed()
            except RecollectError as error:
                paper.write(plain(error, NOTICE))
                continue
            show_settled(paper, settled)
            done.append((place, settled))
        place += 1
    left = len(queue.waiting(memory.space))
    paper.write()
    paper.write(plain(f"{count(left, 'still waits', 'still wait')}." if left else NOTHING, DIM))


def _show(paper: Paper, memory: Recollect, pending: Pending, place: str) -> tuple[Memory | None, Memory | None]:
    """Show a candidate and what it contradicts, or else what it is like."""
    now = memory.clock()
    show_pending(paper, pending, place, now)
    replaced = find_replaced(memory, pending)
    similar = None if replaced else find_similar(memory, pending)
    if replaced:
        show_beside(paper, "seems to contradict", replaced, now)
    elif similar:
        show_beside(paper, "is like", similar, now)
    return replaced, similar


def _choices(replaced: Memory | None, similar: Memory | None, *, can_undo: bool) -> dict[str, str]:
    choices = {"a": "accept", "e": "edit"}
    if replaced:
        choices["s"] = "supersede"
    if replaced or similar:
        choices["m"] = "merge"
    choices |= {"r": "reject", "n": "skip"}
    if can_undo:
        choices["u"] = "undo"
    return {**choices, QUIT: "quit"}


def _deeds(
    memory: Recollect, queue: Queue, pending: Pending, replaced: Memory | None, similar: Memory | None
) -> dict[str, Callable[[], Settled]]:
    deeds: dict[str, Callable[[], Settled]] = {
        "a": lambda: accept(memory, queue, pending),
        "e": lambda: edit_text(pending.content, lambda text: accept(memory, queue, pending, text)),
        "r": lambda: reject(queue, pending),
    }
    if replaced:
        deeds["s"] = lambda: supersede(memory, queue, pending, replaced)
    if other := replaced or similar:
        both = f"{other.content}\n\n{pending.content}"
        deeds["m"] = lambda: edit_text(both, lambda text: merge(memory, queue, pending, other, text))
    return deeds
