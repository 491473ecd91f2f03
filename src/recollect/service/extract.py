"""Memories that wait are read for their concepts, off the write path: from a queue, by an extractor, into the store.

The one place that gives a memory to an extractor, and it gives none that is sensitive. It may be killed at any moment
and run in several processes at once: what was read is kept by taking its memory out of the queue in the same
transaction.
"""

from collections.abc import Callable, Sequence
from typing import Final

from recollect.core import concepts
from recollect.core.concepts import Extraction, read_concepts
from recollect.core.memory import Memory
from recollect.core.ports import Extractor, Store
from recollect.core.sensitivity import may_leave

BATCH: Final = 200


class Rules:
    """The extractor that needs no model; it is always at hand."""

    name = f"rules {concepts.VERSION}"

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
    store.concepts.begin(extractor.name)
    kept, total = 0, None
    while not stop():
        waiting = [each for each in store.concepts.waiting(extractor.name, batch, space) if may_leave(each.memory)]
        if not waiting:
            break
        if total is None:
            total = next(each.waiting for each in store.concepts.readers() if each.name == extractor.name)
        read = extractor.extract([each.memory for each in waiting])
        kept += store.concepts.keep(extractor.name, list(zip(waiting, read, strict=True)))
        progress(kept, total)
    return kept
