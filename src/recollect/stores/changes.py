"""What is known here, and what is brought: the rules by which every store tells what is new of it."""

from collections.abc import Collection, Sequence
from typing import Literal

from recollect.core.memory import Link, Memory
from recollect.core.moments import to_micros
from recollect.core.ports import Loaded

Span = tuple[int, int | None]
"""Since when a link holds, and until when."""


def missing_states(here: Sequence[Memory], states: Sequence[Memory]) -> tuple[Loaded, Sequence[Memory]]:
    """Compare a memory's states with those here: one side must be the beginning of the other."""
    if not here:
        return "added", states
    common = min(len(here), len(states))
    if list(here[:common]) != list(states[:common]):
        return "conflict", ()
    missing = states[len(here) :]
    return ("updated" if missing else "unchanged"), missing


def span_of(link: Link) -> Span:
    return to_micros(link.created_at), None if link.ended_at is None else to_micros(link.ended_at)


def news_of(span: Span, known: Collection[Span]) -> Literal["begins", "ends"] | None:
    """Say what a link brings to those like it: an import brings ended ones too, and the end of one that holds here."""
    since, until = span
    if until is not None and (since, None) in known:
        return "ends"
    if any(begin == since or (end is None and until is None) for begin, end in known):
        return None
    return "begins"


def later_of(memory: tuple[int, Memory] | None, link: tuple[int, Link] | None) -> Memory | Link | None:
    """Give what has the higher change number. Where there is a link there is a memory."""
    if memory is None or link is None:
        return memory and memory[1]
    return memory[1] if memory[0] > link[0] else link[1]
