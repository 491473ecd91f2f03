"""Whom the harness asks: the product in this process, or a server of it."""

from collections.abc import Callable
from dataclasses import dataclass

from recollect.bench.names import Names
from recollect.bench.sources import Question

Answer = tuple[tuple[str, ...], tuple[str, ...]]
"""The ids of what was found, best first, and what was left out of the answer."""


@dataclass(frozen=True, slots=True)
class Respondent:
    """Whom to ask, what the ids in the answers stand for, and how much there is to find."""

    ask: Callable[[Question], Answer]
    names: Names
    memories: int
    octets: int
