"""What was said in a conversation -> what is new in it -> the review queue, or memories, by the owner's choice.

Nothing is learned in which a secret is found, or that is known, waits, or was learned before, whatever became of it.
What seems to contradict a memory names it, and waits for its owner in any case: nothing is superseded in silence.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final

from recollect.core.errors import ExtractorError
from recollect.core.hits import Ref
from recollect.core.learning import (
    MOST_FOR_MODEL,
    Candidate,
    Learner,
    Turn,
    is_not_to_be_kept,
    last_turns,
    learn_from_turns,
)
from recollect.core.memory import Memory
from recollect.core.prose import split_sentences
from recollect.core.review import Pending, Queue
from recollect.core.statements import Statement, adds_nothing, contradicts, read_statement
from recollect.service.current import leave_superseded
from recollect.service.nearest import nearest
from recollect.service.recollect import Recollect
from recollect.service.review import keep
from recollect.values import value

FindSecrets = Callable[[str], Collection[str]]
"""Gives the kinds of secrets in a text."""

_MODEL_SECONDS: Final = 8.0


@value
class Learned:
    """What came of a conversation."""

    waiting: tuple[Pending, ...] = ()
    kept: tuple[Memory, ...] = ()
    secret: int = 0
    """What was left alone because there is a secret in it."""
    known: int = 0
    """What was known, or learned before."""


def learn(
    memory: Recollect,
    queue: Queue,
    turns: Sequence[Turn],
    find_secrets: FindSecrets,
    *,
    session: str | None = None,
    given: Sequence[Ref] = (),
    learner: Learner | None = None,
) -> Learned:
    """Learn from turns. `given` is what the session was given, `learner` the model that reads if one is to."""
    how = memory.settings().choice("learn")
    if how == "off":
        return Learned()
    candidates = _by_model(memory, learner, turns, find_secrets) if learner else learn_from_turns(turns)
    told = _standing(memory, list(memory.store.memories.get(given).values())) if given else []
    waiting = [read_statement(each.content) for each in queue.waiting(memory.space)]
    longest = memory.settings().whole("length-limit")
    pending: list[Pending] = []
    kept: list[Memory] = []
    secret = known = 0
    for candidate in candidates:
        if find_secrets(candidate.content) or find_secrets(candidate.context):
            secret += 1
            continue
        statement = read_statement(candidate.content)
        near = [*told, *_standing(memory, nearest(memory, candidate.content))]
        is_known = any(adds_nothing(statement, each.statement) for each in near) or any(
            adds_nothing(statement, each) for each in waiting
        )
        if is_known or len(candidate.content) > longest or queue.has_learned(memory.space, candidate.content):
            known += 1
            continue
        replaced = next((each.memory for each in near if each.is_contradicted_by(statement)), None)
        made = _pending(memory, candidate, session, replaced)
        if how == "directly" and replaced is None:
            kept.append(keep(memory, made))
            queue.add(made, "accepted")
        elif queue.add(made):
            pending.append(made)
            waiting.append(statement)
    return Learned(tuple(pending), tuple(kept), secret, known)


class _Known:
    """A memory as it is compared: what it says as a whole, and each of its sentences."""

    __slots__ = ("memory", "statement")

    def __init__(self, memory: Memory) -> None:
        self.memory: Final = memory
        self.statement: Final[Statement] = read_statement(memory.content)

    def is_contradicted_by(self, statement: Statement) -> bool:
        parts = (part for line in self.memory.content.splitlines() for part in split_sentences(line))
        return any(contradicts(statement, each) for each in (self.statement, *map(read_statement, parts)))


def _standing(memory: Recollect, memories: Sequence[Memory]) -> list[_Known]:
    """Give what is known by these: who repeats what is superseded goes back to it, and says something new."""
    return [_Known(each) for each in leave_superseded(memory.store, memory.scope(), memories)]


def _pending(memory: Recollect, candidate: Candidate, session: str | None, replaced: Memory | None) -> Pending:
    now = memory.clock()
    return Pending(
        id=memory.make_id(now),
        at=now,
        space=memory.space,
        content=candidate.content,
        category=candidate.category,
        importance=candidate.importance,
        rule=candidate.rule,
        project=memory.project,
        session=session or None,
        supersedes=replaced.id if replaced and replaced.space == memory.space else None,
    )


def _by_model(memory: Recollect, learner: Learner, turns: Sequence[Turn], find_secrets: FindSecrets) -> list[Candidate]:
    """Have a model read what may leave; one that may not or cannot answer has learned nothing."""
    # What it is not given anyway needs no looking through, which takes its time.
    may_leave = [turn for turn in last_turns(turns, MOST_FOR_MODEL) if not _is_private(memory, turn, find_secrets)]
    if not any(turn.role == "user" for turn in may_leave):
        return []
    try:
        return learner.learn(may_leave, _MODEL_SECONDS)
    except ExtractorError:
        return []


def _is_private(memory: Recollect, turn: Turn, find_secrets: FindSecrets) -> bool:
    """Whether a turn is not to be kept, holds a secret, or repeats what a sensitive memory says."""
    if is_not_to_be_kept(turn) or find_secrets(turn.text):
        return True
    return any(adds_nothing(read_statement(each.content), _said(turn)) for each in _sensitive_near(memory, turn))


def _said(turn: Turn) -> Statement:
    said = read_statement(turn.text)
    # Whether a whole turn is negated means nothing.
    return Statement((), said.terms | said.rejected, frozenset(), negated=False)


def _sensitive_near(memory: Recollect, turn: Turn) -> Iterator[Memory]:
    for each in nearest(memory, turn.text):
        if each.sensitive:
            yield each
