"""Memories that wait get their vectors, off the write path: from a set's queue, through the gate, back into the set.

It may be killed at any moment and run in several processes at once: a vector is kept by taking its memory out of
the queue in the same transaction, so each is kept once.
"""

from collections.abc import Callable, Sequence
from typing import Final

from recollect.core.errors import EmbedderError, TextRefused
from recollect.core.hits import Ref
from recollect.core.ports import Queued, Store, Waiting
from recollect.core.vectors import pack
from recollect.service.bounded import work_for
from recollect.service.gate import Gate, Gates
from recollect.values import replace, value

MANY: Final = 8
"""Where a model refuses as many texts and has taken none, it is not the texts."""
SMALL_BATCH: Final = 8
BATCH: Final = 64
"""Few enough that a kill costs a second or two of work, many enough that the model is kept busy."""

Progress = Callable[[int, int], None]
"""Told how many are done, and how many in all."""


@value
class Embedded:
    """What came of it: how many vectors were kept, and which memories the model refused, with its reason."""

    kept: int
    refused: tuple[tuple[Ref, str], ...] = ()


def embed_waiting(
    store: Store,
    gate: Gate,
    *,
    progress: Progress = lambda _done, _total: None,
    batch: int = BATCH,
    stop: Callable[[], bool] = lambda: False,
    refused: dict[Queued, str] | None = None,
    space: str | None = None,
) -> Embedded:
    """Embed all that waits for the gate's model, in all spaces or in one, unless told to stop between two batches.

    `refused` holds what the model refused before and is not asked again; what it refuses now is added.
    """
    kept, total = 0, None
    refused = {} if refused is None else refused
    while not stop():
        next_ones = store.vectors.waiting(gate.model, batch + len(refused), space)
        waiting = [each for each in next_ones if each.queued not in refused]
        if not waiting:
            # All that was refused and still waits is among these: what has changed since is no longer refused.
            still = {each.queued for each in next_ones}
            for gone in refused.keys() - still:
                del refused[gone]
            break
        total = _count_waiting(store, gate.model, space) if total is None else total
        made = _embed(gate, waiting, refused)
        if made:
            kept += store.vectors.keep(gate.model, made)
        elif not kept and len(waiting) >= MANY:
            reasons = [refused.pop(each.queued) for each in waiting]
            raise EmbedderError(reasons[0])
        progress(kept, total)
    return Embedded(kept, tuple((ref, reason) for (ref, _), reason in refused.items()))


def build(store: Store, gate: Gate, *, progress: Progress = lambda _done, _total: None) -> Embedded:
    """Make the set of a model beside the active one, then switch to it in one step."""
    store.vectors.begin(gate.model)
    embedded = embed_waiting(store, gate, progress=progress)
    store.vectors.switch(gate.model)
    return embedded


def catch_up(store: Store, gates: Gates, seconds: float) -> None:
    """Load the active model, then embed what little waits before a recall, for so long; the rest stays queued.

    Whatever is wrong with the model, the recall's own dense leg meets it too, and says it.
    """
    model = store.vectors.active()
    if model is None:
        return
    try:
        gate = gates.of(model)
    except EmbedderError:
        return
    work_for(seconds, lambda is_over: embed_waiting(store, gate, batch=SMALL_BATCH, stop=is_over), "catching up")


def _embed(gate: Gate, waiting: Sequence[Waiting], refused: dict[Queued, str]) -> list[tuple[Waiting, bytes]]:
    """Embed some; what the model refuses is looked for by halves, so that one bad text does not hold up the rest."""
    try:
        return [(each, pack(vector)) for each, vector in zip(waiting, gate.embed(waiting), strict=True)]
    except TextRefused as error:
        if len(waiting) > 1:
            half = len(waiting) // 2
            return [*_embed(gate, waiting[:half], refused), *_embed(gate, waiting[half:], refused)]
        (only,) = waiting
        if only.before:
            # It may be what was said before it that is refused.
            return _embed(gate, [replace(only, before=())], refused)
        refused[only.queued] = str(error)
        return []


def _count_waiting(store: Store, model: str, space: str | None) -> int:
    if space is not None:
        return store.vectors.count_waiting((space,))
    return next((each.waiting for each in store.vectors.sets() if each.model == model), 0)
