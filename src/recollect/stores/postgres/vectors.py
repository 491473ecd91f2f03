"""Vector sets: making one beside the active one, filling it from its queue, switching in one step."""

from collections.abc import Sequence
from typing import Any, Final

from psycopg import Connection

from recollect.core.context import TURNS_BEFORE
from recollect.core.errors import EmbedderError, NotFound, Refused, StoreError
from recollect.core.memory import Memory
from recollect.core.ports import VectorSet, Waiting
from recollect.core.vectors import unpack
from recollect.stores.postgres.database import Database, Row
from recollect.stores.postgres.rows import STATE_OF_M_AS_READ
from recollect.stores.postgres.spaces import LOCK_SPACES
from recollect.stores.rows import from_row

_QUEUE_ALL: Final = """
WITH queued AS (
    INSERT INTO outbox (space, vector_set, memory, change)
    SELECT m.space, %(set)s, m.key, %(change)s FROM memories AS m
    WHERE m.space = %(space)s AND m.deleted_at IS NULL AND NOT m.sensitive
    RETURNING 1
)
SELECT recollect_defer('embed', %(space)s) WHERE EXISTS (SELECT FROM queued)
"""
_NEXT: Final = f"""
SELECT {STATE_OF_M_AS_READ}, s.key, s.id, o.change
FROM outbox AS o
JOIN spaces AS s ON s.key = o.space
JOIN memories AS m ON m.space = o.space AND m.key = o.memory
WHERE o.vector_set = %s {{of_space}}
ORDER BY o.space, o.memory LIMIT %s
"""
# What was said before each of several memories of one space.
_BEFORE: Final = f"""
SELECT w.number, {STATE_OF_M_AS_READ}
FROM unnest(%s::integer[], %s::text[], %s::text[], %s::integer[]) AS w (number, project, session, place)
JOIN memories AS m ON m.space = %s AND m.project = w.project AND m.session = w.session
AND m.place >= w.place - %s AND m.place < w.place AND m.deleted_at IS NULL AND NOT m.sensitive
ORDER BY w.number, m.place, m.id
"""
# Whoever takes the row out of the queue keeps the vector: nobody else does, and nobody who read an older text. Rows are
# taken in one order, as by those who edit, so that neither waits for the other in a circle. Each is looked up by its
# key: all of a space may have been queued under one number, and a plan that joins by it compares all with all.
_KEEP: Final = """
WITH found AS (
    SELECT o.memory, g.vector
    FROM (
        SELECT DISTINCT ON (memory)
               (SELECT m.key FROM memories AS m WHERE m.space = %(space)s AND m.id = g.id) AS memory, g.ticket, g.vector
        FROM unnest(%(ids)s::uuid[], %(tickets)s::bigint[], %(vectors)s::text[]) AS g (id, ticket, vector)
        ORDER BY memory
    ) AS g
    CROSS JOIN LATERAL (
        SELECT o.memory FROM outbox AS o
        WHERE o.space = %(space)s AND o.vector_set = %(set)s AND o.memory = g.memory AND o.change = g.ticket
        FOR UPDATE
    ) AS o
), taken AS (
    DELETE FROM outbox AS o
    WHERE o.space = %(space)s AND o.vector_set = %(set)s AND o.memory = ANY (ARRAY(SELECT memory FROM found))
)
INSERT INTO vectors_{key} (space, memory, vector) SELECT %(space)s, memory, vector::halfvec FROM found
ON CONFLICT (space, memory) DO UPDATE SET vector = excluded.vector
"""
_COUNT_WAITING: Final = """
SELECT COUNT(*) FROM outbox AS o
WHERE o.space = ANY (ARRAY(SELECT key FROM spaces WHERE id = ANY (%s)))
AND o.vector_set = (SELECT key FROM vector_sets WHERE active)
"""
_PGVECTOR: Final = """
SELECT extversion FROM pg_extension WHERE extname = 'vector' AND extnamespace = 'public'::regnamespace
"""


