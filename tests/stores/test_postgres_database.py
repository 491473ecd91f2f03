"""The Postgres database: transactions, whose they are, time limits, lost connections, and its errors in our words."""

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import psycopg
import pytest

from callers import open_walled
from making import make_memory, make_query, wait_until
from postgres import SETTINGS, open_folder
from recollect.core.access import Caller
from recollect.core.errors import NotAllowed, NotFound, StoreAway, StoreBusy, StoreError
from recollect.stores.postgres import database as module
from recollect.stores.postgres.database import Database, Row
from recollect.stores.postgres.embedded import EmbeddedPostgres, start
from recollect.stores.postgres.migrate import upgrade
from recollect.stores.postgres.store import PostgresStore
from watching import ask

NOBODY = Caller("nobody", "nobody", "admin", None, {})
TRACES = """
SELECT current_user, coalesce(current_setting('recollect.key', true), ''),
       coalesce(current_setting('recollect.admin', true), ''),
       coalesce(current_setting('recollect.readable', true), ''), current_setting('statement_timeout'),
       current_setting('default_transaction_read_only')
"""
SEVERAL = 8
"""Times to do something until psycopg has prepared it, which is after five."""


@pytest.fixture
def url(empty_store_database: str) -> str:
    return empty_store_database


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    """Give a database over one connection, so that what one transaction leaves on it the next one finds."""
    opened = Database.open(url, size=1)
    yield opened
    opened.close()


def _count(database: Database) -> int:
    with database.read() as connection:
        return _number(connection, "SELECT count(*) FROM spaces")


def _number(connection: psycopg.Connection[Row], question: str) -> int:
    row = connection.execute(question.encode()).fetchone()
    assert row is not None
    return int(row[0])


def _make_space(connection: psycopg.Connection[Row]) -> None:
    connection.execute("INSERT INTO spaces (id) VALUES ('ours')")


def _write(database: Database, afterwards: Callable[[psycopg.Connection[Row]], object]) -> None:
    with database.write() as connection:
        _make_space(connection)
        afterwards(connection)


def _sleep(database: Database, seconds: float) -> None:
    with database.read() as connection:
        connection.execute("SELECT pg_sleep(%s)", (seconds,))


def test_a_write_is_all_or_nothing(database: Database) -> None:
    """What raises inside a write leaves nothing of it."""
    with pytest.raises(ZeroDivisionError):
        _write(database, lambda _: 1 / 0)
    assert _count(database) == 0


def test_an_error_that_was_passed_over_is_not_taken_for_success(database: Database) -> None:
    """A write whose transaction Postgres has given up raises, even if nobody else noticed."""

    def fail(connection: psycopg.Connection[Row]) -> None:
        with suppress(psycopg.Error):
            connection.execute("SELECT 1 / 0")

    with pytest.raises(StoreError, match="nothing was kept"):
        _write(database, fail)
    assert _count(database) == 0


def test_a_reading_sees_one_state(url: str, database: Database) -> None:
    """What is written while a reading goes on shows in the next reading, not in this one."""
    with database.read() as connection:
        ask(url, "INSERT INTO spaces (id) VALUES ('ours')")
        assert _number(connection, "SELECT count(*) FROM spaces") == 0
    assert _count(database) == 1


def test_all_that_is_read_within_a_reading_is_of_one_state(url: str, database: Database) -> None:
    """Reads of the same thread join the reading it is in, and need no further connection."""
    with database.reading():
        assert _count(database) == 0
        ask(url, "INSERT INTO spaces (id) VALUES ('ours')")
        assert _count(database) == 0
    assert _count(database) == 1


def test_a_reading_writes_nothing(database: Database) -> None:
    """A read-only transaction could as well be a replica's."""
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction), database.read() as connection:
        _make_space(connection)


def test_a_transaction_belongs_to_its_caller_and_leaves_no_trace(database: Database) -> None:
    """Role, caller and time limit hold for one transaction; the connection they were set on knows nothing of them."""

    def traces() -> tuple[object, ...]:
        with database.pool.connection() as connection:
            return connection.execute(TRACES).fetchall()[0]

    with database.write() as connection:
        connection.execute("SELECT recollect_make_person('ann', false, 0)")
        connection.execute(
            "INSERT INTO api_keys (prefix, person, hash, name, scope, created_at) "
            "SELECT 'anns', key, '', '', 'admin', 0 FROM people"
        )
    before = traces()
    with database.read() as connection:
        assert connection.execute(TRACES).fetchall()[0][:3] == ("recollect_system", "", "true")
    with database.as_caller(Caller("anns", "ann", "admin", "ann", {"ann": "admin"})).read() as connection:
        user, key, admin, readable, timeout, _ = connection.execute(TRACES).fetchall()[0]
        assert (user, key, admin, timeout) == ("recollect_app", "anns", "false", "30s")
        assert readable != "{}"
    assert traces() == before
    with pytest.raises(ZeroDivisionError), database.as_caller(NOBODY).write():
        _ = 1 / 0
    assert traces() == before


