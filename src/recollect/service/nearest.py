"""The memories that have most words in common with a text: what it may repeat, or contradict."""

from typing import Final

from recollect.core.errors import LegError
from recollect.core.memory import Memory
from recollect.core.query import Query, Scope
from recollect.service.recollect import Recollect

NEAREST: Final = 20
_SECONDS: Final = 2.0


def nearest(memory: Recollect, text: str, scope: Scope | None = None, limit: int = NEAREST) -> list[Memory]:
    """Give the memories in a scope, by default the present one, that are most like a text by its words."""
    query = Query(text, scope or memory.scope(), limit=limit)
    with memory.store.reading(query):
        for leg in memory.store.legs:
            if leg.name == "lexical":
                found = [hit.ref for hit in leg.search(query, limit, _SECONDS)]
                by_ref = memory.store.memories.get(found)
                return [by_ref[ref] for ref in found if ref in by_ref]
    raise LegError("This store has no leg that finds by words, so nothing can be said to be new.")
