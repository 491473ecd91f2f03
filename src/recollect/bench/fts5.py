"""A common words leg, for comparison: SQLite's FTS5 as it comes, all words required, any word if that finds nothing.

It stands in for the product's words leg in the arm `seeds`, the recipe that the project started from.
"""

import re
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from recollect.core.hits import Evidence, Hit, Ref, merge_hits
from recollect.core.ports import Store
from recollect.core.query import Query

_WORDS: Final = re.compile(r"\w+")
_BATCH: Final = 500
# A table a space, so that statistics are a space's own here too. Its number is its place in `spaces`.
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS spaces (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, complete INTEGER NOT NULL)
"""
_TABLE: Final = "CREATE VIRTUAL TABLE {table} USING fts5(content, id UNINDEXED, place UNINDEXED)"
_FIND: Final = "SELECT id, -rank FROM {table} WHERE {table} MATCH ? {before} ORDER BY rank, rowid LIMIT ?"
_BEFORE: Final = "AND place < ?"


class Fts5Leg:
    """Stands under the name of the words leg, whose weight and floor it takes."""

    name = "lexical"
    least = 0.0

    def __init__(self, store: Store, path: Path) -> None:
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._connection.execute("PRAGMA synchronous = OFF")
        self._connection.execute(_SCHEMA)
        for count in store.count():
            self._build(store, count.space)
        self._tables: dict[str, str] = {
            space: _table(number) for number, space in self._connection.execute("SELECT number, id FROM spaces")
        }

    def search(self, query: Query, depth: int, seconds: float) -> Sequence[Hit]:  # noqa: ARG002 - fast enough
        words = [f'"{word}"' for word in _WORDS.findall(query.text)]
        with self._lock:
            return merge_hits([self._search_space(space, words, query, depth) for space in query.scope.spaces], depth)

    def weigh(self, query: Query, ref: Ref) -> Evidence:  # noqa: ARG002 - nobody asks an arm to explain itself
        return Evidence("found by FTS5")

    def close(self) -> None:
        self._connection.close()

    def _search_space(self, space: str, words: Sequence[str], query: Query, depth: int) -> list[Hit]:
        table = self._tables.get(space)
        if table is None or not words:
            return []
        before = query.scope.before
        sql = _FIND.format(table=table, before="" if before is None else _BEFORE)
        narrowing = [] if before is None else [before]
        for joint in (" AND ", " OR "):
            found = self._connection.execute(sql, [joint.join(words), *narrowing, depth + len(query.exclude)])
            if rows := found.fetchall():
                return [Hit(Ref(space, each), score, 1.0) for each, score in rows if each not in query.exclude]
        return []

    def _build(self, store: Store, space: str) -> None:
        row = self._connection.execute("SELECT number, complete FROM spaces WHERE id = ?", (space,)).fetchone()
        if row is None:
            row = self._connection.execute(
                "INSERT INTO spaces (id, complete) VALUES (?, 0) RETURNING number, complete", (space,)
            ).fetchone()
        number, complete = row
        if complete:
            return
        table = _table(number)
        self._connection.execute("BEGIN")
        self._connection.execute(f"DROP TABLE IF EXISTS {table}")
        self._connection.execute(_TABLE.format(table=table))
        refs = list(store.memories.walk([space]))
        for start in range(0, len(refs), _BATCH):
            found = store.memories.get(refs[start : start + _BATCH])
            self._connection.executemany(
                f"INSERT INTO {table} (content, id, place) VALUES (?, ?, ?)",
                [(found[ref].content, ref.id, found[ref].place) for ref in refs[start : start + _BATCH]],
            )
        self._connection.execute("UPDATE spaces SET complete = 1 WHERE number = ?", (number,))
        self._connection.execute("COMMIT")


def _table(number: int) -> str:
    return f"space_{number}"
