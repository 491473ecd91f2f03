"""Jobs are handed over by the transaction that writes, once for each space, and no worker can look too early."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from making import change_memory, forget_memory, make_memory, wait_until
from recollect.core.errors import Conflict
from working import Shop

_FETCH = "SELECT id FROM procrastinate_fetch_job_v2(ARRAY['recollect']::varchar[], %s)"
_DEFER = "SELECT recollect_defer('embed', 7)"


def _connect(shop: Shop, *, autocommit: bool = False) -> psycopg.Connection:
    return psycopg.connect(shop.url, autocommit=autocommit, options="-c role=recollect_system")


def _register(connection: psycopg.Connection) -> int:
    row = connection.execute("SELECT * FROM procrastinate_register_worker_v1()").fetchone()
    assert row
    return int(row[0])


def _fetch(connection: psycopg.Connection, worker: int) -> int | None:
    row = connection.execute(_FETCH, (worker,)).fetchone()
    return row[0] if row else None


@contextmanager
def _deferring(shop: Shop, writer: psycopg.Connection) -> Iterator[None]:
    """Defer a job, on a thread of its own as it may have to wait, and go on when it is known to wait."""
    thread = threading.Thread(target=writer.execute, args=(_DEFER,))
    thread.start()
    waits = "SELECT wait_event_type = 'Lock' FROM pg_stat_activity WHERE pid = %s"
    wait_until(lambda: shop.ask(waits, writer.info.backend_pid) == [(True,)])
    yield
    thread.join()


def test_a_write_defers_its_job(shop: Shop) -> None:
    """A memory that was stored has a job that says which space to look at, and nothing else."""
    shop.store.memories.add([make_memory(content="The vault opens with 4711.")])
    (job,) = shop.jobs()
    assert (job.task, job.space, job.state, job.attempts, job.reason) == ("embed", "personal", "waiting", 0, None)
    assert shop.ask("SELECT args FROM procrastinate_jobs") == [({"space": shop.key_of()},)]


def test_a_write_that_fails_defers_nothing(shop: Shop) -> None:
    """A transaction that is rolled back takes its job with it."""
    shop.store.memories.add([make_memory(1, space="ours")])
    with pytest.raises(Conflict):
        shop.store.memories.add([make_memory(2), make_memory(1, space="ours")])
    assert [job.space for job in shop.jobs()] == ["ours"]


def test_a_burst_makes_one_job(shop: Shop) -> None:
    """However much is written before a worker comes, a space has one job that waits."""
    for number in range(1, 8):
        shop.store.memories.add([make_memory(number)])
    shop.store.memories.change(change_memory(make_memory(1), 60, content="Deploys run on Fridays."))
    shop.store.memories.add([make_memory(9, space="ours")])
    assert [job.space for job in shop.jobs()] == ["personal", "ours"]


def test_what_may_not_be_embedded_is_not_queued(shop: Shop) -> None:
    """A sensitive memory has no job; nor has one that is forgotten, or what does not change its text."""
    shop.store.memories.add([make_memory(1, sensitive=True)])
    assert shop.jobs() == []
    assert shop.ask("SELECT count(*) FROM outbox") == [(0,)]
    shop.store.memories.add([make_memory(2)])
    shop.work()
    shop.store.memories.change(change_memory(make_memory(2), 60, importance=0.9))
    shop.store.memories.change(forget_memory(make_memory(1, sensitive=True), 60))
    assert shop.jobs() == []


def test_no_worker_looks_before_the_row_is_there(shop: Shop) -> None:
    """A waiting job that a second write relies on is passed over by workers until that write is over."""
    with _connect(shop) as writer, _connect(shop, autocommit=True) as worker:
        writer.execute(_DEFER)
        writer.commit()
        number = _register(worker)
        writer.execute(_DEFER)
        assert _fetch(worker, number) is None
        writer.commit()
        assert _fetch(worker, number) is not None
    assert len(shop.jobs()) == 1


def test_a_write_does_not_rely_on_a_job_that_is_being_fetched(shop: Shop) -> None:
    """A write that meets a job at the moment it begins makes another one."""
    with _connect(shop) as writer, _connect(shop) as worker:
        writer.execute(_DEFER)
        writer.commit()
        fetched = _fetch(worker, _register(worker))
        # It is begun, and nobody knows yet: the writer has to wait and see.
        with _deferring(shop, writer):
            worker.commit()
        writer.commit()
    assert [(job.id, job.state) for job in shop.jobs("running")] == [(fetched, "running")]
    assert len(shop.jobs("waiting")) == 1


def test_a_job_can_be_put_back_while_the_next_one_waits(shop: Shop) -> None:
    """A job that has to be tried again does not get in the way of the one that was deferred meanwhile."""
    with _connect(shop, autocommit=True) as connection:
        connection.execute(_DEFER)
        worker = _register(connection)
        first = _fetch(connection, worker)
        connection.execute(_DEFER)
        connection.execute("SELECT procrastinate_retry_job_v2(%s, now(), NULL, NULL, NULL)", (first,))
        connection.execute(_DEFER)
        assert len(shop.jobs("waiting")) == 2
        assert _fetch(connection, worker) == first
        assert _fetch(connection, worker) is None, "one at a time for a space"
