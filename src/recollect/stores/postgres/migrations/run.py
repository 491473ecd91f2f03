"""How a migration runs SQL: whole files, and indexes that are built while others read and write."""

import time
from importlib import resources
from typing import Any, Final, cast

from alembic import op
from psycopg import Connection
from psycopg.errors import LockNotAvailable

PARTITIONS: Final = 16
LOCK_SECONDS: Final = 0.2
"""How long others are made to wait at a time."""


def run_file(name: str) -> None:
    run(resources.files(__package__).joinpath("versions", name).read_text(encoding="utf-8"))


def run(sql: str) -> None:
    """Run statements as they stand: without parameters psycopg leaves every sign alone and takes several at once."""
    _connection().execute(sql.encode())


def create_index_concurrently(name: str, table: str, definition: str) -> None:
    """Index a partitioned table without holding up its writers.

    Postgres cannot do that to the parent: each partition gets its index by itself, and the parent's, made empty,
    becomes valid when all are attached. What a broken-off run left behind is made again.
    """
    with op.get_context().autocommit_block():
        _run_politely(f"CREATE INDEX IF NOT EXISTS {name} ON ONLY {table} {definition}")
        for part in range(PARTITIONS):
            of_part = f"{name}_p{part}"
            if not _is_valid(of_part):
                run(f"DROP INDEX CONCURRENTLY IF EXISTS {of_part}")
                run(f"CREATE INDEX CONCURRENTLY {of_part} ON {table}_p{part} {definition}")
            if not _is_attached(of_part):
                _run_politely(f"ALTER INDEX {name} ATTACH PARTITION {of_part}")


def _run_politely(sql: str) -> None:
    """Run what takes a moment but needs a lock, behind which everybody else would have to wait.

    Where somebody holds the table for longer, as an import does, it steps back, lets the others by, and tries again.
    """
    run(f"SET lock_timeout = {round(LOCK_SECONDS * 1000)}")
    try:
        while True:
            try:
                run(sql)
            except LockNotAvailable:
                time.sleep(LOCK_SECONDS)
            else:
                return
    finally:
        if not _connection().closed:
            run("RESET lock_timeout")


def _is_valid(index: str) -> bool:
    return _asks("SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(%s) AND indisvalid", index)


def _is_attached(index: str) -> bool:
    return _asks("SELECT 1 FROM pg_inherits WHERE inhrelid = to_regclass(%s)", index)


def _asks(sql: str, *parameters: str) -> bool:
    return _connection().execute(sql, parameters).fetchone() is not None


def _connection() -> Connection[Any]:
    return cast("Connection[Any]", op.get_bind().connection.driver_connection)
