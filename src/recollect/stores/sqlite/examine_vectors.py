"""What `doctor` looks at and mends in the vector sets: that each memory which may be embedded has a vector or waits."""

import sqlite3
from collections.abc import Iterator
from typing import Final

from recollect.core.ports import Problem

_MEND: Final = "Run `recollect doctor --mend`, then `recollect embed`."

# A vector of what must not have one: forgotten, sensitive or gone; or of another length than its set's.
_WRONG: Final = """
SELECT x.rowid FROM vectors AS x
LEFT JOIN vector_sets AS v ON v.key = x.vector_set
LEFT JOIN memories AS m ON m.key = x.memory AND m.space = x.space
WHERE m.key IS NULL OR m.deleted_at IS NOT NULL OR m.sensitive OR v.key IS NULL OR length(x.vector) <> 2 * v.dimension
"""
# A vector that is still waited for: keeping the new one would meet it.
_BOTH: Final = """
SELECT x.rowid FROM vectors AS x
JOIN outbox AS o ON o.space = x.space AND o.work = 'vector ' || x.vector_set AND o.memory = x.memory
"""
# A memory that a set neither holds nor waits for.
_MISSING: Final = """
SELECT m.space, 'vector ' || v.key, m.key, m.change FROM vector_sets AS v JOIN memories AS m
WHERE m.deleted_at IS NULL AND NOT m.sensitive
AND NOT EXISTS (SELECT 1 FROM vectors AS x WHERE x.space = m.space AND x.memory = m.key AND x.vector_set = v.key)
AND NOT EXISTS (
    SELECT 1 FROM outbox AS o WHERE o.space = m.space AND o.work = 'vector ' || v.key AND o.memory = m.key
)
"""
# What waits and must not.
_STRAY: Final = """
SELECT o.space, o.work, o.memory FROM outbox AS o
LEFT JOIN memories AS m ON m.key = o.memory AND m.space = o.space
WHERE m.key IS NULL OR m.deleted_at IS NOT NULL OR m.sensitive
"""


def examine_vectors(connection: sqlite3.Connection) -> Iterator[Problem]:
    for statement, what in (
        (_WRONG, "Vectors that belong to no memory which may have one: {:,}."),
        (_BOTH, "Vectors that are there and waited for: {:,}."),
        (_MISSING, "Memories that have no vector and wait for none: {:,}."),
        (_STRAY, "Entries of the queue that belong to no memory which may be embedded: {:,}."),
    ):
        (found,) = connection.execute(f"SELECT COUNT(*) FROM ({statement})").fetchone()
        if found:
            yield Problem(what.format(found), _MEND)


def mend_vectors(connection: sqlite3.Connection) -> None:
    for statement in (_WRONG, _BOTH):
        connection.execute(f"DELETE FROM vectors WHERE rowid IN ({statement})")
    connection.execute(f"DELETE FROM outbox WHERE (space, work, memory) IN ({_STRAY})")
    connection.execute(f"INSERT INTO outbox (space, work, memory, change) {_MISSING}")
    # Whoever holds vectors in memory reads them anew.
    connection.execute("UPDATE vector_sets SET revision = revision + 1")
