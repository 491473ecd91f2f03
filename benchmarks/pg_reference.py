"""The reference: what a recall and a write ask of Postgres at the least, bare on one connection.

BM25 and exact dense search over the very rows of the store, and the insert of a memory's rows. No walls, no history, no
scope, no ties, no fusion: as lean as we could make it, so that whatever the product adds shows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import psycopg

from recollect.core.analysis import analyse_query, weigh_terms
from recollect.core.bm25 import K1, B
from recollect.core.memory import Memory
from recollect.core.moments import to_micros
from recollect.stores.lives import length_of
from recollect.stores.rows import STATE, to_row

DEPTH: Final = 100
Found = list[tuple[str, float]]

# Prepared once and never planned again: planning takes a millisecond, as each table has sixteen partitions.
_SETTINGS: Final = (
    "SET plan_cache_mode = force_generic_plan",
    "SET max_parallel_workers_per_gather = 0",
    "SET jit = off",
)
_SPACE: Final = "SELECT key FROM spaces WHERE id = %s"
# One run of the covering index for each term gives how many memories hold it and its part of each score. The id is
# looked up for the best alone: a join would be planned for any number.
_WORDS: Final = f"""
WITH p AS MATERIALIZED (
    SELECT term, memory, tf, length FROM postings
    WHERE space = %(space)s AND term = ANY (%(terms)s) AND valid_to IS NULL
), q AS (
    SELECT term, ln(1 + (s.memories - count(*) + 0.5) / (count(*) + 0.5)::double precision) AS idf,
           {K1 * B} * s.memories / s.length AS slope
    FROM p, (SELECT memories::double precision, length FROM spaces WHERE key = %(space)s) AS s
    GROUP BY term, s.memories, s.length
)
SELECT (SELECT id::text FROM memories WHERE space = %(space)s AND key = b.memory), b.score
FROM (
    SELECT memory, sum(idf * tf * {K1 + 1} / (tf + {K1 * (1 - B)} + slope * length)) AS score
    FROM p JOIN q USING (term) GROUP BY memory ORDER BY score DESC LIMIT {DEPTH}
) AS b
"""
_MEANING: Final = f"""
SELECT (SELECT id::text FROM memories WHERE space = %(space)s AND key = b.memory), -b.distance
FROM (
    SELECT memory, vector <#> %(vector)s::halfvec AS distance FROM {{vectors}}
    WHERE space = %(space)s ORDER BY distance LIMIT {DEPTH}
) AS b
"""
_COUNT: Final = """
UPDATE spaces SET change = change + 1, memories = memories + 1, length = length + %s WHERE key = %s RETURNING change
"""
_MEMORY: Final = f"""
INSERT INTO memories (space, key, change, length, indexed_at, {STATE})
VALUES (%s, %s, %s, %s, %s, {", ".join(["%s"] * len(STATE.split(",")))})
"""
_POSTINGS: Final = """
INSERT INTO postings (space, memory, valid_from, length, term, tf)
SELECT %s, %s, %s, %s, t.term, t.tf FROM unnest(%s::text[], %s::real[]) AS t (term, tf)
"""
_OUTBOX: Final = "INSERT INTO outbox (space, vector_set, memory, change) VALUES (%s, %s, %s, %s)"
# At most one job that waits for each space: what is written behind another finds its job there.
_JOB: Final = """
INSERT INTO procrastinate_jobs (queue_name, task_name, priority, lock, queueing_lock, args)
VALUES ('recollect', 'embed', 0, %(lock)s, %(lock)s, '{}') ON CONFLICT (queueing_lock) WHERE status = 'todo' DO NOTHING
"""
# The line of the log that a write by its owner leaves.
_LOG: Final = """
INSERT INTO audit (space, at, key, person, deed, memories) VALUES (%s, %s, 'key', %s, 'remembered', ARRAY[%s]::uuid[])
"""


@dataclass(frozen=True, slots=True)
class Reference:
    connection: psycopg.Connection[Any]
    vector_set: int
    person: str = ""
    """Who writes; nobody is not logged."""

    @classmethod
    def open(cls, url: str, vector_set: int) -> "Reference":
        connection = psycopg.connect(url, autocommit=True)
        for setting in _SETTINGS:
            connection.execute(setting)
        return cls(connection, vector_set)

    def key_of(self, space: str) -> int:
        row = self.connection.execute(_SPACE, (space,)).fetchone()
        assert row is not None
        return int(row[0])

    def recall(self, space: int, text: str, vector: str) -> tuple[Found, Found]:
        return self.words(space, analyse_query(text).terms), self.meaning(space, vector)

    def words(self, space: int, terms: Sequence[str]) -> Found:
        return self.connection.execute(_WORDS, {"space": space, "terms": list(terms)}, prepare=True).fetchall()

    def meaning(self, space: int, vector: str) -> Found:
        """Find the best by a query in halves: one product a row, off in the fourth digit."""
        statement = _MEANING.format(vectors=f"vectors_{self.vector_set}")
        return self.connection.execute(statement, {"space": space, "vector": vector}, prepare=True).fetchall()

    def insert(self, space: int, memory: Memory) -> None:
        """Write a memory's rows in one transaction, sent without waiting for each answer."""
        terms = weigh_terms(memory)
        length, since = length_of(terms), to_micros(memory.updated_at)
        run = self.connection.execute
        with self.connection.transaction():
            row = run(_COUNT, (length, space), prepare=True).fetchone()
            assert row is not None
            change = row[0]
            with self.connection.pipeline():
                run(_MEMORY, (space, change, change, length, since, *to_row(memory)), prepare=True)
                run(_POSTINGS, (space, change, since, length, list(terms), list(terms.values())), prepare=True)
                run(_OUTBOX, (space, self.vector_set, change, change), prepare=True)
                run(_JOB, {"lock": f"embed {space}"}, prepare=True)
                if self.person:
                    run(_LOG, (space, since, self.person, memory.id), prepare=True)

    def with_log(self, person: str) -> "Reference":
        return replace(self, person=person)

    def close(self) -> None:
        self.connection.close()
