"""The database: its connections, its transactions, whose they are, and its errors in our words.

Nothing outlives a transaction: role, caller and time limit are set for one at a time, so a pooler in transaction mode
can stand between. A recall reads in one transaction from beginning to end (`reading`); whatever reads within it, in
the same thread, joins it, and a leg does so behind a savepoint, so that its failure is its own.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

import psycopg
from psycopg import Connection, Cursor, errors, sql
from psycopg_pool import ConnectionPool, PoolTimeout, TooManyRequests

from recollect.core.access import Caller
from recollect.core.errors import LegTimeout, NotAllowed, StoreAway, StoreBusy, StoreError
from recollect.stores.postgres import halves

POOL_SIZE: Final = 10
WAIT_SECONDS: Final = 5.0
"""How long a request waits for a connection before it is told that there is none."""
STATEMENT_SECONDS: Final = 30.0
CONNECTION: Final = {
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 5000,
}
"""A database that falls silent, as when the network between is cut, is noticed in some seconds. By itself the system
would go on sending for a quarter of an hour."""

_BEGIN: Final = "BEGIN; "
# One state throughout, and nothing written, so that a replica can answer.
# Generic plans: with the space as a parameter, the plan is the same for all, and making it anew for each would take
# longer than the search. Such a plan does not know that only one partition is read, takes the work for sixteen times
# what it is, and would start processes and a compiler for it.
_BEGIN_READING: Final = (
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL plan_cache_mode = force_generic_plan; "
    "SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL jit = off; "
)
# Sent together with BEGIN, as one message.
# The role comes first: it is the one that may call the function.
_AS_CALLER: Final = sql.SQL(
    "SET LOCAL ROLE recollect_app; SELECT recollect_enter({prefix}, {now}), "
    "set_config('statement_timeout', {timeout}, true)"
)
_AS_OPERATOR: Final = sql.SQL(
    "SELECT set_config('recollect.admin', 'true', true), set_config('recollect.scope', 'admin', true), "
    "set_config('role', 'recollect_system', true), set_config('statement_timeout', {timeout}, true)"
)

Row = tuple[Any, ...]


class Database:
    """A view of a database, as one caller has it or, without one, as the operator."""

    def __init__(
        self, pool: ConnectionPool[Connection[Row]], caller: Caller | None = None, seconds: float = STATEMENT_SECONDS
    ) -> None:
        self.pool = pool
        self.caller = caller
        self._seconds = seconds
        self._here = threading.local()

    @classmethod
    def open(cls, url: str, *, size: int = POOL_SIZE, seconds: float = STATEMENT_SECONDS) -> "Database":
        pool = ConnectionPool[Connection[Row]](
            url,
            min_size=min(2, size),
            max_size=size,
            timeout=WAIT_SECONDS,
            # Then anew with the next who asks: the pool's own pauses double, up to minutes after an outage is over.
            reconnect_timeout=WAIT_SECONDS,
            kwargs={"autocommit": True, **CONNECTION},
            configure=_configure,
            name="recollect",
            open=True,
        )
        return cls(pool, seconds=seconds)

    def as_caller(self, caller: Caller) -> "Database":
        return Database(self.pool, caller, self._seconds)

    @contextmanager
    def read(self) -> Iterator[Connection[Row]]:
        """Read one consistent state, or take part in the reading that this thread is in."""
        joined: Reading | None = getattr(self._here, "reading", None)
        if joined is not None:
            joined.end_leg()
            yield joined.connection
            return
        with self._transaction(_BEGIN_READING) as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[Connection[Row]]:
        """Write all or nothing."""
        with self._transaction(_BEGIN) as connection:
            yield connection

    @contextmanager
    def reading(self) -> "Iterator[Reading]":
        """Have all that this thread reads from now on be of one state."""
        with self._transaction(_BEGIN_READING) as connection:
            self._here.reading = Reading(connection, self._seconds)
            try:
                yield self._here.reading
            finally:
                self._here.reading = None

    @property
    def noted(self) -> dict[Any, Any]:
        """What was read before in the reading that this thread is in; outside of one, nothing."""
        joined: Reading | None = getattr(self._here, "reading", None)
        return {} if joined is None else joined.noted

    @contextmanager
    def leg(self, seconds: float | None) -> Iterator[Connection[Row]]:
        """Read for a leg: behind a savepoint, and for no more than its time."""
        joined: Reading | None = getattr(self._here, "reading", None)
        if joined is None or seconds is None:
            with self._alone_for(seconds) as connection:
                yield connection
            return
        with _in_time(seconds):
            joined.begin_leg(seconds)
            try:
                yield joined.connection
            except BaseException:
                joined.undo_leg()
                raise

    @contextmanager
    def _alone_for(self, seconds: float | None) -> Iterator[Connection[Row]]:
        with self.read() as connection:
            if seconds is None:
                yield connection
                return
            with _in_time(seconds):
                connection.execute(f"SET LOCAL statement_timeout = {_milliseconds(seconds)}")
                yield connection

    def ask(self, question: sql.Composed) -> list[Row]:
        """Ask one thing in a transaction of its own, sent as one message: every request begins with such a question."""
        with _our_errors():
            connection, answer = self._begin(_BEGIN_READING, question)
            try:
                rows = answer.fetchall() if answer.description else []
                while answer.nextset():
                    rows = answer.fetchall() if answer.description else rows
            finally:
                self.pool.putconn(connection)
        return rows

    def alone(self, action: Callable[[Connection[Row]], None]) -> None:
        """Do something outside of any transaction and in no role: what only the owner of the tables may."""
        with _our_errors(), self.pool.connection() as connection:
            action(connection)

    def close(self) -> None:
        self.pool.close()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Connection[Row]]:
        with _our_errors():
            connection, _ = self._begin(begin)
            try:
                try:
                    yield connection
                except BaseException:
                    with suppress(psycopg.Error):
                        connection.execute("ROLLBACK")
                    raise
                if connection.execute("COMMIT").statusmessage != "COMMIT":
                    # An error was passed over, and Postgres says of what is lost only this.
                    raise StoreError("The database gave up what was under way, and nothing was kept: try again.")
            finally:
                self.pool.putconn(connection)

    def _begin(self, begin: str, question: sql.Composed | None = None) -> tuple[Connection[Row], Cursor[Row]]:
        """Begin a transaction, passing over connections that died while they were idle: a restart leaves only such.

        With a question it is over with the answer.
        """
        entry = self._entry()
        end = time.monotonic() + WAIT_SECONDS
        while True:
            connection = self.pool.getconn()
            try:
                message = begin + entry.as_string(connection)
                if question is not None:
                    message += f"; {question.as_string(connection)}; COMMIT"
                return connection, connection.execute(message)
            except psycopg.OperationalError:
                self.pool.putconn(connection)
                if not connection.closed or time.monotonic() > end:
                    raise
            except BaseException:
                self.pool.putconn(connection)
                raise

    def _entry(self) -> sql.Composed:
        timeout = sql.Literal(str(round(self._seconds * 1000)))
        if self.caller is None:
            return _AS_OPERATOR.format(timeout=timeout)
        now = time.time_ns() // 1000
        return _AS_CALLER.format(prefix=sql.Literal(self.caller.key), now=sql.Literal(now), timeout=timeout)


class Reading:
    """One recall's transaction, and what was read in it that others need again.

    A leg is over when the next statement of somebody else comes, so that its end is told together with what follows.
    """

    def __init__(self, connection: Connection[Row], seconds: float) -> None:
        self.connection = connection
        self.noted: dict[Any, Any] = {}
        self._seconds = seconds
        self._in_leg = False

    def begin_leg(self, seconds: float) -> None:
        over = "RELEASE SAVEPOINT leg; " if self._in_leg else ""
        self.connection.execute(f"{over}SAVEPOINT leg; SET LOCAL statement_timeout = {_milliseconds(seconds)}")
        self._in_leg = True

    def undo_leg(self) -> None:
        # What goes back by itself is the limit of the leg before.
        with suppress(psycopg.Error):
            self.connection.execute(
                "ROLLBACK TO SAVEPOINT leg; RELEASE SAVEPOINT leg; "
                f"SET LOCAL statement_timeout = {_milliseconds(self._seconds)}"
            )
        self._in_leg = False

    def end_leg(self) -> None:
        if self._in_leg:
            self._in_leg = False
            self.connection.execute(
                f"RELEASE SAVEPOINT leg; SET LOCAL statement_timeout = {_milliseconds(self._seconds)}"
            )


@contextmanager
def _in_time(seconds: float) -> Iterator[None]:
    """Say of what takes longer than so many seconds that it was late."""
    end = time.monotonic() + seconds
    late = LegTimeout(f"it took longer than {seconds * 1000:.0f} ms")
    try:
        yield
    except errors.QueryCanceled:
        raise late from None
    if time.monotonic() > end:
        raise late


def _milliseconds(seconds: float) -> int:
    # Zero would mean no limit at all.
    return max(1, round(seconds * 1000))


def _configure(connection: Connection[Row]) -> None:
    halves.register(connection)
    # A pooler hands out a process number of its own. Behind one, the next statement may reach another process, which
    # knows nothing of what was prepared.
    row = connection.execute("SELECT pg_backend_pid()").fetchone()
    if row is None or row[0] != connection.info.backend_pid:
        connection.prepare_threshold = None


@contextmanager
def _our_errors() -> Iterator[None]:
    try:
        yield
    except (PoolTimeout, TooManyRequests) as error:
        raise StoreAway(
            f"No connection to the database was to be had within {WAIT_SECONDS:.0f} s: it cannot be reached, or all "
            "connections are in use. Try again in a moment."
        ) from error
    except errors.InsufficientPrivilege as error:
        raise NotAllowed("The database does not let you do that.") from error
    except (
        errors.QueryCanceled,
        errors.LockNotAvailable,
        errors.DeadlockDetected,
        errors.SerializationFailure,
    ) as error:
        raise StoreBusy("The database took too long or was held by others: try again in a moment.") from error
    except (errors.UndefinedTable, errors.UndefinedFunction, errors.UndefinedColumn) as error:
        raise StoreError(
            f"The database's schema is not this program's ({_first_line(error)}): run `recollect db upgrade`."
        ) from error
    except psycopg.OperationalError as error:
        raise StoreAway(f"The database cannot be reached: {_first_line(error)}. Try again in a moment.") from error


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".")
