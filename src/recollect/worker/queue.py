"""The tasks as procrastinate knows them, and when a job that was not finished is tried again."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, LiteralString

from procrastinate import App, BaseRetryStrategy, JobContext, PsycopgConnector, RetryDecision
from procrastinate.exceptions import ConnectorException
from procrastinate.jobs import Job

from recollect.core.errors import StoreAway
from recollect.stores.postgres.database import CONNECTION
from recollect.stores.postgres.jobs import QUEUE
from recollect.worker import tasks
from recollect.worker.tasks import Unfinished, Workshop

CARE: Final = "recollect-care"
"""The queue of what no space asked for."""
QUEUES: Final = (QUEUE, CARE)
POOL_SECONDS: Final = 5.0
_EVERY_FIVE_MINUTES: Final = "*/5 * * * *"


@dataclass(frozen=True, slots=True)
class Backoff(BaseRetryStrategy):
    """Wait twice as long after each try that got nowhere, up to a limit, and give up after so many."""

    first: float = 2.0
    longest: float = 300.0
    tries: int = 24
    """Some eighty minutes: a provider's outage, a key that somebody has to renew."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        again = exception.again if isinstance(exception, Unfinished) else "later"
        moved = isinstance(exception, Unfinished) and exception.moved
        # That the database went away is nothing that the job did.
        tried = 0 if moved or isinstance(exception, StoreAway) else job.attempts
        if again == "never" or (again == "later" and tried + 1 >= self.tries):
            return None
        seconds = 0.0 if again == "now" else min(self.longest, self.first * 2.0**tried)
        return RetryDecision(retry_in={"milliseconds": round(seconds * 1000)})


class Connector(PsycopgConnector):
    """Tells of every statement that failed.

    procrastinate itself passes over it where it reports how a job ended. The job would stay running, and hold up its
    space, for as long as the worker lives.
    """

    def __init__(self, on_trouble: Callable[[], None], **parameters: Any) -> None:  # noqa: ANN401 - the pool's
        super().__init__(**parameters)
        self._on_trouble = on_trouble

    async def execute_query_async(self, query: LiteralString, **arguments: Any) -> None:  # noqa: ANN401 - the query's
        try:
            await super().execute_query_async(query, **arguments)
        except ConnectorException:
            self._on_trouble()
            raise


def make_app(
    url: str, workshop: Workshop, *, size: int, backoff: Backoff, on_trouble: Callable[[], None] = lambda: None
) -> App:
    connector = Connector(
        on_trouble,
        conninfo=url,
        min_size=1,
        max_size=size,
        timeout=POOL_SECONDS,
        # A pooler in transaction mode may stand between after all: work is then found by polling.
        kwargs={"prepare_threshold": None, **CONNECTION},
    )
    app = App(connector=connector)

    def embed(context: JobContext, space: int, *, again: bool = False) -> None:
        _run(workshop, context, lambda: tasks.embed(workshop, space, again=again))

    def extract(context: JobContext, space: int, *, again: bool = False) -> None:
        del again
        _run(workshop, context, lambda: tasks.extract(workshop, space))

    def index(context: JobContext, space: int, *, again: bool = False) -> None:
        del again
        _run(workshop, context, lambda: tasks.index(workshop, space))

    def tend(context: JobContext, timestamp: int) -> None:
        del timestamp
        _run(workshop, context, lambda: tasks.tend(workshop))

    app.task(name=tasks.EMBED, queue=QUEUE, retry=backoff, pass_context=True)(embed)
    app.task(name=tasks.EXTRACT, queue=QUEUE, retry=backoff, pass_context=True)(extract)
    app.task(name=tasks.INDEX, queue=QUEUE, retry=backoff, pass_context=True)(index)
    care = app.task(name="tend", queue=CARE, lock="tend", queueing_lock="tend", pass_context=True)(tend)
    # It also keeps the deferrer running: procrastinate stops watching over its heartbeat and its listener as soon as
    # any one of its side tasks has ended, and without a periodic task the deferrer ends at once.
    app.periodic(cron=_EVERY_FIVE_MINUTES)(care)
    return app


def _run(workshop: Workshop, context: JobContext, task: Callable[[], None]) -> None:
    if context.job.id is not None:
        tasks.run_task(workshop, context.job.id, task)
