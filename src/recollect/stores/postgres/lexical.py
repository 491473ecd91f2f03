"""The words index in Postgres: the statements behind the legs of `stores/words.py`."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from psycopg import Connection

from recollect.core.bm25 import K1, Statistics
from recollect.core.memory import is_id
from recollect.core.moments import moment_of
from recollect.core.query import Scope
from recollect.stores.postgres.database import Database, Row
from recollect.stores.postgres.rows import believed, narrow
from recollect.stores.words import Found, SpaceWords

_SPACE: Final = "SELECT key, change, memories, length FROM spaces WHERE id = %s"
# Only a look into the past has to count; the present is kept counted in `spaces`.
_STATISTICS_THEN: Final = """
SELECT COUNT(*), COALESCE(SUM(length::double precision), 0.0) FROM (
    SELECT length FROM memories WHERE space = %s AND updated_at <= %s AND deleted_at IS NULL
    UNION ALL
    SELECT length FROM revisions WHERE space = %s AND updated_at <= %s AND valid_to > %s AND deleted_at IS NULL
) AS believed
"""
_VALID: Final = "p.valid_from <= %s AND (p.valid_to IS NULL OR p.valid_to > %s)"
_CONTAINING: Final = f"""
SELECT p.term, COUNT(*) FROM postings AS p WHERE p.space = %s AND p.term = ANY (%s) AND {_VALID} GROUP BY p.term
"""
# One run of the covering index for each term, one group for each memory; only the best are looked up in their table:
# OFFSET 0 keeps the planner, who does not know how few they are, from reading all of it instead.
# What lies outside the scope is dropped before it is grouped, which is the dear part. Scores are rounded and ties
# broken by id, so that every store gives the same order.
_BEST: Final = f"""
WITH scored AS (
    SELECT p.memory, {{score}} AS score, SUM(q.idf) AS matched
    FROM unnest(%s::text[], %s::double precision[]) AS q (term, idf)
    JOIN postings AS p ON p.space = %s AND p.term = q.term COLLATE "C"
    WHERE {_VALID} {{within}}
    GROUP BY p.memory
),
best AS (
    SELECT memory, score, matched FROM scored WHERE score >= %s ORDER BY score DESC LIMIT %s
)
SELECT m.id::text, ROUND(b.score::numeric, 6)::double precision AS points, b.matched
FROM best AS b CROSS JOIN LATERAL (SELECT id FROM memories WHERE space = %s AND key = b.memory OFFSET 0) AS m
ORDER BY points DESC, m.id
"""
_BM25: Final = """
SUM(q.idf * p.tf * %s::double precision / (p.tf + %s::double precision + %s::double precision * p.length))
"""
_PRESENCE: Final = "SUM(q.idf)"
_WITHIN: Final = "AND p.memory IN (SELECT m.key FROM {memories} AS m WHERE m.space = %s AND {conditions})"
# A query of stop words alone: they are in no index, so the newest texts themselves are read.
_NEWEST: Final = """
SELECT m.id::text, m.content FROM {memories} AS m
WHERE m.space = %s AND {conditions}
ORDER BY m.created_at DESC, m.id DESC LIMIT %s
"""
_OF_ONE: Final = f"""
SELECT p.term, p.tf, p.length FROM postings AS p
WHERE p.space = %s AND p.term = ANY (%s) AND p.memory = (SELECT key FROM memories WHERE space = %s AND id = %s)
AND {_VALID}
"""


class PostgresWordsIndex:
    def __init__(self, database: Database) -> None:
        self._database = database

    @contextmanager
    def read(self, seconds: float | None = None) -> "Iterator[PostgresWords]":
        with self._database.leg(seconds) as connection:
            yield PostgresWords(connection, self._database.noted)


class PostgresWords:
    def __init__(self, connection: Connection[Row], noted: dict[Any, Any]) -> None:
        self._connection = connection
        self._noted = noted

    def space(self, space: str, scope: Scope) -> SpaceWords | None:
        found: dict[tuple[str, int], SpaceWords | None] = self._noted.setdefault("spaces", {})
        moment = moment_of(scope.as_of)
        if (space, moment) not in found:
            found[space, moment] = self._find(space, scope, moment)
        return found[space, moment]

    def _find(self, space: str, scope: Scope, moment: int) -> SpaceWords | None:
        row = self._connection.execute(_SPACE, (space,)).fetchone()
        if row is None:
            return None
        key, change, memories, length = row
        if scope.as_of is not None:
            then = self._connection.execute(_STATISTICS_THEN, (key, moment, key, moment, moment)).fetchone()
            memories, length = then or (0, 0.0)
        return SpaceWords(space, key, change, moment, Statistics(memories, length))

    def count(self, space: SpaceWords, terms: tuple[str, ...]) -> dict[str, int]:
        """Count for the first leg that asks; the other one finds it noted."""
        counted: dict[tuple[int, int, tuple[str, ...]], dict[str, int]] = self._noted.setdefault("terms", {})
        asked = (space.key, space.moment, terms)
        if asked not in counted:
            rows = self._connection.execute(_CONTAINING, (space.key, list(terms), space.moment, space.moment))
            counted[asked] = dict.fromkeys(terms, 0) | dict(rows.fetchall())
        return counted[asked]

    def best(
        self, space: SpaceWords, weights: Mapping[str, float], scope: Scope, *, bm25: bool, least: float, most: int
    ) -> list[Found]:
        within, narrowing = _within(scope, space.key)
        parameters: list[Any] = [K1 + 1, *space.statistics.saturation] if bm25 else []
        parameters += [list(weights), list(weights.values()), space.key, space.moment, space.moment, *narrowing]
        rows = self._connection.execute(
            _BEST.format(score=_BM25 if bm25 else _PRESENCE, within=within), [*parameters, least, most, space.key]
        )
        return rows.fetchall()

    def newest(self, space: SpaceWords, scope: Scope, most: int) -> Iterable[tuple[str, str]]:
        conditions, narrowing = narrow(scope)
        memories, times = believed(scope.as_of)
        return self._connection.execute(
            _NEWEST.format(memories=memories, conditions=conditions), [*times, space.key, *narrowing, most]
        ).fetchall()

    def of_one(self, space: SpaceWords, terms: Sequence[str], memory: str) -> list[tuple[str, float, float]]:
        if not is_id(memory):
            return []
        return self._connection.execute(
            _OF_ONE, (space.key, list(terms), space.key, memory, space.moment, space.moment)
        ).fetchall()


def _within(scope: Scope, space: int) -> tuple[str, list[Any]]:
    if not scope.narrows:
        return "", []
    memories, times = believed(scope.as_of)
    conditions, parameters = narrow(scope)
    return _WITHIN.format(memories=memories, conditions=conditions), [*times, space, *parameters]
