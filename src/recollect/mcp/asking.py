"""Who calls a tool, as the tools see them: what they may reach, and who hears what they were shown.

On a laptop that is its owner. On a server it is whoever holds the key that came with the request.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Protocol

from recollect.core.access import Deed
from recollect.core.memory import Memory
from recollect.service.recall import Recall
from recollect.service.recollect import Recollect

UNDO: Final = "recollect undo {id}"
"""The command that its owner brings a memory back with."""


class Asker(Protocol):
    def open(self, deed: Deed) -> Recollect:
        """Give the memory that they may read or write in."""

    def recall(self, answer: Callable[[], Recall]) -> Recall:
        """Have a recall of theirs answered, and hear of it."""

    def note(self, deed: str, memories: Iterable[Memory]) -> None:
        """Hear what else they were shown."""


FindAsker = Callable[[], Asker]
"""Tells who calls, while a tool runs."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The one person whose laptop it is: everything is theirs, and nobody else asks who read it."""

    recollect: Recollect

    def open(self, deed: Deed) -> Recollect:  # noqa: ARG002 - the owner may do anything
        return self.recollect

    def recall(self, answer: Callable[[], Recall]) -> Recall:
        return answer()

    def note(self, deed: str, memories: Iterable[Memory]) -> None:
        pass
