"""What was learned and waits for its owner's word: the value, and what must keep it."""

from datetime import datetime
from typing import Literal, Protocol

from recollect.values import value

State = Literal["waiting", "accepted", "rejected"]


@value
class Pending:
    """A candidate in the queue: what may become a memory, where it comes from, and what it seems to contradict."""

    id: str
    at: datetime
    space: str
    content: str
    category: str
    importance: float
    rule: str
    project: str | None = None
    session: str | None = None
    supersedes: str | None = None
    """The id of the memory that it seems to replace: a proposal, which nobody follows unasked."""

    @property
    def short_id(self) -> str:
        return self.id[-8:]


class Queue(Protocol):
    """Keeps what waits, and of all that ever did a digest of its words: nothing is learned twice."""

    def add(self, pending: Pending, state: State = "waiting") -> bool:
        """Keep a candidate; `False` if its words were learned before, whatever became of them."""

    def has_learned(self, space: str, content: str) -> bool:
        """Whether these words were ever learned."""

    def waiting(self, space: str) -> list[Pending]:
        """Give what waits, the oldest first."""

    def find(self, space: str, handle: str) -> Pending:
        """Give the one that waits with this id, or whose id ends so."""

    def settle(self, pending: Pending, state: State) -> None:
        """Say what became of a candidate; its text is then gone."""

    def reopen(self, pending: Pending) -> None:
        """Have one wait again that was settled."""
