"""Worker processes that are killed, stopped, or left without their database: the work is done in the end, and once."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final, Literal

import pytest

from fakes import ToyEmbedder
from making import id_of, make_memory, wait_until
from pgbouncer import bounced
from postgres import open_folder
from recollect.core.errors import StoreAway, StoreError
from recollect.core.vectors import Vector
from recollect.service.extract import Rules, extract_waiting
from recollect.stores.postgres.embedded import start
from recollect.stores.postgres.jobs import put_back_stalled
from recollect.stores.postgres.migrate import upgrade
from recollect.worker.queue import Backoff
from recollect.worker.run import Worker
from watching import await_waiting, held
from working import EAGER, Shop, open_shop

HERE = Path(__file__).parent
# Whoever reports the end of a job: of one that embeds, or of one that reads concepts.
_CUT_OFF: Final = """
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock' AND position('procrastinate_finish_job' IN query) > 0
"""


@contextmanager
def _process(url: str, how: Literal["work", "hold", "listen"]) -> Iterator[subprocess.Popen[str]]:
    """Start a worker; it is gone at the end, however that came about."""
    path = os.pathsep.join([str(HERE.parent), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [sys.executable, str(HERE / "process.py"), url, how],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def _await_text(process: subprocess.Popen[str]) -> None:
    """Wait until a text has reached its model."""
    assert process.stdout is not None
    assert process.stdout.readline().endswith("texts\n"), "it ended"


def test_a_killed_workers_job_is_done_by_another(shop: Shop) -> None:
    """Jobs that a killed worker leaves running are put back when its heartbeat has stopped, and done once."""
    shop.store.memories.add([make_memory(number) for number in range(1, 4)])
    with _process(shop.url, "hold") as victim:
        _await_text(victim)
        shop.store.memories.add([make_memory(9)])
        assert shop.embedding() == ["running", "waiting"]
        # While it lives nobody takes its job away, nor does the next one overtake it.
        shop.work()
        assert shop.embedding() == ["running", "waiting"]
        victim.kill()
    with _process(shop.url, "work"):
        wait_until(lambda: shop.jobs() == [])
    assert shop.vectors().keys() == {id_of(number) for number in (1, 2, 3, 9)}


def test_a_job_whose_end_could_not_be_told(shop: Shop) -> None:
    """A worker that loses its connection just as it reports the end of a job does not leave it running for ever."""
    shop.store.memories.add([make_memory(1)])
    with ExitStack() as stack:
        with held(shop.url, "SELECT FROM outbox FOR UPDATE"):
            stack.enter_context(_process(shop.url, "work"))
            await_waiting(shop.url, 1)
            reporting = stack.enter_context(ExitStack())
            reporting.enter_context(held(shop.url, "SELECT FROM procrastinate_jobs FOR UPDATE"))
        wait_until(lambda: bool(shop.ask(_CUT_OFF)))
        reporting.close()
        wait_until(lambda: shop.jobs() == [])
    assert shop.vectors().keys() == {id_of(1)}


def test_a_kill_is_not_held_against_the_job(shop: Shop) -> None:
    """A job that was put back keeps its tries, and is put back once however many look for it."""
    shop.store.memories.add([make_memory(1)])
    with shop.database.write() as connection:
        connection.execute("INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now() - interval '1 minute')")
        connection.execute(
            "SELECT procrastinate_fetch_job_v2(ARRAY['recollect']::varchar[], (SELECT id FROM procrastinate_workers))"
        )
    with shop.database.write() as connection:
        assert put_back_stalled(connection, 120) == []
        assert len(put_back_stalled(connection, 30)) == 1
        assert put_back_stalled(connection, 30) == []
    (job,) = shop.jobs()
    assert (job.state, job.attempts) == ("waiting", 0)


def test_a_worker_is_told_of_new_work(shop: Shop) -> None:
    """A worker that waits starts on what is written at once, without looking for it; told to stop, it ends well."""
    with _process(shop.url, "listen") as worker:
        for number in range(1, 6):
            shop.store.memories.add([make_memory(number)])
            _await_text(worker)
            # A job that is deferred while the one before it runs is found by looking.
            wait_until(lambda: shop.jobs() == [])
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(30) == 0
    assert len(shop.vectors()) == 5
    assert shop.ask("SELECT count(*) FROM procrastinate_workers") == [(0,)]


def test_a_worker_that_is_stopped_puts_its_job_back(shop: Shop) -> None:
    """Between two batches a job that is asked to stop is put back, to be done by the next worker at once."""
    shop.store.memories.add([make_memory(number) for number in range(1, 200)])
    extract_waiting(shop.store, Rules())
    stopping = shop.workshop.stopping

    class Stopping(ToyEmbedder):
        def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
            stopping.set()
            return super().embed_documents(texts)

    shop.workshop.gates = type(shop.workshop.gates)(Stopping)
    shop.work()
    assert len(shop.vectors()) == 64
    assert [(job.state, job.reason) for job in shop.jobs()] == [("waiting", "the worker was stopped")]
    stopping.clear()
    shop.workshop.gates = type(shop.workshop.gates)(ToyEmbedder)
    shop.work()
    assert len(shop.vectors()) == 199
    assert shop.jobs() == []


def test_a_worker_works_through_a_pooler(shop: Shop) -> None:
    """Behind PgBouncer in transaction mode nothing wakes a worker, and it finds its work by looking for it."""
    with bounced(shop.url, pool_size=4) as url, _process(url, "work"):
        for number in range(1, 6):
            shop.store.memories.add([make_memory(number)])
            wait_until(lambda last=number: id_of(last) in shop.vectors())  # type: ignore[misc]
        wait_until(lambda: shop.jobs() == [])


def test_a_worker_needs_no_more_than_its_role(shop: Shop) -> None:
    """A login that owns nothing and is only a member of the system's role can do all jobs but build indexes."""
    shop.ask("CREATE ROLE recollect_test_worker LOGIN; GRANT recollect_system TO recollect_test_worker")
    try:
        with _process(shop.url.replace("postgres@", "recollect_test_worker@"), "work"):
            shop.store.memories.add([make_memory(1)])
            wait_until(lambda: shop.jobs() == [])
        assert shop.vectors().keys() == {id_of(1)}
    finally:
        shop.ask("DROP ROLE recollect_test_worker")


