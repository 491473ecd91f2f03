"""The words index in SQLite: the statements behind the legs of `stores/words.py`."""

import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from recollect.core.bm25 import K1, Statistics
from recollect.core.moments import moment_of
from recollect.core.query import Scope
from recollect.stores.sqlite.database import Database, time_limit
from recollect.stores.sqlite.rows import believed, from_blob, marks, narrow, to_blob
from recollect.stores.words import Found, SpaceWords

_VALID: Final = "p.valid_from <= ? AND (p.valid_to IS NULL OR p.valid_to > ?)"

_SPACE: Final = "SELECT key, change, memories, length FROM spaces WHERE id = ?"
# Only a look into the past has to count; the present is kept counted in `spaces`.
_STATISTICS_THEN: Final = """
SELECT COUNT(*), COALESCE(SUM(length), 0.0) FROM (
    SELECT length FROM memories WHERE space = ? AND updated_at <= ? AND deleted_at IS NULL
    UNION ALL
    SELECT length FROM revisions WHERE space = ? AND updated_at <= ? AND valid_to > ? AND deleted_at IS NULL
) AS believed
"""
_CONTAINING: Final = f"""
SELECT p.term, COUNT(*) FROM postings AS p
WHERE p.space = ? AND p.term IN ({{terms}}) AND {_VALID}
GROUP BY p.term
"""

# One run of the clustered index for each term, one group for each memory, and only the best are joined to their
# rows. What lies outside the scope is dropped before it is grouped, which is the dear part. Scores are rounded and
# ties broken by id, so that every store gives the same order.
_BEST: Final = f"""
WITH query (term, idf) AS (VALUES {{terms}}),
scored (memory, score, matched) AS (
    SELECT p.memory, {{score}}, SUM(q.idf)
    FROM query AS q JOIN postings AS p ON p.space = ? AND p.term = q.term
    WHERE {_VALID} {{within}}
    GROUP BY p.memory
),
best AS (
    SELECT memory, score, matched FROM scored WHERE score >= ? ORDER BY score DESC LIMIT ?
)
SELECT m.id, ROUND(b.score, 6) AS points, b.matched
FROM best AS b JOIN memories AS m ON m.key = b.memory
ORDER BY points DESC, m.id
"""
_BM25: Final = "SUM(q.idf * p.tf * ? / (p.tf + ? + ? * p.length))"
_PRESENCE: Final = "SUM(q.idf)"
# The plus keeps SQLite from looking up each memory of the scope under each term, which is slower by far.
_WITHIN: Final = "AND +p.memory IN (SELECT m.key FROM {memories} AS m WHERE m.space = ? AND {conditions})"
# What a scope that is a project and no more leaves out: the names before and behind it. What was forgotten has no
# postings that hold, so only a look into the past would have to ask for it.
_ELSEWHERE: Final = """
SELECT m.key FROM memories AS m WHERE m.space = ? AND m.project > '' AND m.project < ?
UNION ALL
SELECT m.key FROM memories AS m WHERE m.space = ? AND m.project > ?
"""
_COUNT_ELSEWHERE: Final = f"SELECT COUNT(*) FROM ({_ELSEWHERE} LIMIT ?)"
_NOT_ELSEWHERE: Final = f"AND +p.memory NOT IN ({_ELSEWHERE})"
# A query of stop words alone: they are in no index, so the newest texts themselves are read.
_NEWEST: Final = """
SELECT m.id, m.content FROM {memories} AS m
WHERE m.space = ? AND {conditions}
ORDER BY m.created_at DESC, m.id DESC LIMIT ?
"""
_OF_ONE: Final = f"""
SELECT p.term, p.tf, p.length FROM postings AS p
WHERE p.space = ? AND p.term IN ({{terms}}) AND p.memory = (SELECT key FROM memories WHERE space = ? AND id = ?)
AND {_VALID}
"""


