"""The hook at a session's start: a short briefing on the project, and a clean slate after a compaction."""

from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, cast

from recollect.config import read_config
from recollect.core.errors import StoreError
from recollect.core.moments import to_micros
from recollect.hooks.clients import Event
from recollect.hooks.giving import give, held_by, scope_of
from recollect.journal import given
from recollect.journal.file import Journal
from recollect.service.brief import brief
from recollect.stores.sqlite.glance import Glance

if TYPE_CHECKING:
    from recollect.core.ports import Store
    from recollect.hooks.giving import Write

PATIENCE_SECONDS: Final = 0.2
_ANEW: Final = frozenset({"clear", "compact"})
"""Starts after which the agent sees nothing of what it was given before."""


def run(event: Event, began: float, write: "Write") -> None:
    config = read_config()
    journal = Journal(config.journal, PATIENCE_SECONDS)
    with suppress(StoreError):
        given.prune(journal, to_micros(datetime.now(UTC)))
        if event.source in _ANEW:
            given.release(journal, event.session)
        elif event.session and given.has_spoken(journal, event.session, event.hook):
            # It goes on, or another client runs the same hooks for the same session.
            return
    store = Glance(config.store, {}, patience=PATIENCE_SECONDS)
    scope = scope_of(config, event.folder)
    found = None
    if store.settings.read(config.space).whole("prompt.memories"):
        held = held_by(journal, event.session, store, config.space)
        found = brief(cast("Store", store), scope, held, datetime.now(UTC))
    give(found, event, journal, began, write)
    store.close()
