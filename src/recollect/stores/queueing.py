"""What has to be embedded and read anew after a change: the rule that every store's queue follows.

A memory is embedded together with what was said just before it, so a write also reaches those that follow it.
"""

from typing import NamedTuple

from recollect.core.context import TURNS_BEFORE
from recollect.core.memory import Memory


class Following(NamedTuple):
    """Where those stand that are read after a memory: its session, and the places behind it."""

    project: str
    session: str
    after: int
    until: int


def as_embedded(memory: Memory) -> tuple[object, ...]:
    """Give all that a memory's vector depends on."""
    return memory.content, memory.sensitive, memory.deleted_at is None, memory.project, memory.session, memory.place


def as_read(memory: Memory) -> tuple[object, ...]:
    """Give all that a memory's concepts depend on."""
    return memory.content, memory.tags, memory.keywords, memory.sensitive, memory.deleted_at is None


def following(memory: Memory) -> Following | None:
    if memory.session is None or memory.place is None:
        return None
    return Following(memory.project or "", memory.session, memory.place, memory.place + TURNS_BEFORE)
