"""Which document a memory was made from. Its id says nothing of that, so that no leg can find an answer by it."""

import sqlite3
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

_NAMESPACE: Final = uuid.UUID("6ba7b812-9dad-11d1-80b4-00c04fd430c8")
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS names (id TEXT PRIMARY KEY, document TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
"""
_COMPLETE: Final = "complete"


def id_of(document: str) -> str:
    """Give the id that a document's memory has in every space."""
    return str(uuid.uuid5(_NAMESPACE, document))


class Names:
    """A file beside a store; it also knows whether that store holds all it should."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.executescript(_SCHEMA)

    def keep(self, documents: Iterable[str]) -> None:
        self._connection.execute("BEGIN")
        self._connection.executemany(
            "INSERT OR IGNORE INTO names (id, document) VALUES (?, ?)", [(id_of(each), each) for each in documents]
        )
        self._connection.execute("COMMIT")

    def documents(self, ids: Sequence[str]) -> tuple[str, ...]:
        return tuple(
            self._connection.execute("SELECT document FROM names WHERE id = ?", (each,)).fetchone()[0] for each in ids
        )

    @property
    def complete(self) -> bool:
        return bool(self._connection.execute("SELECT 1 FROM about WHERE name = ?", (_COMPLETE,)).fetchone())

    def finish(self) -> None:
        self._connection.execute("INSERT OR IGNORE INTO about (name, value) VALUES (?, '')", (_COMPLETE,))

    def close(self) -> None:
        self._connection.close()
