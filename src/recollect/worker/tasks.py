"""What a worker does for a space: `embed` what waits there, `extract` its concepts, `index` its vectors once they
are many.

A task that cannot be finished raises `Unfinished`, which says when to try again. Its message is kept and shown, so it
has ids and what is wrong with a model, and never text of a memory.
"""

import logging
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from recollect.core.errors import EmbedderError, RecollectError, StoreAway
from recollect.core.hits import Ref
from recollect.core.ports import Queued, Store
from recollect.service.embed import embed_waiting
from recollect.service.extract import Rules, begin, extract_waiting
from recollect.service.gate import Gates
from recollect.stores.postgres import hnsw, jobs
from recollect.stores.postgres.database import Database

EMBED: Final = "embed"
EXTRACT: Final = "extract"
INDEX: Final = "index"
MOST_NAMED: Final = 10
"""Memories that a message names."""

_log = logging.getLogger(__name__)

Again = Literal["now", "later", "never"]


class Unfinished(Exception):
    def __init__(self, reason: str, again: Again, *, moved: bool = False) -> None:
        super().__init__(reason)
        self.again = again
        self.moved = moved
        """Whether some of the work was done, so that patience starts anew."""


@dataclass
class Workshop:
    """What the tasks of a process work with."""

    database: Database
    """The operator's."""
    store: Store
    gates: Gates
    large: int = hnsw.LARGE
    stopping: threading.Event = field(default_factory=threading.Event)
    """Set when the process is to end: what is left stays queued."""
    _refused: dict[tuple[str, int], dict[Queued, str]] = field(default_factory=dict)
    """What each model refused in each space: it is not sent again as long as it is the same."""

    def refused(self, model: str, space: int, *, again: bool) -> dict[Queued, str]:
        if again:
            self._refused.pop((model, space), None)
        return self._refused.setdefault((model, space), {})


def run_task(workshop: Workshop, job: int, task: Callable[[], None]) -> None:
    """Do a task, and keep the reason if it could not be finished. The job stands for the failed ones before it."""
    try:
        task()
    except Unfinished as unfinished:
        trouble = unfinished
    except StoreAway:
        # There is nobody to tell it to.
        raise
    except Exception as error:  # noqa: BLE001 - a mistake of ours, too, is to be seen in the queue
        trouble = Unfinished(_reason(error), "later")
        if not isinstance(error, RecollectError):
            _log.exception("job %s failed", job)
    else:
        with workshop.database.write() as connection:
            jobs.remove_older(connection, job)
        return
    with workshop.database.write() as connection:
        jobs.note_error(connection, job, str(trouble))
        jobs.remove_older(connection, job)
        if trouble.moved:
            jobs.forget_attempts(connection, job)
    # Without its cause: what a provider answered may repeat the text that it was sent.
    raise trouble from None


def embed(workshop: Workshop, space: int, *, again: bool = False) -> None:
    """Embed what waits in a space, for each model that it waits for; the trouble of one does not keep the next.

    `again` asks anew for what a model refused before.
    """
    with workshop.database.read() as connection:
        name = jobs.name_of_space(connection, space)
        models = jobs.models_waited_for(connection, space)
    if name is None:
        return
    troubles = [trouble for model in models if (trouble := _embed_for(workshop, model, name, space, again=again))]
    if models:
        _look_at_size(workshop, space)
    if workshop.stopping.is_set():
        raise _stopped()
    for again_when in ("later", "never"):
        those = [each for each in troubles if each.again == again_when]
        if those:
            reasons = "; ".join(str(each) for each in troubles)
            raise Unfinished(reasons, again_when, moved=any(each.moved for each in those))


def _embed_for(workshop: Workshop, model: str, name: str, space: int, *, again: bool) -> Unfinished | None:
    kept = 0

    def count(done: int, _total: int) -> None:
        nonlocal kept
        kept = done

    try:
        embedded = embed_waiting(
            workshop.store,
            workshop.gates.of(model),
            progress=count,
            stop=workshop.stopping.is_set,
            refused=workshop.refused(model, space, again=again),
            space=name,
        )
    except EmbedderError as error:
        return Unfinished(_reason(error), "later", moved=kept > 0)
    if embedded.refused:
        return Unfinished(_name_refused(model, [ref for ref, _ in embedded.refused]), "never")
    return None


def prepare(workshop: Workshop) -> None:
    """Have all that is there read by the rules of this version, and what older ones read forgotten."""
    begin(workshop.store.concepts, Rules.name)


def extract(workshop: Workshop, space: int) -> None:
    """Read the concepts of what waits in a space."""
    with workshop.database.read() as connection:
        name = jobs.name_of_space(connection, space)
    if name is None:
        return
    if not begin(workshop.store.concepts, Rules.name, name):
        raise Unfinished("newer rules are in use than this worker has: upgrade it", "later")
    extract_waiting(workshop.store, Rules(), stop=workshop.stopping.is_set, space=name)
    if workshop.stopping.is_set() and workshop.store.concepts.waiting(Rules.name, 1, name):
        raise _stopped()


def index(workshop: Workshop, space: int) -> None:
    """Build or drop the HNSW index of a space, as its size asks for."""
    for change in hnsw.carry_out(workshop.database, space, workshop.large):
        deed = "built" if change.build else "dropped"
        _log.info("%s the HNSW index of space %s in vector set %s", deed, space, change.vector_set)


def tend(workshop: Workshop) -> None:
    """Have every space looked at whose index may be due: models are switched, and memories forgotten, without a job."""
    with workshop.database.write() as connection:
        for space in hnsw.due_spaces(connection, workshop.large):
            jobs.defer(connection, INDEX, space)


def _stopped() -> Unfinished:
    return Unfinished("the worker was stopped", "now", moved=True)


def _look_at_size(workshop: Workshop, space: int) -> None:
    with workshop.database.write() as connection:
        if hnsw.due(connection, space, workshop.large):
            jobs.defer(connection, INDEX, space)


def _name_refused(model: str, refs: Sequence[Ref]) -> str:
    names = ", ".join(ref.id for ref in refs[:MOST_NAMED])
    more = f" and {len(refs) - MOST_NAMED} more" if len(refs) > MOST_NAMED else ""
    return f"{model} refuses the text of {names}{more}: edit or shorten it; meanwhile it is found by words"


def _reason(error: Exception) -> str:
    """Say what went wrong, without what a provider or the database quoted."""
    if isinstance(error, EmbedderError):
        return re.sub(r"(status \d+), .*", r"\1", str(error), flags=re.DOTALL)
    return type(error).__name__
