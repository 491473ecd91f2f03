"""A store in Postgres: many people's spaces in one database, as one caller sees it."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Final

from recollect.core.memory import Link, Memory
from recollect.core.ports import Count, EmbedQuery, Leg, Problem
from recollect.core.query import Query
from recollect.core.vectors import Vector
from recollect.stores.changes import later_of
from recollect.stores.postgres.budget import PostgresBudgets
from recollect.stores.postgres.concepts import PostgresConcepts
from recollect.stores.postgres.database import Database
from recollect.stores.postgres.dense import DenseLeg
from recollect.stores.postgres.lexical import PostgresWordsIndex
from recollect.stores.postgres.links import PostgresLinks
from recollect.stores.postgres.memories import PostgresMemories
from recollect.stores.postgres.settings import PostgresSettings
from recollect.stores.postgres.vectors import PostgresVectors
from recollect.stores.words import ExactLeg, LexicalLeg

_SPACES: Final = "SELECT key, id FROM spaces WHERE change > 0 ORDER BY id"
# One space at a time: no statement crosses them.
_COUNT: Final = """
SELECT (SELECT memories FROM spaces WHERE key = %(space)s),
       (SELECT COUNT(*) FROM memories WHERE space = %(space)s AND deleted_at IS NOT NULL),
       (SELECT COUNT(*) FROM memories WHERE space = %(space)s AND deleted_at IS NULL AND sensitive),
       (SELECT COUNT(*) FROM revisions WHERE space = %(space)s),
       (SELECT COUNT(*) FROM links WHERE space = %(space)s AND valid_to IS NULL),
       (SELECT COUNT(*) FROM outbox
        WHERE space = %(space)s AND vector_set = (SELECT key FROM vector_sets WHERE active))
"""
_COUNT_BY: Final = """
SELECT {column}, COUNT(*) FROM memories
WHERE space = %s AND deleted_at IS NULL AND {column} <> ''
GROUP BY {column} ORDER BY COUNT(*) DESC, {column} COLLATE "C"
"""


class PostgresStore:
    asks_in_turn = True

    def __init__(
        self,
        database: Database,
        language: str = "english",
        embed_query: EmbedQuery | None = None,
        recall_query: Callable[[str, str], Vector | None] = lambda _model, _text: None,
    ) -> None:
        self._database = database
        self._language = language
        self.memories = PostgresMemories(database, language)
        self.links = PostgresLinks(database)
        self.vectors = PostgresVectors(database)
        self.concepts = PostgresConcepts(database, language)
        self.budgets = PostgresBudgets(database)
        self.settings = PostgresSettings(database)
        words = PostgresWordsIndex(database)
        self._dense = DenseLeg(database, embed_query, recall_query)
        self.legs: Sequence[Leg] = (LexicalLeg(words, language), self._dense, ExactLeg(words, language))

    def reading(self, query: Query) -> AbstractContextManager[None]:
        def seconds() -> float:
            """Give the time that the query's embedding may take: none if nobody will ask for it."""
            settings = self.settings.read(query.scope.spaces[0])
            return settings.number("leg-timeout-ms") / 1000 if settings.number("weight.dense") else 0.0

        return self._dense.reading(query, seconds)

    def last_change(self, space: str) -> Memory | Link | None:
        return later_of(self.memories.last(space), self.links.last(space))

    def count(self) -> list[Count]:
        with self._database.read() as connection:
            counts = []
            for key, space in connection.execute(_SPACES).fetchall():
                totals = connection.execute(_COUNT, {"space": key}).fetchone() or ()
                by = [
                    dict(connection.execute(_COUNT_BY.format(column=column), (key,)).fetchall())
                    for column in ("category", "project")
                ]
                counts.append(Count(space, *totals, *by))
            return counts

    def size(self) -> int:
        with self._database.read() as connection:
            row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
        return int(row[0]) if row else 0

    def examine(self, progress: Callable[[int, int], None]) -> list[Problem]:
        from recollect.stores.postgres.examine import examine
        from recollect.stores.postgres.examine_concepts import examine_concepts
        from recollect.stores.postgres.examine_vectors import examine_vectors

        with self._database.read() as connection:
            return [
                *examine(connection, self._language, progress),
                *examine_vectors(connection),
                *examine_concepts(connection),
            ]

    def mend(self) -> None:
        from recollect.stores.postgres.examine import rebuild
        from recollect.stores.postgres.examine_concepts import mend_concepts
        from recollect.stores.postgres.examine_vectors import mend_vectors

        with self._database.write() as connection:
            rebuild(connection, self._language)
            mend_vectors(connection)
            mend_concepts(connection)

    def close(self) -> None:
        """Close the connections: the operator's are everybody's, a caller has none of their own."""
        if self._database.caller is None:
            self._database.close()
