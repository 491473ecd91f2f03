"""The prompt hook: a prompt comes in, what the agent should know with it goes out, within a time budget.

Words are searched in this process, by the product's own recall over SQLite. Meaning is asked of a running `recollect
mcp`, if one answers in time: to load a model here would take a hundred times as long as all the rest.
"""

import os
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, cast

from recollect.config import read_config
from recollect.core.query import Query
from recollect.hooks.clients import Event
from recollect.hooks.giving import give, held_by, scope_of
from recollect.journal.file import Journal
from recollect.service.inject import HURRIED, Injection, inject, read_prompt
from recollect.stores.sqlite.glance import Glance

if TYPE_CHECKING:
    from recollect.config import Config
    from recollect.core.ports import Leg, Store
    from recollect.hooks.giving import Write

PATIENCE_SECONDS: Final = 0.03
"""How long a file that another process holds is waited for."""
RESERVED_SECONDS: Final = 0.03
"""What is left after the legs for everything else."""


def run(event: Event, began: float, seconds: float, write: "Write") -> None:
    config = read_config()
    end = began + seconds - RESERVED_SECONDS
    journal = Journal(config.journal, PATIENCE_SECONDS)
    store = Glance(config.store, HURRIED, patience=PATIENCE_SECONDS)
    settings = store.settings.read(config.space)
    memories = settings.whole("prompt.memories")
    if not memories:
        return
    query = read_prompt(
        event.prompt,
        scope_of(config, event.folder),
        memories=memories,
        tokens=settings.whole("prompt.tokens"),
        held=held_by(journal, event.session, store, config.space),
    )
    found: Injection | None = None
    if query is not None:
        store.leave_out_after(max(0.001, end - time.perf_counter()))
        store.ask_besides(_ask_resident(config, query, int(HURRIED["depth"]), end - time.perf_counter()))
        found = inject(cast("Store", store), query, datetime.now(UTC))
    give(found, event, journal, began, write)
    # Last: whoever is the last to close a store writes back what a process that was killed left beside it.
    store.close()


def _ask_resident(config: "Config", query: Query, depth: int, seconds: float) -> "Leg | None":
    if not os.path.exists(config.resident):
        return None
    from recollect.resident.leg import ask_resident

    return ask_resident(config.resident, query, depth, seconds)
