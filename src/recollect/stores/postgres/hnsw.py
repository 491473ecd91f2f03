"""Indexes over the vectors of single large spaces: when one is due, and building or dropping it.

Within a space of ordinary size every vector is compared, which finds all. A large one gets an HNSW index of its own,
over its rows of one partition only. `vector_indexes` says which spaces have one, and the dense leg asks it.
Only the owner of the tables can make an index, and only outside of a transaction can it be made without holding up
those who write.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from psycopg import Connection, sql

from recollect.core.errors import StoreBusy
from recollect.stores.postgres.database import Database, Row

LARGE: Final = 20_000
"""Vectors of a space, from which on it gets an index: there it answers in half the time of an exact search, and finds
.99 of the best fifty (`benchmarks/million.py`)."""
LONGEST: Final = 4000
"""Numbers in a vector of halves that pgvector can index."""
_BYTES_AROUND: Final = 400
"""What a vector takes in the graph beside itself: its links at m 16, rounded up."""
_MOST_MEMORY: Final = 1 << 30

_log = logging.getLogger(__name__)

# The statistics of the space are near enough to see whether to look closer: they count sensitive memories too, which
# have no vector. A space that is gone has none.
_DUE: Final = """
SELECT v.key, v.dimension, i.space IS NOT NULL AS indexed
FROM vector_sets AS v
LEFT JOIN vector_indexes AS i ON i.vector_set = v.key AND i.space = %(space)s
LEFT JOIN spaces AS s ON s.key = %(space)s
WHERE v.dimension <= %(longest)s
AND CASE WHEN i.space IS NULL THEN s.memories >= %(large)s ELSE coalesce(s.memories, 0) < %(small)s END
ORDER BY v.active DESC, v.key
"""
_DUE_SPACES: Final = """
SELECT s.key FROM spaces AS s JOIN vector_sets AS v ON v.dimension <= %(longest)s
LEFT JOIN vector_indexes AS i ON i.space = s.key AND i.vector_set = v.key
WHERE i.space IS NULL AND s.memories >= %(large)s
UNION
SELECT i.space FROM vector_indexes AS i LEFT JOIN spaces AS s ON s.key = i.space
WHERE coalesce(s.memories, 0) < %(small)s
ORDER BY 1
"""

# A hash partition has its rows' condition as an expression, which Postgres itself can evaluate.
_PARTITION: Final = """
SELECT c.relname, pg_has_role(c.relowner, 'USAGE') FROM pg_inherits AS h
JOIN pg_class AS c ON c.oid = h.inhrelid
JOIN pg_partitioned_table AS p ON p.partrelid = h.inhparent
CROSS JOIN LATERAL regexp_match(pg_get_expr(c.relpartbound, c.oid), 'modulus (\\d+), remainder (\\d+)') AS part
WHERE h.inhparent = %(table)s::regclass
AND satisfies_hash_partition(h.inhparent, part[1]::integer, part[2]::integer, %(space)s::integer)
"""
# Vectors are of unit length, so that the inner product, the cheapest to compute, orders as the cosine does.
_CREATE: Final = sql.SQL(
    "CREATE INDEX CONCURRENTLY {} ON {} USING hnsw (vector halfvec_ip_ops) WITH (m = 16, ef_construction = 64) "
    "WHERE space = {}"
)
_IS_VALID: Final = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"


@dataclass(frozen=True, slots=True)
class Change:
    """What is to be done for the vectors of a space in one set."""

    vector_set: int
    dimension: int
    build: bool
    """Whether to build the index, or to drop it."""
    vectors: int = field(default=0, compare=False)
    """How many it is built of: the owner, who builds it, is behind the walls and sees none of them."""


def due(connection: Connection[Row], space: int, large: int = LARGE) -> list[Change]:
    """Say which indexes of a space are to be built or dropped, first those of the set that recalls use.

    One is dropped under half of the size it is built at, so that no space goes back and forth.
    """
    limits = {"space": space, "longest": LONGEST, "large": large, "small": large // 2}
    changes = []
    for vector_set, dimension, indexed in connection.execute(_DUE, limits).fetchall():
        vectors = 0 if indexed else _count(connection, vector_set, space)
        if indexed or vectors >= large:
            changes.append(Change(vector_set, dimension, build=not indexed, vectors=vectors))
    return changes


def due_spaces(connection: Connection[Row], large: int = LARGE) -> Sequence[int]:
    """Give the spaces that may have an index to be built or dropped: grown, shrunk, gone, or under another model."""
    limits = {"longest": LONGEST, "large": large, "small": large // 2}
    return [space for (space,) in connection.execute(_DUE_SPACES, limits)]


def carry_out(database: Database, space: int, large: int = LARGE) -> list[Change]:
    """Build and drop what is due for a space; give what was done."""
    with database.read() as connection:
        changes = due(connection, space, large)
    done = []
    for change in changes:
        if not change.build:
            # First nobody may count on it any more.
            _record(database, space, change)
        if _on_partition(database, space, change):
            done.append(change)
            if change.build:
                _record(database, space, change)
    return done


def _on_partition(database: Database, space: int, change: Change) -> bool:
    """Build or drop the index itself; say whether that could be done."""
    may: list[bool] = []

    def work(connection: Connection[Row]) -> None:
        table = f"vectors_{change.vector_set}"
        row = connection.execute(_PARTITION, {"table": table, "space": space}).fetchone()
        if row is None or not row[1]:
            _log.warning(
                "space %s stays without an HNSW index, and its recalls exact but slow: this login does not own the "
                "tables. Run the worker as the login that ran `recollect db upgrade`.",
                space,
            )
            return
        with _only_one(connection, row[0]):
            _make(connection, str(row[0]), f"{table}_s{space}", space, change)
        may.append(True)

    database.alone(work)
    return bool(may)


def _make(connection: Connection[Row], partition: str, name: str, space: int, change: Change) -> None:
    found = connection.execute(_IS_VALID, (name,)).fetchone()
    if found and found[0] and change.build:
        return
    if found:
        # It is no longer wanted, or a run that was broken off left it half built.
        connection.execute(sql.SQL("DROP INDEX CONCURRENTLY {}").format(sql.Identifier(name)))
    if change.build:
        with _room_to_build(connection, change.vectors, change.dimension):
            connection.execute(_CREATE.format(sql.Identifier(name), sql.Identifier(partition), sql.Literal(space)))


@contextmanager
def _only_one(connection: Connection[Row], partition: str) -> Iterator[None]:
    """Let one at a time work on a partition: two that build there would wait for each other."""
    key = ("recollect hnsw " + partition,)
    taken = connection.execute("SELECT pg_try_advisory_lock(hashtext(%s))", key).fetchone()
    if not (taken and taken[0]):
        raise StoreBusy(f"Another index on {partition} is being built. This one is built afterwards.")
    try:
        yield
    finally:
        connection.execute("SELECT pg_advisory_unlock(hashtext(%s))", key)


@contextmanager
def _room_to_build(connection: Connection[Row], vectors: int, dimension: int) -> Iterator[None]:
    """Give the build the memory for its whole graph: without, it takes many times as long."""
    wanted = min(_MOST_MEMORY, vectors * (2 * dimension + _BYTES_AROUND)) >> 10
    connection.execute(
        "SELECT set_config('maintenance_work_mem', greatest(%s, setting::bigint)::text, false) "
        "FROM pg_settings WHERE name = 'maintenance_work_mem'",
        (wanted,),
    )
    # Helpers would share that memory through /dev/shm, which containers keep small.
    connection.execute("SET max_parallel_maintenance_workers = 0; SET statement_timeout = 0; SET lock_timeout = 0")
    try:
        yield
    finally:
        if not connection.closed:
            connection.execute(
                "RESET maintenance_work_mem; RESET max_parallel_maintenance_workers; RESET statement_timeout; "
                "RESET lock_timeout"
            )


def _record(database: Database, space: int, change: Change) -> None:
    these = (space, change.vector_set)
    with database.write() as connection:
        if change.build:
            connection.execute("INSERT INTO vector_indexes VALUES (%s, %s) ON CONFLICT DO NOTHING", these)
        else:
            connection.execute("DELETE FROM vector_indexes WHERE space = %s AND vector_set = %s", these)


def _count(connection: Connection[Row], vector_set: int, space: int) -> int:
    row = connection.execute(f"SELECT count(*) FROM vectors_{vector_set} WHERE space = %s", (space,)).fetchone()
    return int(row[0]) if row else 0
