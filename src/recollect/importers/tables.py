"""Reads a table of another system's SQLite file, without writing to it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any
from urllib.parse import quote

from recollect.core.errors import Refused


def read_table(path: str, table: str) -> Iterator[dict[str, Any]]:
    """Give the rows of a table by their columns; a file that has no such table has no rows."""
    try:
        with closing(_open(path)) as connection:
            if table not in _tables(connection):
                return
            rows = connection.execute(f'SELECT * FROM "{table}" ORDER BY rowid')
            names = [column[0] for column in rows.description]
            yield from (dict(zip(names, row, strict=True)) for row in rows)
    except sqlite3.Error as error:
        raise Refused(f"{path} cannot be read as a SQLite file: {error}.") from None


def columns_of(path: str, table: str) -> frozenset[str]:
    try:
        with closing(_open(path)) as connection:
            return frozenset(row[1] for row in connection.execute(f'PRAGMA table_info("{table}")'))
    except sqlite3.Error:
        return frozenset()


def _open(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True)
    # Text that is not UTF-8 is told from the rest by what it cannot be decoded to.
    connection.text_factory = lambda octets: octets.decode("utf-8", "surrogateescape")
    return connection


def _tables(connection: sqlite3.Connection) -> set[str]:
    return {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
