"""The stop hook: an agent has answered, and what was said since the last time is learned from.

It also keeps which of the memories that the session was given the agent named. It prints nothing: for most clients
that would start another turn.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from recollect.config import Config, read_config
from recollect.core.citing import find_cited
from recollect.core.hits import Ref
from recollect.core.learning import Turn
from recollect.core.moments import to_micros
from recollect.hooks.clients import Event
from recollect.journal.file import Journal
from recollect.journal.given import given_to, use
from recollect.values import replace

if TYPE_CHECKING:
    from recollect.core.learning import Learner
    from recollect.service.learn import Learned
    from recollect.service.recollect import Recollect


def run(event: Event) -> None:
    if not event.again:
        learn_from(event, read_config())


def learn_from(event: Event, config: Config) -> "Learned | None":
    """Learn from what a session's transcript holds that was not read yet; nothing if there is none."""
    from recollect.hooks.transcript import read_transcript
    from recollect.journal.transcripts import keep_position, position_in
    from recollect.wiring import open_recollect

    if not event.transcript:
        return None
    config = replace(config, folder=event.folder or config.folder)
    with Journal(config.journal) as journal, open_recollect(config) as memory:
        reading = read_transcript(event.transcript, position_in(journal, event.transcript))
        now = to_micros(memory.clock())
        given = given_to(journal, event.session)
        if cited := find_cited(reading.turns, [ref.id for ref in given]):
            use(journal, cited, now)
        learned = _learn(memory, journal, config, reading.turns, session=event.session, given=given)
        # Only now: what a hook that was killed had not learned yet is read again.
        keep_position(journal, event.transcript, reading.position, now)
        return learned


def _learn(
    memory: "Recollect", journal: Journal, config: Config, turns: Sequence[Turn], *, session: str, given: Sequence[Ref]
) -> "Learned | None":
    from recollect.journal.candidates import JournalQueue
    from recollect.secrets.detect import find_secrets
    from recollect.service.learn import learn

    learner = None
    if memory.settings().choice("learn-by") == "llm":
        learner = _open_learner(memory, config)
        if learner is None:
            return None
    queue = JournalQueue(journal)
    return learn(memory, queue, turns, find_secrets, session=session, given=given, learner=learner)


def _open_learner(memory: "Recollect", config: Config) -> "Learner | None":
    """Open the model that is to read conversations; without one nothing is learned, and nobody is told of it here."""
    from recollect.core.errors import ExtractorError
    from recollect.wiring import open_learner

    try:
        return open_learner(memory.store.budgets, config)
    except ExtractorError:
        return None
