"""The memories that have most words in common with a text: what it may repeat, or contradict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from recollect.core.errors import LegError
from recollect.core.query import Query, Scope

if TYPE_CHECKING:
    from recollect.core.memory import Memory
    from recollect.core.ports import Store
    from recollect.service.recollect import Recollect

NEAREST: Final = 20
_SECONDS: Final = 2.0


def nearest(memory: Recollect, text: str, scope: Scope | None = None, limit: int = NEAREST) -> list[Memory]:
    """Give the memories in a scope, by default the present one, that are most like a text by its words."""
    query = Query(text, scope or memory.scope(), limit=limit)
    with memory.store.reading(query):
        return find_by_words(memory.store, query, limit, _SECONDS)


def find_by_words(store: Store, query: Query, limit: int, seconds: float) -> list[Memory]:
    """Give what the words leg alone finds, best first."""
    words = next((leg for leg in store.legs if leg.name == "lexical"), None)
    if words is None:
        raise LegError("This store has no leg that finds by words, so nothing can be said to be new.")
    found = [hit.ref for hit in words.search(query, limit, seconds)]
    by_ref = store.memories.get(found)
    return [by_ref[ref] for ref in found if ref in by_ref]
