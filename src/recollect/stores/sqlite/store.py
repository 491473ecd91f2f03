"""A store in one SQLite file: no server, no setup, several processes at once."""

import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Final

from recollect.core.memory import Link, Memory
from recollect.core.ports import Count, EmbedQuery, Leg, Problem
from recollect.core.query import Query
from recollect.stores.changes import later_of
from recollect.stores.sqlite.budget import SqliteBudgets
from recollect.stores.sqlite.concepts import SqliteConcepts
from recollect.stores.sqlite.database import Database
from recollect.stores.sqlite.dense import DenseLeg
from recollect.stores.sqlite.lexical import SqliteWordsIndex
from recollect.stores.sqlite.links import SqliteLinks
from recollect.stores.sqlite.memories import SqliteMemories
from recollect.stores.sqlite.migrate import check_current, fingerprint_of, migrate
from recollect.stores.sqlite.settings import SqliteSettings
from recollect.stores.sqlite.vectors import SqliteVectors
from recollect.stores.words import ExactLeg, LexicalLeg

_COUNT: Final = """
SELECT s.id, s.memories,
       (SELECT COUNT(*) FROM memories AS m WHERE m.space = s.key AND m.deleted_at IS NOT NULL),
       (SELECT COUNT(*) FROM memories AS m WHERE m.space = s.key AND m.deleted_at IS NULL AND m.sensitive),
       (SELECT COUNT(*) FROM revisions AS r WHERE r.space = s.key),
       (SELECT COUNT(*) FROM links AS l WHERE l.space = s.key AND l.valid_to IS NULL),
       (SELECT COUNT(*) FROM outbox AS o
        WHERE o.space = s.key AND o.work = (SELECT 'vector ' || key FROM vector_sets WHERE active)),
       s.key
FROM spaces AS s ORDER BY s.id
"""
_COUNT_BY: Final = """
SELECT {column}, COUNT(*) FROM memories
WHERE space = ? AND deleted_at IS NULL AND {column} <> '' GROUP BY {column} ORDER BY COUNT(*) DESC, {column}
"""


class SqliteStore:
    def __init__(self, path: str, language: str = "english", embed_query: EmbedQuery | None = None) -> None:
        self._database = Database(path)
        self._language = language
        fingerprint = fingerprint_of(language)
        migrate(self._database, fingerprint, self._rebuild)
        self._database.check_current = lambda connection: check_current(connection, fingerprint)
        self.memories = SqliteMemories(self._database, language)
        self.links = SqliteLinks(self._database)
        self.vectors = SqliteVectors(self._database)
        self.concepts = SqliteConcepts(self._database, language)
        self.budgets = SqliteBudgets(self._database)
        self.settings = SqliteSettings(self._database)
        words = SqliteWordsIndex(self._database)
        self.legs: Sequence[Leg] = (
            LexicalLeg(words, language),
            DenseLeg(self._database, embed_query),
            ExactLeg(words, language),
        )

    asks_in_turn = False

    def reading(self, query: Query) -> AbstractContextManager[None]:  # noqa: ARG002 - each leg reads in a thread of its own
        return nullcontext()

    def last_change(self, space: str) -> Memory | Link | None:
        return later_of(self.memories.last(space), self.links.last(space))

    def count(self) -> list[Count]:
        with self._database.read() as connection:
            counts = []
            for *totals, key in connection.execute(_COUNT).fetchall():
                by = [dict(_count_by(connection, column, key)) for column in ("category", "project")]
                counts.append(Count(*totals, *by))
            return counts

    def size(self) -> int:
        return sum(
            os.path.getsize(self._database.path + ending)
            for ending in ("", "-wal")
            if os.path.exists(self._database.path + ending)
        )

    def examine(self, progress: Callable[[int, int], None]) -> list[Problem]:
        from recollect.stores.sqlite.examine import examine
        from recollect.stores.sqlite.examine_concepts import examine_concepts
        from recollect.stores.sqlite.examine_vectors import examine_vectors

        with self._database.read() as connection:
            return [
                *examine(connection, self._language, progress),
                *examine_vectors(connection),
                *examine_concepts(connection),
            ]

    def mend(self) -> None:
        from recollect.stores.sqlite.examine_concepts import mend_concepts
        from recollect.stores.sqlite.examine_vectors import mend_vectors

        with self._database.write() as connection:
            self._rebuild(connection)
            mend_vectors(connection)
            mend_concepts(connection)

    def close(self) -> None:
        self._database.close()

    def _rebuild(self, connection: sqlite3.Connection) -> None:
        from recollect.stores.sqlite.examine import rebuild

        rebuild(connection, self._language)


def _count_by(connection: sqlite3.Connection, column: str, space: int) -> list[tuple[str, int]]:
    return connection.execute(_COUNT_BY.format(column=column), (space,)).fetchall()
