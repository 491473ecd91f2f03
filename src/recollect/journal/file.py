"""The journal: what hooks gave to agents and what they learned, in a small SQLite file beside the store.

It is a file of its own, so that a hook never waits for a long write to the store, and nothing in it is synced or
exported. It may be deleted: then what waits for review is gone, and every session may be given everything again.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final, Self

from recollect.core.errors import StoreError

VERSION: Final = 1
PATIENCE_SECONDS: Final = 5.0
"""How long a command waits for another process that writes; a hook waits less."""

_SCHEMA: Final = """
-- Each time that a hook had something to say or not. Times are microseconds since 1970, UTC.
CREATE TABLE injections (
    key          INTEGER PRIMARY KEY,
    session      TEXT    NOT NULL,
    hook         TEXT    NOT NULL,
    at           INTEGER NOT NULL,
    memories     INTEGER NOT NULL,
    tokens       INTEGER NOT NULL,
    milliseconds REAL    NOT NULL
);
CREATE INDEX injections_by_time ON injections (at);

-- What a session was given. `held` says that it still has it: a compaction throws it out of the agent's sight, and
-- then it may be given again. `used_at` is when the agent named, read or changed it after that.
CREATE TABLE given (
    session TEXT    NOT NULL,
    space   TEXT    NOT NULL,
    memory  TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    held    INTEGER NOT NULL,
    used_at INTEGER,
    PRIMARY KEY (session, memory, at)
) WITHOUT ROWID;
CREATE INDEX given_by_memory ON given (memory, at);
CREATE INDEX given_by_time ON given (at);

-- How far into a transcript, in bytes, the stop hook has read.
CREATE TABLE transcripts (
    path     TEXT    PRIMARY KEY,
    position INTEGER NOT NULL,
    at       INTEGER NOT NULL
) WITHOUT ROWID;

-- What was learned. `state` is waiting, accepted or rejected; of what is no longer waiting only the digest of its words
-- is left, so that nothing is learned twice, nor again after it was rejected. `supersedes` is the memory that it seems
-- to contradict, `rule` what it was learned by.
CREATE TABLE candidates (
    id         TEXT    PRIMARY KEY,
    digest     BLOB    NOT NULL,
    state      TEXT    NOT NULL,
    at         INTEGER NOT NULL,
    space      TEXT    NOT NULL,
    project    TEXT,
    session    TEXT,
    category   TEXT    NOT NULL,
    importance REAL    NOT NULL,
    rule       TEXT    NOT NULL,
    supersedes TEXT,
    content    TEXT    NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX candidates_by_digest ON candidates (space, digest);
CREATE INDEX candidates_by_state ON candidates (state, at);
"""


class Journal:
    def __init__(self, path: str, patience: float = PATIENCE_SECONDS) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None
        self._patience = patience

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """Change the journal, all or nothing."""
        with self._errors():
            connection = self._open()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        with self._errors():
            yield self._open()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            os.makedirs(os.path.dirname(os.path.abspath(self.path)), mode=0o700, exist_ok=True)
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            connection = sqlite3.connect(
                self.path, timeout=self._patience, isolation_level=None, check_same_thread=False
            )
            try:
                _prepare(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            raise StoreError(
                f"The journal at {self.path} cannot be used ({error}). It holds what hooks gave and learned, and may "
                "be moved away: then they start anew."
            ) from error


def _prepare(connection: sqlite3.Connection) -> None:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if not version:
        connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.execute("BEGIN IMMEDIATE")
        # Another process may have been faster: look again, now that no one else can write.
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if not version:
            for statement in _SCHEMA.split(";\n"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {VERSION}")
            version = VERSION
        connection.execute("COMMIT")
    if version != VERSION:
        raise sqlite3.DatabaseError("it is of another version of Recollect")
    # What was rejected is overwritten, not only marked as free.
    connection.execute("PRAGMA secure_delete = ON")
    # A power cut may lose the last lines of a journal, which no one was promised.
    connection.execute("PRAGMA synchronous = NORMAL")
