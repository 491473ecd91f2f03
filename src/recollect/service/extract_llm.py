"""Memories that wait are read by a language model, off the write path: from its queue, by calls within its budget.

With `extract` one of the two places that give a memory to an extractor; this one, too, gives none that is sensitive. A
call has memories of one space only. What was answered for a text is kept and not asked again, and what somebody asks
about now is left to them. Whatever goes wrong, a memory stays queued until what was read of it is kept.
"""

from collections.abc import Callable, Sequence
from typing import Final

from recollect.core.concepts import Extraction
from recollect.core.errors import ExtractorError
from recollect.core.hits import Ref
from recollect.core.language_model import LanguageModel
from recollect.core.ports import Queued, Store, Waiting
from recollect.core.sensitivity import may_leave
from recollect.service.resolve import Resolver
from recollect.values import value

BATCH: Final = 8
"""Texts that are claimed and asked about at once: a call's worth."""
LOOK: Final = 128
"""How far into the queue to look for texts that nobody else asks about: enough for sixteen who ask at once."""


@value
class Extracted:
    """What came of it: how many memories were read, and which the model could not, with the reason."""

    kept: int
    unread: tuple[tuple[Ref, str], ...] = ()


def extract_by_model(
    store: Store,
    model: LanguageModel,
    *,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    stop: Callable[[], bool] = lambda: False,
    unread: dict[Queued, str] | None = None,
    space: str | None = None,
    tie_break: bool = False,
) -> Extracted:
    """Have all read that waits, in all spaces or in one, unless told to stop between two calls.

    `unread` holds what the model could not read before and is not asked again; what it cannot read now is added. With
    `tie_break` it is also asked, within the same budget, about names that may be another way to write a known one.
    """
    store.concepts.begin(model.name)
    unread = {} if unread is None else unread
    unread_before = len(unread)
    resolvers: dict[str, Resolver] = {}
    kept, total = 0, None
    while not stop():
        waiting = _next(store, model.name, unread, space)
        if not waiting:
            break
        if total is None:
            total = next(each.waiting for each in store.concepts.readers(space) if each.name == model.name)
        of = waiting[0].memory.space
        answers = _answers(store, model, of, waiting, unread)
        if answers is None:
            # Others ask about all of these.
            break
        if not answers and not kept and len(unread) - unread_before >= BATCH:
            # It is not the texts, if the model reads none of so many.
            reasons = [unread.pop(each) for each in list(unread)[unread_before:]]
            raise ExtractorError(reasons[0])
        resolver = resolvers.setdefault(of, Resolver(store.concepts, of, model.is_same if tie_break else None))
        made = [
            (each, resolver.resolve(answers[each.memory.content])) for each in waiting if each.memory.content in answers
        ]
        kept += store.concepts.keep(model.name, made)
        progress(kept, total)
    return Extracted(kept, tuple((ref, reason) for (ref, _), reason in unread.items()))


def _next(store: Store, name: str, unread: dict[Queued, str], space: str | None) -> list[Waiting]:
    """Give what waits next and may be sent, all of one space."""
    waiting = [each for each in store.concepts.waiting(name, LOOK + len(unread), space) if may_leave(each.memory)]
    asked = [each for each in waiting if each.queued not in unread]
    if not asked:
        # All that could not be read and still waits is among these: what has changed since may be read again.
        for gone in unread.keys() - {each.queued for each in waiting}:
            del unread[gone]
    return [each for each in asked if each.memory.space == asked[0].memory.space]


def _answers(
    store: Store, model: LanguageModel, space: str, waiting: Sequence[Waiting], unread: dict[Queued, str]
) -> dict[str, Extraction] | None:
    """Give what the model says of some of these texts, from before or, if it never said, by asking now."""
    texts = list(dict.fromkeys(each.memory.content for each in waiting))
    if known := store.budgets.recalled(model.name, space, texts):
        return known
    mine = _claim(store, model.name, space, texts)
    if not mine:
        return None
    answers: dict[str, Extraction] = {}
    try:
        for text, read in zip(mine, model.read(mine), strict=True):
            if isinstance(read, Extraction):
                answers[text] = read
            else:
                unread |= {each.queued: read.reason for each in waiting if each.memory.content == text}
        store.budgets.remember(model.name, space, answers)
    finally:
        store.budgets.release(model.name, space, mine)
    return answers


def _claim(store: Store, name: str, space: str, texts: Sequence[str]) -> list[str]:
    """Claim the first texts that nobody else asks about, a call's worth at most."""
    for start in range(0, len(texts), BATCH):
        batch = texts[start : start + BATCH]
        claimed = store.budgets.claim(name, space, batch)
        if claimed:
            return [text for text in batch if text in claimed]
    return []
