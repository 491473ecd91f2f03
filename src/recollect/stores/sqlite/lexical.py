"""The two legs over the words index: `lexical` (BM25) and `exact` (the query's rare terms and identifiers).

Both ask the space how many memories hold each term, now or at the moment asked for, and then add up the terms
of each memory in one statement. No statistics cross spaces.
"""

import sqlite3
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from recollect.core.analysis import QueryTerms, analyse_query, share_common
from recollect.core.bm25 import K1, Statistics, idf, is_rare
from recollect.core.hits import Hit, Ref, merge_hits
from recollect.core.ports import Evidence
from recollect.core.query import Query, Scope
from recollect.stores.sqlite.database import Database, time_limit
from recollect.stores.sqlite.rows import believed, from_blob, marks, moment_of, narrow, to_blob

MOST_TERMS: Final = 512
"""Distinct terms of a query that are searched for; only a pasted document has more."""
MOST_READ: Final = 5000
"""Texts that a query of stop words alone reads: a tenth of a second, and all that most people have."""

_VALID: Final = "p.valid_from <= ? AND (p.valid_to IS NULL OR p.valid_to > ?)"

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
SELECT m.id, ROUND(CAST(b.score AS NUMERIC), 6) AS points, b.matched
FROM best AS b JOIN memories AS m ON m.key = b.memory
ORDER BY points DESC, m.id
"""
_ROUNDING: Final = 0.000001
_ALL: Final = (1 << 31) - 1
_BM25: Final = "SUM(q.idf * p.tf * ? / (p.tf + ? + ? * p.length))"
_PRESENCE: Final = "SUM(q.idf)"
# The plus keeps SQLite from looking up each memory of the scope under each term, which is slower by far.
_WITHIN: Final = "AND +p.memory IN (SELECT m.key FROM {memories} AS m WHERE m.space = ? AND {conditions})"
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


class LexicalLeg:
    """Words, by BM25."""

    name = "lexical"
    least = 0.0

    def __init__(self, database: Database, language: str, counts: "TermCounts") -> None:
        self._database = database
        self._language = language
        self._counts = counts

    def search(self, query: Query, depth: int, seconds: float) -> Sequence[Hit]:
        terms = analyse_query(query.text, self._language)
        with self._database.read() as connection, time_limit(connection, seconds):
            return merge_hits(
                [self._search_space(connection, query, terms, space, depth) for space in query.scope.spaces],
                depth,
            )

    def weigh(self, query: Query, ref: Ref) -> Evidence:
        terms = analyse_query(query.text, self._language)
        if terms.common:
            return Evidence("the query has only common words, which were looked for in the text as it stands")
        nothing = Evidence("it holds none of the query's words")
        with self._database.read() as connection:
            space = _Space.of(connection, ref.space, query.scope)
            if space is None:
                return nothing
            weights = self._weights(connection, space, terms)
            if not weights:
                return nothing
            rows = connection.execute(
                _OF_ONE.format(terms=marks(tuple(weights))),
                [space.key, *weights, space.key, to_blob(ref.id), space.moment, space.moment],
            ).fetchall()
        if not rows:
            return nothing
        base, slope = space.statistics.saturation
        parts = tuple((term, self._points(weights[term], tf, base + slope * length)) for term, tf, length in rows)
        share = sum(weights[term] for term, _, _ in rows) / sum(weights.values())
        return Evidence(
            f"it holds {len(rows)} of the query's {len(weights)} words, {share:.0%} of their weight",
            tuple(sorted(parts, key=lambda part: -part[1])),
        )

    def _search_space(
        self, connection: sqlite3.Connection, query: Query, terms: QueryTerms, space_id: str, depth: int
    ) -> list[Hit]:
        space = _Space.of(connection, space_id, query.scope)
        if space is None:
            return []
        if terms.common:
            return self._search_literally(connection, query, terms.common, space, depth)
        weights = self._weights(connection, space, terms)
        if not weights:
            return []
        expression, factors = self._expression(space.statistics)
        within, narrowing = _within(query.scope, space.key)
        # The idf of the first row gives the column its type where parameters have none of their own.
        values = ", ".join(["(?, CAST(? AS DOUBLE PRECISION))"] * len(weights))
        sql = _BEST.format(terms=values, score=expression, within=within)
        parameters: list[Any] = [part for pair in weights.items() for part in pair]
        parameters += [*factors, space.key, space.moment, space.moment, *narrowing]
        # There is room for what the query excludes, so that excluding never starves the result, and for one more,
        # which tells whether there is a tie across the cut. Then all that tie have to show their ids.
        room = depth + len(query.exclude)
        rows = connection.execute(sql, [*parameters, 0.0, room + 1]).fetchall()
        if len(rows) > room and rows[room][1] == rows[room - 1][1]:
            rows = connection.execute(sql, [*parameters, rows[room][1] - _ROUNDING, _ALL]).fetchall()
        total = sum(weights.values())
        hits = [Hit(Ref(space_id, from_blob(row[0])), row[1], min(1.0, row[2] / total)) for row in rows]
        return _without(query.exclude, hits)[:depth]

    def _search_literally(
        self, connection: sqlite3.Connection, query: Query, words: Sequence[str], space: "_Space", depth: int
    ) -> list[Hit]:
        conditions, narrowing = narrow(query.scope)
        memories, times = believed(query.scope.as_of)
        rows = connection.execute(
            _NEWEST.format(memories=memories, conditions=conditions),
            [*times, space.key, *narrowing, MOST_READ + len(query.exclude)],
        )
        shares = ((from_blob(identity), share_common(words, content)) for identity, content in rows)
        hits = [Hit(Ref(space.id, identity), share, share) for identity, share in shares if share]
        return merge_hits([_without(query.exclude, hits)], depth)

    def _weights(self, connection: sqlite3.Connection, space: "_Space", terms: QueryTerms) -> dict[str, float]:
        """Give the terms to look for and their idf; one that no memory holds was asked for all the same."""
        wanted = terms.terms[:MOST_TERMS]
        if not wanted:
            return {}
        return self._choose(self._counts.of(connection, space, wanted), terms, space.statistics.memories)

    def _choose(self, containing: Mapping[str, int], terms: QueryTerms, memories: int) -> dict[str, float]:  # noqa: ARG002
        return {term: idf(memories, count) for term, count in containing.items()}

    def _expression(self, statistics: Statistics) -> tuple[str, list[float]]:
        return _BM25, [K1 + 1, *statistics.saturation]

    def _points(self, weight: float, tf: float, damping: float) -> float:
        return weight * tf * (K1 + 1) / (tf + damping)


class ExactLeg(LexicalLeg):
    """The query's rare terms and identifiers, by whether they are there at all."""

    name = "exact"

    def _search_literally(self, *_: object) -> list[Hit]:
        return []

    def _choose(self, containing: Mapping[str, int], terms: QueryTerms, memories: int) -> dict[str, float]:
        return {
            term: idf(memories, count)
            for term, count in containing.items()
            if term in terms.identifiers or is_rare(memories, count)
        }

    def _expression(self, statistics: Statistics) -> tuple[str, list[float]]:  # noqa: ARG002
        return _PRESENCE, []

    def _points(self, weight: float, tf: float, damping: float) -> float:  # noqa: ARG002
        return weight


