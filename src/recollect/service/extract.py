"""Memories that wait are read for their concepts, off the write path: from a queue, by an extractor, into the store.

With `extract_llm` the only place that gives a memory to an extractor, and it gives none that is sensitive. It may be
killed at any moment and run in several processes at once: what was read is kept by taking its memory out of the queue
in the same transaction.
"""

from collections.abc import Callable, Sequence
from typing import Final

from recollect.core.concepts import RULES, Extraction, read_concepts
from recollect.core.memory import Memory
from recollect.core.ports import Concepts, Extractor, Store
from recollect.core.sensitivity import may_leave
from recollect.service.bounded import work_for

BATCH: Final = 200
SMALL_BATCH: Final = 25
"""Few enough that whoever wants to write meanwhile hardly waits: the store's lock is held while a batch is kept."""


class Rules:
    """The extractor that needs no model; it is always at hand."""

    name = RULES

    def extract(self, memories: Sequence[Memory]) -> list[Extraction]:
        return [read_concepts(memory) for memory in memories]


def extract_waiting(
    store: Store,
    extractor: Extractor,
    *,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    batch: int = BATCH,
    stop: Callable[[], bool] = lambda: False,
    space: str | None = None,
) -> int:
    """Read all that waits, in all spaces or in one, unless told to stop between two batches; say how many were kept."""
    is_current = begin(store.concepts, extractor.name, space)
    kept, total = 0, None
    while is_current and not stop():
        waiting = [each for each in store.concepts.waiting(extractor.name, batch, space) if may_leave(each.memory)]
        if not waiting:
            break
        if total is None:
            total = next(each.waiting for each in store.concepts.readers(space) if each.name == extractor.name)
        read = extractor.extract([each.memory for each in waiting])
        kept += store.concepts.keep(extractor.name, list(zip(waiting, read, strict=True)))
        progress(kept, total)
    return kept


def catch_up(store: Store, seconds: float) -> None:
    """Read what little waits before a recall, for so long; the rest stays queued."""
    if not is_read(store):
        work_for(seconds, lambda is_over: extract_waiting(store, Rules(), batch=SMALL_BATCH, stop=is_over), "reading")


def is_read(store: Store) -> bool:
    """Whether the rules have read everything."""
    return any(reader.name == Rules.name and not reader.waiting for reader in store.concepts.readers())


def begin(known: Concepts, extractor: str, space: str | None = None) -> bool:
    """Make an extractor known; say whether it is the one to read.

    What older rules read is dropped when newer ones begin. A process that was running before an upgrade leaves the
    reading to those that came after.
    """
    version = _version(extractor)
    if version is not None:
        others = [
            (other, reader.name) for reader in known.readers(space) if (other := _version(reader.name)) is not None
        ]
        if any(other > version for other, _ in others):
            return False
        for other, name in others:
            if other < version:
                known.drop(name)
    known.begin(extractor)
    return True


def _version(extractor: str) -> int | None:
    """Give which rules these are, if they are rules."""
    kind, _, number = extractor.partition(" ")
    return int(number) if kind == "rules" and number.isdecimal() else None
