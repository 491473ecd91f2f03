"""What `doctor` looks at and mends in the vector sets: that each memory which may be embedded has a vector or waits."""

from collections.abc import Iterator
from typing import Any, Final

from psycopg import Connection

from recollect.core.ports import Problem
from recollect.stores.postgres.queue import filled_sets

_MEND: Final = "Run `recollect doctor --mend`; the worker then embeds what is missing."

_MAY_NOT: Final = "(m.key IS NULL OR m.deleted_at IS NOT NULL OR m.sensitive)"
# A vector of what must not have one: forgotten, sensitive or gone.
_WRONG: Final = f"""
SELECT v.space, v.memory FROM vectors_{{key}} AS v
LEFT JOIN memories AS m ON m.space = v.space AND m.key = v.memory WHERE {_MAY_NOT}
"""
# A vector that is still waited for: it is of an older text.
_BOTH: Final = """
SELECT v.space, v.memory FROM vectors_{key} AS v
JOIN outbox AS o ON o.space = v.space AND o.vector_set = {key} AND o.memory = v.memory
"""
# A memory that a set neither holds nor waits for.
_MISSING: Final = """
SELECT m.space, {key}, m.key, m.change FROM memories AS m
WHERE m.deleted_at IS NULL AND NOT m.sensitive AND {held}
AND NOT EXISTS (SELECT FROM outbox AS o WHERE o.space = m.space AND o.vector_set = {key} AND o.memory = m.key)
"""
_HELD: Final = "NOT EXISTS (SELECT FROM vectors_{key} AS v WHERE v.space = m.space AND v.memory = m.key)"
# What waits and must not.
_STRAY: Final = f"""
SELECT o.space, o.vector_set, o.memory FROM outbox AS o
LEFT JOIN memories AS m ON m.space = o.space AND m.key = o.memory WHERE {_MAY_NOT}
"""


def examine_vectors(connection: Connection[Any]) -> Iterator[Problem]:
    filled = filled_sets(connection)
    wrong = [(_WRONG.format(key=key), "Vectors that belong to no memory which may have one: {:,}.") for key in filled]
    both = [(_BOTH.format(key=key), "Vectors that are there and waited for: {:,}.") for key in filled]
    missing = [
        (_missing(key, filled=key in filled), "Memories that have no vector and wait for none: {:,}.")
        for key in _sets(connection)
    ]
    stray = (_STRAY, "Entries of the queue that belong to no memory which may be embedded: {:,}.")
    for statement, what in (*wrong, *both, *missing, stray):
        row = connection.execute(f"SELECT COUNT(*) FROM ({statement}) AS found").fetchone()
        if row and row[0]:
            yield Problem(what.format(row[0]), _MEND)


def mend_vectors(connection: Connection[Any]) -> None:
    filled = filled_sets(connection)
    for key in filled:
        for statement in (_WRONG, _BOTH):
            connection.execute(f"DELETE FROM vectors_{key} WHERE (space, memory) IN ({statement.format(key=key)})")
    connection.execute(f"DELETE FROM outbox WHERE (space, vector_set, memory) IN ({_STRAY})")
    for key in _sets(connection):
        connection.execute(
            f"INSERT INTO outbox (space, vector_set, memory, change) {_missing(key, filled=key in filled)}"
        )
    connection.execute("SELECT recollect_defer('embed', space) FROM (SELECT DISTINCT space FROM outbox) AS waiting")


def _missing(key: int, *, filled: bool) -> str:
    return _MISSING.format(key=key, held=_HELD.format(key=key) if filled else "true")


def _sets(connection: Connection[Any]) -> list[int]:
    return [key for (key,) in connection.execute("SELECT key FROM vector_sets ORDER BY key")]