class TermCounts:
    """How many memories hold each term of a query: both legs ask, one of them counts."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last: tuple[object, dict[str, int]] = (None, {})

    def of(self, connection: sqlite3.Connection, space: "_Space", terms: tuple[str, ...]) -> dict[str, int]:
        # Every write takes a new change number, so under the same one the counts are the same.
        asked = (space.key, space.change, space.moment, terms)
        with self._lock:
            if self._last[0] != asked:
                rows = connection.execute(
                    _CONTAINING.format(terms=marks(terms)), [space.key, *terms, space.moment, space.moment]
                )
                self._last = (asked, dict.fromkeys(terms, 0) | dict(rows.fetchall()))
            return self._last[1]


@dataclass(frozen=True, slots=True)
class _Space:
    """A space as a query finds it: its key, its statistics, and the moment they are of."""

    id: str
    key: int
    change: int
    moment: int
    statistics: Statistics

    @classmethod
    def of(cls, connection: sqlite3.Connection, space_id: str, scope: Scope) -> "_Space | None":
        row = connection.execute(_SPACE, (space_id,)).fetchone()
        if row is None:
            return None
        key, change, memories, length = row
        moment = moment_of(scope.as_of)
        if scope.as_of is not None:
            memories, length = connection.execute(_STATISTICS_THEN, [key, moment, key, moment, moment]).fetchone()
        return cls(space_id, key, change, moment, Statistics(memories, length))


_SPACE: Final = "SELECT key, change, memories, length FROM spaces WHERE id = ?"
# Only a look into the past has to count; the present is kept counted in `spaces`.
_STATISTICS_THEN: Final = """
SELECT COUNT(*), COALESCE(SUM(length), 0.0) FROM (
    SELECT length FROM memories WHERE space = ? AND updated_at <= ? AND deleted_at IS NULL
    UNION ALL
    SELECT length FROM revisions WHERE space = ? AND updated_at <= ? AND valid_to > ? AND deleted_at IS NULL
) AS believed
"""


def _within(scope: Scope, space: int) -> tuple[str, list[Any]]:
    if not scope.narrows:
        return "", []
    memories, times = believed(scope.as_of)
    conditions, parameters = narrow(scope)
    return _WITHIN.format(memories=memories, conditions=conditions), [*times, space, *parameters]


def _without(exclude: frozenset[str], hits: list[Hit]) -> list[Hit]:
    return [hit for hit in hits if hit.ref.id not in exclude]
