"""Reads a table of another system's SQLite file, without writing to it."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any
from urllib.parse import quote

from recollect.core.errors import Refused


def read_table(path: str, table: str) -> Iterator[dict[str, Any]]:
    """Give the rows of a table by their columns."""
    try:
        with closing(_open(path)) as connection:
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
    # Merely reading leaves files beside one that nobody has open, unless SQLite is told that it does not change.
    how = "mode=ro" if os.path.exists(f"{path}-wal") else "immutable=1"
    connection = sqlite3.connect(f"file:{quote(path)}?{how}", uri=True)
    # Text that is not UTF-8 is told from the rest by what it cannot be decoded to.
    connection.text_factory = lambda octets: octets.decode("utf-8", "surrogateescape")
    return connection
