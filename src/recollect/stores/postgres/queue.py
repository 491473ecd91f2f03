"""The outbox: which memories wait for a vector, of which set, and the job that has a worker look at it.

Always written in the transaction that writes the row. The queue is let go of before the vectors: a worker that is
just keeping a vector has taken its memory out of the queue, so that this waits for it, and then finds the vector.
"""

from collections.abc import Sequence
from typing import Any, Final

from psycopg import Connection

from recollect.core.memory import Memory
from recollect.core.sensitivity import may_leave
from recollect.stores.queueing import as_embedded, following

# One row for each set: a set that was left for another model stays complete, so that one can go back to it.
_QUEUE: Final = """
WITH queued AS (
    INSERT INTO outbox (space, vector_set, memory, change)
    SELECT %(space)s, s.key, m.key, %(change)s FROM vector_sets AS s, unnest(%(memories)s::integer[]) AS m (key)
    ON CONFLICT (space, vector_set, memory) DO UPDATE SET change = excluded.change
    RETURNING 1
)
SELECT recollect_defer('embed', %(space)s) WHERE EXISTS (SELECT FROM queued)
"""
# In one order, as by those who keep vectors, so that neither waits for the other in a circle.
_LET_GO: Final = """
WITH found AS (
    SELECT vector_set, memory FROM outbox WHERE space = %s AND memory = ANY (%s)
    ORDER BY vector_set, memory FOR UPDATE
)
DELETE FROM outbox AS o USING found AS f
WHERE o.space = %s AND o.vector_set = f.vector_set AND o.memory = f.memory
"""
_FOLLOWING: Final = """
SELECT key FROM memories
WHERE space = %s AND project = %s AND session = %s AND place > %s AND place <= %s
AND deleted_at IS NULL AND NOT sensitive
"""

Changes = Connection[Any]


def queue_changed(connection: Changes, space: int, key: int, change: int, *, old: Memory | None, new: Memory) -> None:
    """Queue a memory whose text, or whose place in its session, is new, and those that are read after it.

    A memory that was just made has been queued with its row.
    """
    if old is not None and as_embedded(old) == as_embedded(new):
        return
    after = _followers(connection, space, *filter(None, (old, new)))
    itself = [] if old is None else [key]
    forget_vectors(connection, space, [*itself, *after])
    wanted = itself if may_leave(new) and new.deleted_at is None else []
    # One that moved on by a place or two is read after where it was itself.
    queue(connection, space, list(dict.fromkeys([*wanted, *after])), change)


def queue_purged(connection: Changes, space: int, key: int, change: int, old: Memory) -> None:
    """Let go of a memory that is removed for good, and queue those that were read after it."""
    after = _followers(connection, space, old)
    forget_vectors(connection, space, [key, *after])
    queue(connection, space, after, change)


def queue(connection: Changes, space: int, memories: Sequence[int], change: int) -> None:
    if memories:
        connection.execute(_QUEUE, {"space": space, "memories": list(memories), "change": change})


def forget_vectors(connection: Changes, space: int, memories: Sequence[int]) -> None:
    """Remove the vectors of some memories and their places in the queues."""
    if not memories:
        return
    these = (space, list(memories))
    connection.execute(_LET_GO, (*these, space))
    for vector_set in filled_sets(connection):
        connection.execute(f"DELETE FROM vectors_{vector_set} WHERE space = %s AND memory = ANY (%s)", these)


def filled_sets(connection: Changes) -> list[int]:
    """Give the sets that have a table: those that ever held a vector."""
    return [key for (key,) in connection.execute("SELECT key FROM vector_sets WHERE dimension IS NOT NULL")]


def _followers(connection: Changes, space: int, *states: Memory) -> list[int]:
    behind = dict.fromkeys(filter(None, map(following, states)))
    return list(
        dict.fromkeys(key for each in behind for (key,) in connection.execute(_FOLLOWING, (space, *each)).fetchall())
    )
