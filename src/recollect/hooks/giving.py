"""What the hooks that give something have in common: where they look, what was given before, giving, and keeping it."""

import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from recollect.core.errors import StoreError
from recollect.core.hits import Ref
from recollect.core.moments import to_micros
from recollect.core.query import Scope
from recollect.hooks.clients import Event, give_context, may_drop_context
from recollect.journal import given
from recollect.journal.file import Journal
from recollect.project import project_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from recollect.config import Config
    from recollect.service.inject import Injection
    from recollect.stores.sqlite.glance import Glance

    Write = Callable[[dict[str, object]], None]


_NOWHERE: Final = "/"
"""What no project is called: a folder of that name belongs to none."""


def scope_of(config: "Config", folder: str) -> Scope:
    """Give what a hook may look at: the project of a client's folder, and what belongs to none.

    A recall that stands in no project looks at all of them, since somebody asked and can tell them apart. What comes
    unasked must not mix them: where no project is known, only what holds everywhere is given.
    """
    return Scope((config.space,), project_of(config.project, folder) or _NOWHERE)


def held_by(journal: Journal, session: str, store: "Glance", space: str) -> frozenset[str]:
    """Give what a session has in sight as it is; what was changed since, in another session say, it has not.

    Of a session without a name nobody knows, and no other's is taken for its own.
    """
    if not session:
        return frozenset()
    try:
        held = given.held(journal, session)
    except StoreError:
        # Better to say a thing twice than to be silent because of a damaged journal.
        return frozenset()
    now = store.memories.get([Ref(space, identity) for identity in held]) if held else {}
    return frozenset(held) - {ref.id for ref, each in now.items() if to_micros(each.updated_at) > held[ref.id]}


def give(found: "Injection | None", event: Event, journal: Journal, began: float, write: "Write") -> None:
    """Write what was found, where the client takes it, and then keep that it was given.

    In this order: time may be over in between, and what is given twice does less harm than what never is. Nor does a
    journal that cannot be written cost more than a repetition.
    """
    answer = None if found is None else give_context(event, found.text)
    if answer is None:
        found = None
    else:
        write(answer)
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
            in_sight=not may_drop_context(event),
        )
        journal.close()
