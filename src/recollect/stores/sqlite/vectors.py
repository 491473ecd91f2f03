"""Vector sets: making one beside the active one, filling it from its queue, switching in one step."""

import sqlite3
from collections.abc import Sequence
from typing import Any, Final

from recollect.core.context import TURNS_BEFORE
from recollect.core.errors import EmbedderError, NotFound, Refused
from recollect.core.memory import Memory
from recollect.core.ports import VectorSet, Waiting
from recollect.stores.rows import STATE, STATE_OF_M
from recollect.stores.sqlite.database import Database
from recollect.stores.sqlite.queue import work_of
from recollect.stores.sqlite.rows import from_row, marks, to_blob

_SETS: Final = """
SELECT v.key, v.model, v.dimension, v.active,
       (SELECT COUNT(*) FROM spaces AS s CROSS JOIN vectors AS x ON x.space = s.key AND x.vector_set = v.key),
       (SELECT COUNT(*) FROM spaces AS s CROSS JOIN outbox AS o ON o.space = s.key AND o.work = 'vector ' || v.key)
FROM vector_sets AS v ORDER BY v.key
"""
_QUEUE_ALL: Final = """
INSERT INTO outbox (space, work, memory, change)
SELECT m.space, ?, m.key, s.change FROM memories AS m JOIN spaces AS s ON s.key = m.space
WHERE m.deleted_at IS NULL AND NOT m.sensitive
"""
# Space by space, since the queue's key begins with it.
_NEXT: Final = f"""
SELECT {STATE_OF_M}, s.key, s.id, o.change
FROM spaces AS s
CROSS JOIN outbox AS o ON o.space = s.key AND o.work = ?
CROSS JOIN memories AS m ON m.key = o.memory
WHERE s.id = ? OR ? IS NULL
ORDER BY s.key, o.memory LIMIT ?
"""
_BEFORE: Final = f"""
SELECT {STATE} FROM memories
WHERE space = ? AND project = ? AND session = ? AND place >= ? AND place < ? AND deleted_at IS NULL AND NOT sensitive
ORDER BY place, id
"""
# Whoever takes the row out of the queue keeps the vector: nobody else does, and nobody who read an older text.
_TAKE: Final = """
DELETE FROM outbox WHERE space = (SELECT key FROM spaces WHERE id = ?1) AND work = ?2 AND change = ?3
AND memory = (SELECT key FROM memories WHERE space = (SELECT key FROM spaces WHERE id = ?1) AND id = ?4)
RETURNING space, memory
"""
_COUNT_WAITING: Final = """
SELECT COUNT(*) FROM spaces AS s
JOIN outbox AS o ON o.space = s.key AND o.work = (SELECT 'vector ' || key FROM vector_sets WHERE active)
WHERE s.id IN ({spaces})
"""


class SqliteVectors:
    def __init__(self, database: Database) -> None:
        self._database = database

    def sets(self) -> list[VectorSet]:
        with self._database.read() as connection:
            rows = connection.execute(_SETS).fetchall()
        return [
            VectorSet(model, dimension, bool(active), vectors, waiting)
            for _, model, dimension, active, vectors, waiting in rows
        ]

    def active(self) -> str | None:
        with self._database.read() as connection:
            row = connection.execute("SELECT model FROM vector_sets WHERE active").fetchone()
        return None if row is None else str(row[0])

    def begin(self, model: str) -> None:
        with self._database.write() as connection:
            if connection.execute("SELECT 1 FROM vector_sets WHERE model = ?", (model,)).fetchone():
                return
            key = connection.execute("INSERT INTO vector_sets (model) VALUES (?) RETURNING key", (model,)).fetchone()[0]
            connection.execute(_QUEUE_ALL, (work_of(key),))

    def waiting(self, model: str, limit: int, space: str | None = None) -> list[Waiting]:
        with self._database.read() as connection:
            key, _ = _find(connection, model)
            rows = connection.execute(_NEXT, (work_of(key), space, space, limit)).fetchall()
            return [_waiting(connection, row) for row in rows]

    def keep(self, model: str, made: Sequence[tuple[Waiting, bytes]]) -> int:
        with self._database.write() as connection:
            key, dimension = _find(connection, model)
            revision = connection.execute(
                "UPDATE vector_sets SET revision = revision + 1 WHERE key = ? RETURNING revision", (key,)
            ).fetchone()[0]
            kept = 0
            for waiting, vector in made:
                memory = waiting.memory
                taken = connection.execute(
                    _TAKE, (memory.space, work_of(key), waiting.ticket, to_blob(memory.id))
                ).fetchone()
                if taken is None:
                    continue
                dimension = _check_dimension(connection, key, model, dimension, len(vector) // 2)
                space, row = taken
                connection.execute(
                    "REPLACE INTO vectors (space, vector_set, memory, revision, vector) VALUES (?, ?, ?, ?, ?)",
                    (space, key, row, revision, vector),
                )
                kept += 1
            return kept

    def count_waiting(self, spaces: Sequence[str]) -> int:
        with self._database.read() as connection:
            count: int = connection.execute(_COUNT_WAITING.format(spaces=marks(spaces)), list(spaces)).fetchone()[0]
        return count

    def switch(self, model: str | None) -> None:
        with self._database.write() as connection:
            if model is not None:
                _find(connection, model)
            connection.execute("UPDATE vector_sets SET active = 0 WHERE active AND model IS NOT ?", (model,))
            connection.execute("UPDATE vector_sets SET active = 1 WHERE model = ?", (model,))

    def drop(self, model: str) -> None:
        with self._database.write() as connection:
            key, _ = _find(connection, model)
            if connection.execute("SELECT 1 FROM vector_sets WHERE key = ? AND active", (key,)).fetchone():
                raise Refused(f"{model} is in use: switch to another model first, then drop it.")
            for (space,) in connection.execute("SELECT key FROM spaces").fetchall():
                connection.execute("DELETE FROM vectors WHERE space = ? AND vector_set = ?", (space, key))
                connection.execute("DELETE FROM outbox WHERE space = ? AND work = ?", (space, work_of(key)))
            connection.execute("DELETE FROM vector_sets WHERE key = ?", (key,))


def _find(connection: sqlite3.Connection, model: str) -> tuple[int, int | None]:
    row = connection.execute("SELECT key, dimension FROM vector_sets WHERE model = ?", (model,)).fetchone()
    if row is None:
        raise NotFound(f"Nothing was embedded by {model} yet: `recollect embed --model` does that.")
    return int(row[0]), row[1]


def _waiting(connection: sqlite3.Connection, row: Sequence[Any]) -> Waiting:
    space, space_id, ticket = row[-3:]
    memory = from_row(space_id, row)
    return Waiting(memory, _before(connection, space, memory), ticket)


def _before(connection: sqlite3.Connection, space: int, memory: Memory) -> tuple[Memory, ...]:
    if memory.session is None or memory.place is None:
        return ()
    rows = connection.execute(
        _BEFORE, (space, memory.project or "", memory.session, memory.place - TURNS_BEFORE, memory.place)
    )
    return tuple(from_row(memory.space, row) for row in rows)


def _check_dimension(connection: sqlite3.Connection, key: int, model: str, known: int | None, found: int) -> int:
    if known is None:
        connection.execute("UPDATE vector_sets SET dimension = ? WHERE key = ?", (found, key))
    elif known != found:
        raise EmbedderError(
            f"{model} now gives vectors of {found} numbers; those here have {known}. It is not the model that it was: "
            "embed anew under another name."
        )
    return found
