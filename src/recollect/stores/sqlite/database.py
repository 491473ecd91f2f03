"""The file: its connections, its transactions, and its errors in our words.

One connection serves one caller at a time and is kept for the next, whatever thread that is in: a leg that
runs in a thread of its own then finds a warm page cache.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from recollect.core.errors import LegTimeout, StoreBusy, StoreDamaged, StoreError

BUSY_SECONDS: Final = 60.0
"""How long to wait for another process's write. One write takes milliseconds, so this is a crowd of thousands."""
OLDEST_SQLITE: Final = (3, 35, 0)
"""The first that gives back what it wrote (RETURNING)."""

_PRAGMAS: Final = (
    # An acknowledged memory survives a power cut, not only a crash of the program.
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    # What is purged is overwritten, not only marked as free.
    "PRAGMA secure_delete = ON",
    "PRAGMA temp_store = MEMORY",
    # In KiB: the postings of a large store's common words fit.
    "PRAGMA cache_size = -32768",
)
_INSTRUCTIONS_BETWEEN_CLOCK_READS: Final = 5000


class Database:
    def __init__(self, path: str, *, patience: float = BUSY_SECONDS, create: bool = True) -> None:
        if sqlite3.sqlite_version_info < OLDEST_SQLITE:
            raise StoreError(
                f"This Python has SQLite {sqlite3.sqlite_version}; Recollect needs "
                f"{'.'.join(map(str, OLDEST_SQLITE))} or newer. A newer Python brings one along."
            )
        if path == ":memory:":
            raise StoreError("Recollect keeps memories in a file: name one, in a temporary folder if it may go again.")
        self.path = path
        self._patience = patience
        self._idle: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        self._closed = False
        self.check_current: Callable[[sqlite3.Connection], None] = lambda _: None
        """Asked before every write; raises if this process may no longer write."""
        if create:
            _create_private(path)
        elif not os.path.isfile(path):
            raise StoreError(f"There is no store at {path} yet.")

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Read one consistent state of the store, however many statements it takes."""
        with self._connection() as connection:
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Write all or nothing. The lock is taken first, so nothing that was read can be stale."""
        with self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                self.check_current(connection)
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise

    def clear_journal(self) -> None:
        """Write the journal back and empty it, so that what was removed is in neither file.

        As long as another process reads, SQLite leaves it to that one's end.
        """
        with self._connection() as connection:
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            connection = self._idle.pop() if self._idle else None
        with _our_errors(self.path, self._patience):
            connection = connection or self._open()
            try:
                yield connection
            finally:
                with self._lock:
                    keep = not self._closed
                    if keep:
                        self._idle.append(connection)
                if not keep:
                    connection.close()

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path,
            timeout=self._patience,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        try:
            _patiently(lambda: connection.execute("PRAGMA journal_mode = WAL").fetchone(), self._patience)
            for pragma in _PRAGMAS:
                connection.execute(pragma)
        except BaseException:
            connection.close()
            raise
        return connection


@contextmanager
def time_limit(connection: sqlite3.Connection, seconds: float | None) -> Iterator[None]:
    """Have SQLite look at the clock while it works and stop when the time is over, if there is any."""
    if seconds is None:
        yield
        return
    end = time.monotonic() + seconds
    connection.set_progress_handler(lambda: time.monotonic() > end, _INSTRUCTIONS_BETWEEN_CLOCK_READS)
    try:
        yield
    except sqlite3.OperationalError as error:
        if "interrupted" in str(error):
            raise LegTimeout(f"it took longer than {seconds * 1000:.0f} ms") from None
        raise
    finally:
        connection.set_progress_handler(None, 0)


def _create_private(path: str) -> None:
    """Make the file and its folder readable by their owner alone."""
    try:
        os.makedirs(os.path.dirname(os.path.abspath(path)), mode=0o700, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise StoreError(
            f"The store cannot be opened at {path}: {error.strerror}. "
            "Set RECOLLECT_HOME to a folder that you can write to."
        ) from error


def _patiently(action: Callable[[], object], seconds: float) -> None:
    """Retry what SQLite answers with "locked" at once, without waiting as it does for other statements."""
    end = time.monotonic() + seconds
    while True:
        try:
            action()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > end:
                raise
            time.sleep(0.01)
        else:
            return


@contextmanager
def _our_errors(path: str, patience: float) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        message = str(error)
        if "locked" in message or "busy" in message:
            raise StoreBusy(
                f"Another process has held {path} for {patience:g} s. Try again; if it stays so, look for a "
                "backup tool or a stuck process that holds the file."
            ) from error
        if "full" in message:
            raise StoreError(f"The disk that holds {path} is full: free some room and try again.") from error
        if "readonly" in message:
            raise StoreError(f"{path} is read-only: make it and its folder writable.") from error
        raise StoreError(f"The store at {path} answered: {message}. `recollect doctor` may know more.") from error
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError | sqlite3.DataError):
            raise
        raise StoreDamaged(
            f"{path} is not a healthy Recollect store ({error}). Keep a copy of it, then import your last export "
            "into a new store."
        ) from error