class PostgresVectors:
    def __init__(self, database: Database) -> None:
        self._database = database

    def sets(self) -> list[VectorSet]:
        with self._database.read() as connection:
            rows = connection.execute(
                "SELECT s.key, s.model, s.dimension, s.active, "
                "(SELECT COUNT(*) FROM outbox AS o WHERE o.vector_set = s.key) FROM vector_sets AS s ORDER BY s.key"
            ).fetchall()
            return [
                VectorSet(model, dimension, active, _count(connection, key) if dimension else 0, waiting)
                for key, model, dimension, active, waiting in rows
            ]

    def active(self) -> str | None:
        with self._database.read() as connection:
            row = connection.execute("SELECT model FROM vector_sets WHERE active").fetchone()
        return None if row is None else str(row[0])

    def begin(self, model: str) -> None:
        with self._database.write() as connection:
            if connection.execute("SELECT 1 FROM vector_sets WHERE model = %s", (model,)).fetchone():
                return
            check_pgvector(connection)
            # Held until all are queued: what is written meanwhile waits, in new spaces too, and sees the set.
            connection.execute(LOCK_SPACES)
            made = connection.execute(
                "INSERT INTO vector_sets (model) VALUES (%s) ON CONFLICT DO NOTHING RETURNING key", (model,)
            ).fetchone()
            if made is None:
                return
            for space, change in connection.execute("SELECT key, change FROM spaces").fetchall():
                connection.execute(_QUEUE_ALL, {"set": made[0], "space": space, "change": change})

    def waiting(self, model: str, limit: int, space: str | None = None) -> list[Waiting]:
        of_space = "" if space is None else "AND o.space = (SELECT key FROM spaces WHERE id = %s)"
        with self._database.read() as connection:
            key, _ = _find(connection, model)
            given = (key, limit) if space is None else (key, space, limit)
            rows = connection.execute(_NEXT.format(of_space=of_space), given).fetchall()
            memories = [(row[-3], from_row(row[-2], row)) for row in rows]
            before = _before(connection, memories)
        return [
            Waiting(memory, tuple(before.get(number, ())), row[-1])
            for number, (row, (_, memory)) in enumerate(zip(rows, memories, strict=True))
        ]

    def keep(self, model: str, made: Sequence[tuple[Waiting, bytes]]) -> int:
        kept = 0
        with self._database.write() as connection:
            # Held, so that the set is not dropped meanwhile.
            key, dimension = _find(connection, model, "FOR KEY SHARE")
            for space in sorted({waiting.memory.space for waiting, _ in made}):
                those = [(waiting, unpack(vector)) for waiting, vector in made if waiting.memory.space == space]
                dimension = _check_dimensions(connection, key, model, dimension, {len(vector) for _, vector in those})
                row = connection.execute("SELECT key FROM spaces WHERE id = %s", (space,)).fetchone()
                number = -1 if row is None else row[0]
                kept += connection.execute(
                    _KEEP.format(key=key),
                    {
                        "ids": [waiting.memory.id for waiting, _ in those],
                        "tickets": [waiting.ticket for waiting, _ in those],
                        "vectors": [f"[{','.join(map(repr, vector))}]" for _, vector in those],
                        "space": number,
                        "set": key,
                    },
                ).rowcount
        return kept

    def count_waiting(self, spaces: Sequence[str]) -> int:
        noted: dict[str, int] | None = self._database.noted.get("waiting")
        if noted is not None and set(spaces) <= noted.keys():
            return sum(noted[space] for space in spaces)
        with self._database.read() as connection:
            row = connection.execute(_COUNT_WAITING, (list(spaces),)).fetchone()
        return int(row[0]) if row else 0

    def switch(self, model: str | None) -> None:
        with self._database.write() as connection:
            # One after the other: the later one must see which set the other made active.
            connection.execute("SELECT FROM vector_sets ORDER BY key FOR NO KEY UPDATE")
            if model is not None:
                _find(connection, model)
            connection.execute(
                "UPDATE vector_sets SET active = false WHERE active AND model IS DISTINCT FROM %s", (model,)
            )
            connection.execute("UPDATE vector_sets SET active = true WHERE model = %s", (model,))

    def drop(self, model: str) -> None:
        with self._database.write() as connection:
            # Who writes is waited for, as an edit removes vectors from every set, and then who keeps its vectors.
            connection.execute(LOCK_SPACES)
            key, _ = _find(connection, model, "FOR UPDATE")
            if connection.execute("SELECT 1 FROM vector_sets WHERE key = %s AND active", (key,)).fetchone():
                raise Refused(f"{model} is in use: switch to another model first, then drop it.")
            connection.execute("DELETE FROM outbox WHERE vector_set = %s", (key,))
            connection.execute("SELECT recollect_drop_vectors(%s)", (key,))
            connection.execute("DELETE FROM vector_sets WHERE key = %s", (key,))


def check_pgvector(connection: Connection[Row]) -> None:
    if not has_pgvector(connection):
        raise StoreError(
            "This database has no pgvector of version 0.8, so memories are found by words only. Install it on the "
            "server, run `CREATE EXTENSION vector SCHEMA public` in the database as its owner, and try again."
        )


def has_pgvector(connection: Connection[Row]) -> bool:
    # Vectors of halves came with 0.7, and searching on where an index comes to its end with 0.8.
    row = connection.execute(_PGVECTOR).fetchone()
    return row is not None and tuple(int(part) for part in row[0].split(".")[:2]) >= (0, 8)


def _count(connection: Connection[Row], key: int) -> int:
    row = connection.execute(f"SELECT COUNT(*) FROM vectors_{key}").fetchone()
    return int(row[0]) if row else 0


def _find(connection: Connection[Row], model: str, lock: str = "") -> tuple[int, int | None]:
    row = connection.execute(f"SELECT key, dimension FROM vector_sets WHERE model = %s {lock}", (model,)).fetchone()
    if row is None:
        raise NotFound(f"Nothing was embedded by {model} yet: `recollect embed --model` does that.")
    return int(row[0]), row[1]


def _before(connection: Connection[Row], memories: Sequence[tuple[int, Memory]]) -> dict[int, list[Memory]]:
    """Give what was said before each, by its number."""
    found: dict[int, list[Memory]] = {}
    for space in {space for space, _ in memories}:
        asked = [
            (number, memory.project or "", memory.session, memory.place)
            for number, (of, memory) in enumerate(memories)
            if of == space and memory.session is not None and memory.place is not None
        ]
        if asked:
            columns = [list(column) for column in zip(*asked, strict=True)]
            for number, *row in connection.execute(_BEFORE, [*columns, space, TURNS_BEFORE]):
                found.setdefault(number, []).append(from_row(memories[number][1].space, row))
    return found


def _check_dimensions(connection: Connection[Any], key: int, model: str, known: int | None, found: set[int]) -> int:
    """Make the set's table with its first vectors; later ones must be as long as those."""
    (length, *others) = sorted(found)
    if known is None and not others:
        # Of two workers that come first, one makes the table.
        _, known = _find(connection, model, "FOR NO KEY UPDATE")
        if known is None:
            connection.execute("SELECT recollect_make_vectors(%s, %s)", (key, length))
            connection.execute("UPDATE vector_sets SET dimension = %s WHERE key = %s", (length, key))
            return length
    if others or known != length:
        raise EmbedderError(
            f"{model} now gives vectors of {max(found)} numbers; those here have {known}. It is not the model that it "
            "was: embed anew under another name."
        )
    return length