def test_a_key_that_does_not_hold_sees_nothing(url: str, database: Database) -> None:
    """Whoever is not in the directory reads no space and writes to none."""
    store = PostgresStore(database)
    store.memories.add([make_memory(1)])
    stranger = PostgresStore(database.as_caller(NOBODY))
    assert stranger.memories.page(make_query().scope, 10) == []
    with pytest.raises(NotFound):
        stranger.memories.add([make_memory(2)])
    with pytest.raises(NotAllowed), database.as_caller(NOBODY).write() as connection:
        _make_space(connection)
    assert ask(url, "SELECT count(*) FROM memories") == [(1,)]


def test_statements_are_prepared(database: Database) -> None:
    """Connected to Postgres itself, what is done often is prepared."""
    store = PostgresStore(database)
    for number in range(SEVERAL):
        store.memories.add([make_memory(number)])
        store.memories.page(make_query().scope, 10)
    with database.pool.connection() as connection:
        assert connection.prepare_threshold == 5
        assert _number(connection, "SELECT count(*) FROM pg_prepared_statements") > 0


def test_a_statement_that_takes_too_long_is_stopped(url: str) -> None:
    """The caller is told that the database is busy, and the connection serves the next one."""
    database = Database.open(url, size=1, seconds=0.1)
    with pytest.raises(StoreBusy, match="try again"):
        _sleep(database, 60)
    assert _count(database) == 0
    database.close()


def test_whoever_finds_all_connections_in_use_is_told(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a while of waiting the caller gets an error that says so, and not an endless wait."""
    monkeypatch.setattr(module, "WAIT_SECONDS", 0.1)
    database = Database.open(url, size=1)
    with database.read(), ThreadPoolExecutor(1) as other:
        assert isinstance(other.submit(_count, database).exception(), StoreAway)
    assert _count(database) == 0
    database.close()


def test_a_database_without_the_schema_says_what_to_run(fresh_database: str) -> None:
    """An operator and a caller of a database that was never upgraded are told to."""
    database = Database.open(fresh_database, size=1)
    for view in (database, database.as_caller(NOBODY)):
        with pytest.raises(StoreError, match="recollect db upgrade"):
            PostgresStore(view).count()
    database.close()


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddedPostgres]:
    """Give a server of our own, which may be killed: then what it has handed to the system is not lost."""
    settings = {**SETTINGS, "synchronous_commit": "on"}
    with open_folder() as folder, start(folder, durable=False, settings=settings) as running:
        upgrade(running.url)
        yield running


def _use_all(database: Database, size: int) -> None:
    """Have the pool open all of its connections."""
    everybody = threading.Barrier(size)

    def use() -> None:
        with database.read():
            everybody.wait(30)

    with ThreadPoolExecutor(size) as threads:
        for done in [threads.submit(use) for _ in range(size)]:
            done.result()


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_connections_that_a_restart_killed_are_passed_over(server: EmbeddedPostgres, end: str) -> None:
    """After the server ended and came back, nobody notices that every connection in the pool was dead."""
    database = Database.open(server.url, size=4)
    _use_all(database, 4)
    getattr(server, end)()
    server.start_again()
    with ThreadPoolExecutor(4) as threads:
        counts = list(threads.map(lambda _: _count(database), range(SEVERAL)))
    assert len(counts) == SEVERAL
    assert database.pool.get_stats().get("returns_bad", 0) > 0
    database.close()


def test_while_the_server_is_away_callers_are_told_and_then_served_again(
    server: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was under way and what comes then ends in an error with a reason, in time; the first after it is served."""
    monkeypatch.setattr(module, "WAIT_SECONDS", 2.5)
    store = open_walled(server.url, ["personal"])
    database = Database.open(server.url, size=3)
    with ThreadPoolExecutor(1) as other:
        under_way = other.submit(_sleep, database, 60)
        wait_until(lambda: ask(server.url, "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'") != [])
        server.kill()
        assert isinstance(under_way.exception(), StoreAway)
    began = time.monotonic()
    with pytest.raises(StoreAway, match="Try again in a moment"):
        store.memories.add([make_memory(1)])
    with pytest.raises(StoreAway):
        _count(database)
    assert time.monotonic() - began < 4 * 2.5
    server.start_again()
    store.memories.add([make_memory(1)])
    assert _count(database) == 1
    store.close()
    database.close()


def test_the_pool_does_not_go_on_pausing_after_an_outage(database: Database) -> None:
    """It gives up trying about when those who wait do, so that whoever asks next has it try at once."""
    assert database.pool.reconnect_timeout <= module.WAIT_SECONDS


def test_a_network_that_falls_silent_is_noticed(database: Database) -> None:
    """What was sent and is not taken in breaks the connection after seconds; else it would be sent on for minutes."""
    with database.read() as connection, socket.socket(fileno=os.dup(connection.fileno())) as wire:
        assert wire.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        assert wire.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) <= module.WAIT_SECONDS
        assert 0 < wire.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) <= module.WAIT_SECONDS * 1000