def test_a_worker_outlives_its_database() -> None:
    """A worker whose database crashes, stays away and comes back goes on by itself, and so does the work."""
    with open_folder() as folder, start(folder) as server:
        upgrade(server.url)
        with open_shop(server.url) as shop, _process(server.url, "work") as worker:
            shop.store.memories.add([make_memory(1)])
            wait_until(lambda: shop.vectors().keys() == {id_of(1)})
            for number in (2, 3):
                server.kill()
                assert worker.poll() is None
                server.start_again()
                shop.store.memories.add([make_memory(number)])
                wait_until(lambda last=number: id_of(last) in shop.vectors())  # type: ignore[misc]
            wait_until(lambda: shop.jobs() == [])
            worker.send_signal(signal.SIGTERM)
            assert worker.wait(30) == 0


def test_a_worker_refuses_another_schema(fresh_database: str) -> None:
    """A worker that meets a database of another version ends and says what to run."""
    upgrade(fresh_database)
    with open_shop(fresh_database) as shop:
        shop.ask("UPDATE alembic_version SET version_num = '0001'")
        with pytest.raises(StoreError, match="recollect db upgrade"):
            Worker(shop.url, shop.workshop, pace=EAGER).run()


def test_waits_double_up_to_a_limit() -> None:
    """A job waits 2, 4, 8 seconds and so on, five minutes at most, and is given up after its last try."""
    from datetime import UTC, datetime

    from procrastinate.jobs import Job

    from recollect.worker.tasks import Unfinished

    def seconds(attempts: int, error: Exception) -> float | None:
        job = Job(id=1, status="doing", queue="q", lock=None, queueing_lock=None, task_name="embed", attempts=attempts)
        decision = Backoff().get_retry_decision(exception=error, job=job)
        if decision is None:
            return None
        assert decision.retry_at
        return round((decision.retry_at - datetime.now(UTC)).total_seconds())

    later = Unfinished("busy", "later")
    assert [seconds(attempts, later) for attempts in (0, 1, 2, 6, 7, 8, 22)] == [2, 4, 8, 128, 256, 300, 300]
    assert seconds(23, later) is None
    assert seconds(23, Unfinished("busy", "later", moved=True)) == 2
    assert seconds(0, Unfinished("refused", "never")) is None
    assert seconds(23, Unfinished("stopped", "now")) == 0
    assert seconds(0, OSError()) == 2
    assert seconds(23, StoreAway("gone")) == 2
