"""Whom the harness asks: the product in this process, or a server of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from recollect.bench.names import Names
from recollect.bench.sources import Question


class Answer(NamedTuple):
    """The ids of what was found, best first, what was left out of the answer, and how many of them no leg had found."""

    found: tuple[str, ...]
    missing: tuple[str, ...]
    entered: int | None = None


@dataclass(frozen=True, slots=True)
class Respondent:
    """Whom to ask, what the ids in the answers stand for, and how much there is to find."""

    ask: Callable[[Question], Answer]
    names: Names
    memories: int
    octets: int
