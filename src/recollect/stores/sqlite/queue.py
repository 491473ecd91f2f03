"""The outbox: which memories wait for a vector, of which set, and which to be read, by which extractor.

Always written in the transaction that writes the row.
"""

import sqlite3
from typing import Final

from recollect.core.memory import Memory
from recollect.core.moments import to_micros
from recollect.core.sensitivity import may_leave
from recollect.stores.queueing import as_embedded, as_read, following
from recollect.stores.sqlite.budget import forget_answers
from recollect.stores.sqlite.mentions import end_concepts, remove_concepts

# One row for each set: a set that was left for another model stays complete, so that one can go back to it.
_QUEUE: Final = """
INSERT INTO outbox (space, work, memory, change) SELECT ?, 'vector ' || key, ?, ? FROM vector_sets WHERE true
ON CONFLICT (space, work, memory) DO UPDATE SET change = excluded.change
"""
_QUEUE_READING: Final = """
INSERT INTO outbox (space, work, memory, change) SELECT ?, 'concepts ' || key, ?, ? FROM extractors WHERE reads
ON CONFLICT (space, work, memory) DO UPDATE SET change = excluded.change
"""
_NOTE_REMOVAL: Final = """
UPDATE vector_sets SET revision = revision + 1
WHERE key IN (SELECT vector_set FROM vectors WHERE space = ? AND memory = ?)
"""
_FOLLOWING: Final = """
SELECT key FROM memories
WHERE space = ? AND project = ? AND session = ? AND place > ? AND place <= ? AND deleted_at IS NULL AND NOT sensitive
"""


def work_of(vector_set: int) -> str:
    return f"vector {vector_set}"


def queue_changed(
    connection: sqlite3.Connection, space: int, key: int, change: int, *, old: Memory | None, new: Memory
) -> None:
    """Queue a memory whose text, or whose place in its session, is new, and those that are read after it."""
    _queue_reading(connection, space, key, change, old=old, new=new)
    if old is not None:
        if as_embedded(old) == as_embedded(new):
            return
        forget_vectors(connection, space, key)
    if may_leave(new) and new.deleted_at is None:
        connection.execute(_QUEUE, (space, key, change))
    for state in filter(None, (old, new)):
        _queue_followers(connection, space, state, change)


def queue_purged(connection: sqlite3.Connection, space: int, key: int, change: int, old: Memory) -> None:
    """Let go of a memory that is removed for good, and queue those that were read after it."""
    remove_concepts(connection, space, key)
    forget_vectors(connection, space, key)
    _queue_followers(connection, space, old, change)


def queue_reading(connection: sqlite3.Connection, space: int, key: int, change: int) -> None:
    """Queue a memory for all who read."""
    connection.execute(_QUEUE_READING, (space, key, change))


def forget_vectors(connection: sqlite3.Connection, space: int, key: int) -> None:
    """Remove a memory's vectors and its places in the queues."""
    connection.execute(_NOTE_REMOVAL, (space, key))
    connection.execute("DELETE FROM vectors WHERE space = ? AND memory = ?", (space, key))
    connection.execute("DELETE FROM outbox WHERE space = ? AND memory = ? AND work LIKE 'vector %'", (space, key))


def _queue_reading(
    connection: sqlite3.Connection, space: int, key: int, change: int, *, old: Memory | None, new: Memory
) -> None:
    if old is not None:
        if as_read(old) == as_read(new):
            return
        if may_leave(new):
            end_concepts(connection, space, key, to_micros(new.updated_at))
        else:
            remove_concepts(connection, space, key)
            forget_answers(connection, space, {old.content, new.content})
    if may_leave(new) and new.deleted_at is None:
        queue_reading(connection, space, key, change)


def _queue_followers(connection: sqlite3.Connection, space: int, memory: Memory, change: int) -> None:
    behind = following(memory)
    if behind is None:
        return
    for (key,) in connection.execute(_FOLLOWING, (space, *behind)).fetchall():
        forget_vectors(connection, space, key)
        connection.execute(_QUEUE, (space, key, change))
