"""The owner's word on what was learned: kept as it is or changed, in place of another memory, in one, or not at all.

A candidate becomes the memory with its own id, so that keeping it again after a crash keeps it once. It is settled
last: until then it waits.
"""

from collections.abc import Callable
from typing import Final

from recollect.core.errors import Conflict, NotFound
from recollect.core.learning import LEARNED
from recollect.core.memory import Memory
from recollect.core.review import Pending, Queue
from recollect.core.statements import read_statement
from recollect.service.nearest import nearest
from recollect.service.recollect import Recollect
from recollect.values import value

_LEAST_ALIKE: Final = 0.4
"""The part of their words that two texts share from which one may be meant to go into the other."""


@value
class Settled:
    """What was done with a candidate, and how to take it back."""

    pending: Pending
    what: str
    memory: Memory | None
    take_back: Callable[[], None]


def keep(memory: Recollect, pending: Pending, content: str | None = None) -> Memory:
    """Make a memory of what was learned, in its own words or in others."""
    return memory.remember(
        pending.content if content is None else content,
        category=pending.category,
        tags=(LEARNED,),
        importance=pending.importance,
        project=pending.project,
        session=pending.session,
        id=pending.id,
    )


def accept(memory: Recollect, queue: Queue, pending: Pending, content: str | None = None) -> Settled:
    _refuse_settled(queue, pending)
    kept = keep(memory, pending, content)

    def take_back() -> None:
        # Its id must be free for when it is accepted after all.
        memory.purge(kept.id)
        queue.reopen(pending)

    queue.settle(pending, "accepted")
    return Settled(pending, "accepted", kept, take_back)


def supersede(memory: Recollect, queue: Queue, pending: Pending, old: Memory) -> Settled:
    """Keep a candidate, and have it stand in place of a memory from now on."""
    accepted = accept(memory, queue, pending)
    memory.link(pending.id, "supersedes", old.id)
    return Settled(pending, "superseded", accepted.memory, accepted.take_back)


def merge(memory: Recollect, queue: Queue, pending: Pending, into: Memory, content: str) -> Settled:
    """Put what was learned into a memory that is there; what that was stays in its history."""
    _refuse_settled(queue, pending)
    merged = memory.edit(into.id, version=into.version, content=content)

    def take_back() -> None:
        if merged.version != into.version:
            memory.undo(into.id)
        queue.reopen(pending)

    queue.settle(pending, "accepted")
    return Settled(pending, "merged", merged, take_back)


def reject(queue: Queue, pending: Pending) -> Settled:
    _refuse_settled(queue, pending)
    queue.settle(pending, "rejected")
    return Settled(pending, "rejected", None, lambda: queue.reopen(pending))


def still_waits(queue: Queue, pending: Pending) -> bool:
    """Whether nobody else has settled it, in another terminal."""
    return any(each.id == pending.id for each in queue.waiting(pending.space))


def _refuse_settled(queue: Queue, pending: Pending) -> None:
    if not still_waits(queue, pending):
        raise Conflict(f"{pending.short_id} was settled meanwhile, by another review: nothing was changed.")


def find_replaced(memory: Recollect, pending: Pending) -> Memory | None:
    """Give the memory that a candidate seems to contradict, if it is still there."""
    if pending.supersedes is None:
        return None
    try:
        found = memory.get(pending.supersedes)
    except NotFound:
        return None
    return None if found.deleted_at else found


def find_similar(memory: Recollect, pending: Pending) -> Memory | None:
    """Give the memory that a candidate may be meant to go into: the most alike, if it is alike enough."""
    ours = read_statement(pending.content).terms
    best: tuple[float, Memory] | None = None
    for each in nearest(memory, pending.content, memory.scope(project=pending.project)):
        theirs = read_statement(each.content).terms
        alike = len(ours & theirs) / max(1, min(len(ours), len(theirs)))
        if alike >= _LEAST_ALIKE and (best is None or alike > best[0]):
            best = (alike, each)
    return best[1] if best else None