class SqliteWordsIndex:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._counts = TermCounts()

    @contextmanager
    def read(self, seconds: float | None = None) -> "Iterator[SqliteWords]":
        with self._database.read() as connection, time_limit(connection, seconds):
            yield SqliteWords(connection, self._counts)


class SqliteWords:
    def __init__(self, connection: sqlite3.Connection, counts: "TermCounts") -> None:
        self._connection = connection
        self._counts = counts

    def space(self, space: str, scope: Scope) -> SpaceWords | None:
        row = self._connection.execute(_SPACE, (space,)).fetchone()
        if row is None:
            return None
        key, change, memories, length = row
        moment = moment_of(scope.as_of)
        if scope.as_of is not None:
            then = [key, moment, key, moment, moment]
            memories, length = self._connection.execute(_STATISTICS_THEN, then).fetchone()
        return SpaceWords(space, key, change, moment, Statistics(memories, length))

    def count(self, space: SpaceWords, terms: tuple[str, ...]) -> dict[str, int]:
        return self._counts.of(self._connection, space, terms)

    def best(
        self, space: SpaceWords, weights: Mapping[str, float], scope: Scope, *, bm25: bool, least: float, most: int
    ) -> list[Found]:
        within, narrowing = self._within(scope, space)
        sql = _BEST.format(
            terms=", ".join(["(?, ?)"] * len(weights)), score=_BM25 if bm25 else _PRESENCE, within=within
        )
        parameters: list[Any] = [part for pair in weights.items() for part in pair]
        parameters += [K1 + 1, *space.statistics.saturation] if bm25 else []
        parameters += [space.key, space.moment, space.moment, *narrowing, least, most]
        rows = self._connection.execute(sql, parameters)
        return [(from_blob(identity), points, matched) for identity, points, matched in rows]

    def _within(self, scope: Scope, space: SpaceWords) -> tuple[str, list[Any]]:
        """Give the condition that a posting lies in the scope, and its parameters.

        To list all memories of a scope takes longer than to search them, so of a project that holds most of its space
        the others are listed.
        """
        if not scope.narrows:
            return "", []
        if scope == Scope(scope.spaces, scope.project):
            elsewhere = [space.key, scope.project, space.key, scope.project]
            half = space.statistics.memories // 2
            (others,) = self._connection.execute(_COUNT_ELSEWHERE, [*elsewhere, half]).fetchone()
            if others < half:
                return _NOT_ELSEWHERE, elsewhere
        memories, times = believed(scope.as_of)
        conditions, parameters = narrow(scope)
        return _WITHIN.format(memories=memories, conditions=conditions), [*times, space.key, *parameters]

    def newest(self, space: SpaceWords, scope: Scope, most: int) -> Iterable[tuple[str, str]]:
        conditions, narrowing = narrow(scope)
        memories, times = believed(scope.as_of)
        rows = self._connection.execute(
            _NEWEST.format(memories=memories, conditions=conditions), [*times, space.key, *narrowing, most]
        )
        return ((from_blob(identity), content) for identity, content in rows)

    def of_one(self, space: SpaceWords, terms: Sequence[str], memory: str) -> list[tuple[str, float, float]]:
        return self._connection.execute(
            _OF_ONE.format(terms=marks(terms)),
            [space.key, *terms, space.key, to_blob(memory), space.moment, space.moment],
        ).fetchall()


class TermCounts:
    """How many memories hold each term of a query: both legs ask, one of them counts."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last: tuple[object, dict[str, int]] = (None, {})

    def of(self, connection: sqlite3.Connection, space: SpaceWords, terms: tuple[str, ...]) -> dict[str, int]:
        # Every write takes a new change number, so under the same one the counts are the same.
        asked = (space.key, space.change, space.moment, terms)
        with self._lock:
            if self._last[0] != asked:
                rows = connection.execute(
                    _CONTAINING.format(terms=marks(terms)), [space.key, *terms, space.moment, space.moment]
                )
                self._last = (asked, dict.fromkeys(terms, 0) | dict(rows.fetchall()))
            return self._last[1]
