"""What the hooks that give something have in common: what was given before, and keeping what is given now."""

import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from recollect.core.errors import StoreError
from recollect.core.hits import Ref
from recollect.core.moments import to_micros
from recollect.hooks.clients import Event
from recollect.journal import given
from recollect.journal.file import Journal

if TYPE_CHECKING:
    from recollect.service.inject import Injection


def held_by(journal: Journal, session: str) -> frozenset[str]:
    try:
        return given.held(journal, session)
    except StoreError:
        # Better to say a thing twice than to be silent because of a damaged journal.
        return frozenset()


def note_given(journal: Journal, event: Event, found: "Injection | None", began: float) -> None:
    """Keep what was given. A journal that cannot be written costs a repetition, no more."""
    refs = [Ref(memory.space, memory.id) for memory in found.memories] if found else []
    with suppress(StoreError):
        given.note(
            journal,
            event.session,
            event.hook,
            to_micros(datetime.now(UTC)),
            refs,
            tokens=found.tokens if found else 0,
            milliseconds=(time.perf_counter() - began) * 1000,
        )
        journal.close()
