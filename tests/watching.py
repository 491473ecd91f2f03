"""Looks into a test's database past our own code: what it holds, and who waits there; and stands in the way."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from making import wait_until

_WAITING = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock' AND state = 'active'
"""


def ask(url: str, statement: str, *parameters: object) -> list[tuple[Any, ...]]:
    """Ask as the superuser, whom no wall holds up."""
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(statement.encode(), parameters or None)
        return cursor.fetchall() if cursor.description else []


@contextmanager
def held(url: str, statement: str, *parameters: object) -> Iterator[None]:
    """Hold what a statement locks, in a transaction of its own, until the end of the block."""
    with psycopg.connect(url) as connection:
        connection.execute(statement.encode(), parameters or None)
        yield
        connection.commit()


def await_waiting(url: str, count: int) -> None:
    """Wait until so many statements of the database stand before a lock."""
    with psycopg.connect(url, autocommit=True) as connection:
        wait_until(lambda: connection.execute(_WAITING).fetchall() == [(count,)])
