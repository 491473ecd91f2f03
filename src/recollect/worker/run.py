"""A worker process: takes jobs until it is told to stop, whatever becomes of the database meanwhile.

The only async file here, as procrastinate is async. Tasks run in threads.
"""

import asyncio
import logging
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from procrastinate import App

from recollect.core.errors import RecollectError, StoreAway, StoreBusy
from recollect.stores.postgres import jobs
from recollect.stores.postgres.health import examine_database
from recollect.worker.queue import QUEUES, Backoff, make_app
from recollect.worker.tasks import Workshop, prepare

CONCURRENCY: Final = 2
OWN_CONNECTIONS: Final = 2
"""Besides one for each job: for looking after the queue."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pace:
    """How often a worker looks and how long it waits, in seconds."""

    poll: float = 1.0
    """For jobs: those that are tried again, or whose announcement was lost. New ones are announced."""
    heartbeat: float = 3.0
    dead: float = 15.0
    """After so long without a heartbeat a worker's jobs are another's."""
    sweep: float = 5.0
    """Between two looks for jobs of dead workers."""
    first_pause: float = 0.5
    longest_pause: float = 10.0
    """After trouble with the database."""
    backoff: Backoff = field(default_factory=Backoff)


@dataclass(frozen=True, slots=True)
class Worker:
    url: str
    """Where the queue is; not a pooler, if jobs are to be announced."""
    workshop: Workshop
    concurrency: int = CONCURRENCY
    wait: bool = True
    """Whether to wait for jobs, or to end when there is none that could be done now."""
    pace: Pace = field(default_factory=Pace)

    def run(self) -> None:
        """Do jobs until SIGTERM or SIGINT; those that run then finish their batch and put themselves back."""
        asyncio.run(self._run())

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(self.concurrency + OWN_CONNECTIONS, thread_name_prefix="job"))
        stopping = asyncio.Event()

        def stop() -> None:
            _log.info("stopping: jobs that run finish their batch")
            self.workshop.stopping.set()
            stopping.set()

        with _on_signals(loop, stop):
            pause = self.pace.first_pause
            while not stopping.is_set():
                began = loop.time()
                try:
                    # It may have been upgraded while it was away.
                    await asyncio.to_thread(examine_database, self.workshop.database)
                    await asyncio.to_thread(prepare, self.workshop)
                    await self._work(stopping)
                except Exception as error:
                    if not self.wait or _is_for_good(error):
                        raise
                    _log.warning("the queue cannot be reached (%s); trying again", type(error).__name__)
                if not self.wait:
                    return
                if loop.time() - began > self.pace.longest_pause:
                    # It went well for a while: this is another trouble than the last.
                    pause = self.pace.first_pause
                await _sleep(stopping, pause)
                pause = min(self.pace.longest_pause, pause * 2)

    async def _work(self, stopping: asyncio.Event) -> None:
        """Work until there is a reason to end, as when the database goes away, or until it is to stop.

        After any trouble with the queue one begins anew, under another number: the jobs of the old one are put back.
        """
        trouble = asyncio.Event()
        size = self.concurrency + OWN_CONNECTIONS
        app = make_app(self.url, self.workshop, size=size, backoff=self.pace.backoff, on_trouble=trouble.set)
        async with app.open_async():
            worker = asyncio.create_task(self._take_jobs(app))
            sweeping = asyncio.create_task(_sweep(self.workshop, self.pace))
            reasons = {asyncio.create_task(reason.wait()) for reason in (stopping, trouble)}
            try:
                await asyncio.wait({worker, *reasons}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for each in (worker, sweeping, *reasons):
                    each.cancel()
                # Cancelled, a worker still waits for the jobs that run.
                ended, *_ = await asyncio.gather(worker, sweeping, *reasons, return_exceptions=True)
        if isinstance(ended, Exception):
            raise ended

    async def _take_jobs(self, app: App) -> None:
        await app.run_worker_async(
            queues=list(QUEUES),
            concurrency=self.concurrency,
            wait=self.wait,
            fetch_job_polling_interval=self.pace.poll,
            delete_jobs="successful",
            update_heartbeat_interval=self.pace.heartbeat,
            stalled_worker_timeout=self.pace.dead,
            install_signal_handlers=False,
        )


def _is_for_good(error: Exception) -> bool:
    """Whether asking again would not help: another schema, or a login that may not."""
    return isinstance(error, RecollectError) and not isinstance(error, (StoreAway, StoreBusy))


async def _sweep(workshop: Workshop, pace: Pace) -> None:
    """Put back, again and again, the jobs of workers that died."""
    while True:
        try:
            await asyncio.to_thread(_put_back, workshop, pace.dead)
        except RecollectError as error:
            _log.debug("could not look for stalled jobs: %s", error)
        await asyncio.sleep(pace.sweep)


def _put_back(workshop: Workshop, seconds: float) -> None:
    with workshop.database.write() as connection:
        for job in jobs.put_back_stalled(connection, seconds):
            _log.warning("job %s was put back: its worker died", job)


async def _sleep(stopping: asyncio.Event, seconds: float) -> None:
    """Wait, unless it is to stop."""
    try:
        await asyncio.wait_for(stopping.wait(), seconds)
    except TimeoutError:
        return


@contextmanager
def _on_signals(loop: asyncio.AbstractEventLoop, stop: Callable[[], None]) -> Iterator[None]:
    signals = (signal.SIGTERM, signal.SIGINT)
    for each in signals:
        loop.add_signal_handler(each, stop)
    try:
        yield
    finally:
        for each in signals:
            loop.remove_signal_handler(each)
