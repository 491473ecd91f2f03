"""The queues: which memories wait for a vector, of which set, and which to be read, by which extractor; and the jobs
that have a worker look at them.

Always written in the transaction that writes the row. The outbox is let go of before the vectors: a worker that is
just keeping a vector has taken its memory out of the queue, so that this waits for it, and then finds the vector.
"""

from collections.abc import Sequence
from typing import Any, Final

from psycopg import Connection

from recollect.core.memory import Memory
from recollect.core.moments import to_micros
from recollect.core.sensitivity import may_leave
from recollect.stores.postgres.budget import forget_answers
from recollect.stores.postgres.mentions import end_concepts, remove_concepts
from recollect.stores.queueing import as_embedded, as_read, following

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
    if old is not None:
        _queue_reading(connection, space, key, change, old=old, new=new)
        if as_embedded(old) == as_embedded(new):
            return
    after = _followers(connection, space, *filter(None, (old, new)))
    itself = [] if old is None else [key]
    forget_vectors(connection, space, [*itself, *after])
    wanted = itself if may_leave(new) and new.deleted_at is None else []
    # One that moved on by a place or two is read after where it was itself.
    queue(connection, space, list(dict.fromkeys([*wanted, *after])), change)


def queue_purged(connection: Changes, space: int, key: int, change: int, old: Memory) -> None:
    """Let go of a memory that is removed for good, and queue those that were read after it."""
    remove_concepts(connection, space, key)
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


def _queue_reading(connection: Changes, space: int, key: int, change: int, *, old: Memory, new: Memory) -> None:
    if as_read(old) == as_read(new):
        return
    if may_leave(new):
        end_concepts(connection, space, key, to_micros(new.updated_at))
    else:
        remove_concepts(connection, space, key)
        forget_answers(connection, space, {old.content, new.content})
    if may_leave(new) and new.deleted_at is None:
        connection.execute("SELECT recollect_queue_reading(%s, %s, %s)", (space, key, change))


def _followers(connection: Changes, space: int, *states: Memory) -> list[int]:
    behind = dict.fromkeys(filter(None, map(following, states)))
    return list(
        dict.fromkeys(key for each in behind for (key,) in connection.execute(_FOLLOWING, (space, *each)).fetchall())
    )
