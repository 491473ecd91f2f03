"""What a write puts down: row, terms, past state, counts, queue and log, in one transaction under the space's lock."""

from collections.abc import Sequence
from typing import Any, Final

from psycopg import Connection, errors

from recollect.core.analysis import weigh_terms
from recollect.core.errors import Conflict, NotFound
from recollect.core.hits import Ref
from recollect.core.memory import Memory, is_id
from recollect.core.moments import to_micros
from recollect.core.sensitivity import may_leave
from recollect.stores.lives import Terms, length_of
from recollect.stores.postgres.audit import note_write
from recollect.stores.postgres.budget import forget_answers
from recollect.stores.postgres.database import Database
from recollect.stores.postgres.queue import queue_changed, queue_purged
from recollect.stores.postgres.rows import STATE_AS_READ, STATE_PLACES
from recollect.stores.postgres.spaces import lock_space, no_space
from recollect.stores.rows import STATE, from_row, to_row

_KEPT_STATE: Final = ", ".join(f"%({column})s" for column in STATE.split(", "))
# A new memory in a single statement, since each one sent costs as much as the work that it asks for. Counting the
# change takes the space's lock, which orders its writers; a space that is not there, or not for this caller, has no
# row to count in, and then nothing is written at all. What the statement itself reads is as it was before it waited for
# that lock, so the vector sets and the extractors are read by functions, which see them as they are after.
_INSERT: Final = f"""
WITH counted AS (
    UPDATE spaces SET change = change + 1, memories = memories + %(live)s, length = length + %(live)s * %(length)s
    WHERE id = %(space)s
    RETURNING key AS space, change, change::integer AS memory
), kept AS (
    INSERT INTO memories (space, key, change, length, indexed_at, {STATE})
    SELECT space, memory, change, %(length)s, %(updated_at)s, {_KEPT_STATE} FROM counted
), indexed AS (
    INSERT INTO postings (space, memory, valid_from, length, term, tf)
    SELECT space, memory, %(updated_at)s, %(length)s, t.term, t.tf
    FROM counted, unnest(%(terms)s::text[], %(tfs)s::real[]) AS t (term, tf)
), logged AS (
    INSERT INTO audit (space, at, key, person, deed, memories)
    SELECT space, current_setting('recollect.moment')::bigint, current_setting('recollect.key'),
           current_setting('recollect.name'), %(action)s, ARRAY[%(id)s]::uuid[]
    FROM counted WHERE current_setting('recollect.key', true) <> ''
)
SELECT space, change, CASE WHEN %(queue)s THEN recollect_queue(space, memory, change) END,
       CASE WHEN %(queue)s THEN recollect_queue_reading(space, memory, change) END
FROM counted
"""
_ONE: Final = f"SELECT {STATE_AS_READ}, key, indexed_at FROM memories WHERE space = %s AND id = %s"
_UPDATE: Final = f"""
UPDATE memories SET ({STATE}, length, change, indexed_at) = ({STATE_PLACES}, %s, %s, %s) WHERE space = %s AND key = %s
"""
_KEEP_PAST: Final = f"""
INSERT INTO revisions (space, memory, length, valid_to, {STATE})
SELECT space, key, length, %s, {STATE} FROM memories WHERE space = %s AND key = %s
"""
NEXT_CHANGE: Final = """
UPDATE spaces SET change = change + 1, memories = memories + %s, length = length + %s, links = links + %s
WHERE key = %s RETURNING change
"""
# DO UPDATE, for a memory that was changed twice within a microsecond or whose clock went back.
_OPEN_POSTINGS: Final = """
INSERT INTO postings (space, memory, valid_from, length, term, tf)
SELECT %s, %s, %s, %s, t.term, t.tf FROM unnest(%s::text[], %s::real[]) AS t (term, tf)
ON CONFLICT (space, term, memory, valid_from)
DO UPDATE SET valid_to = NULL, tf = excluded.tf, length = excluded.length
"""
_CLOSE_POSTINGS: Final = """
UPDATE postings SET valid_to = %s WHERE space = %s AND term = ANY (%s) AND memory = %s AND valid_from = %s
"""


class Writing:
    def __init__(self, database: Database, language: str) -> None:
        self._database = database
        self._language = language

    def insert(self, connection: Connection[Any], memory: Memory) -> None:
        terms = weigh_terms(memory, self._language)
        live = memory.deleted_at is None
        words = sorted(terms.items()) if live else []
        values = dict(zip(STATE.split(", "), to_row(memory), strict=True))
        values |= {
            "space": memory.space,
            "live": int(live),
            "length": length_of(terms),
            "terms": [term for term, _ in words],
            "tfs": [tf for _, tf in words],
            "queue": live and may_leave(memory),
        }
        try:
            row = connection.execute(_INSERT, values).fetchone()
            if row is None:
                lock_space(self._database, connection, memory.space, make=True)
                row = connection.execute(_INSERT, values).fetchone()
        except errors.UniqueViolation:
            raise Conflict(f"There is a memory {memory.id} already: leave the id out to get a new one.") from None
        if row is None:
            raise no_space(memory.space)
        space, change = row[:2]
        if memory.session is not None:
            queue_changed(connection, space, change, change, old=None, new=memory)

    def change(self, connection: Connection[Any], memory: Memory) -> None:
        ref = Ref(memory.space, memory.id)
        space, key, old, indexed_at = self._find(connection, ref)
        if memory.version != old.version + 1:
            raise Conflict(f"{memory.id} was changed meanwhile: look at it again, then repeat your change.")
        now = to_micros(memory.updated_at)
        was_live, is_live = old.deleted_at is None, memory.deleted_at is None
        before, after = weigh_terms(old, self._language), weigh_terms(memory, self._language)
        gained = (length_of(after) if is_live else 0.0) - (length_of(before) if was_live else 0.0)
        change = count_change(connection, space, memories=is_live - was_live, length=gained)
        connection.execute(_KEEP_PAST, (now, space, key))
        if before != after or was_live != is_live:
            if was_live:
                connection.execute(_CLOSE_POSTINGS, (now, space, list(before), key, indexed_at))
            if is_live:
                open_postings(connection, space, key, now, after)
            indexed_at = now
        connection.execute(_UPDATE, (*to_row(memory), length_of(after), change, indexed_at, space, key))
        queue_changed(connection, space, key, change, old=old, new=memory)
        note_write(connection, space, memory.action, [memory.id])

    def purge(self, connection: Connection[Any], ref: Ref, states: Sequence[Memory]) -> None:
        """Remove a memory. Its terms are those of all its states: there is no index of them by memory."""
        space, key, present, _ = self._find(connection, ref)
        terms = sorted({term for state in states for term in weigh_terms(state, self._language)})
        connection.execute(
            "DELETE FROM postings WHERE space = %s AND term = ANY (%s) AND memory = %s", (space, terms, key)
        )
        connection.execute("DELETE FROM revisions WHERE space = %s AND memory = %s", (space, key))
        forget_answers(connection, space, {state.content for state in states})
        gone = connection.execute(
            "WITH gone AS (DELETE FROM links WHERE space = %s AND (source = %s OR target = %s) RETURNING valid_to) "
            "SELECT COUNT(*) FROM gone WHERE valid_to IS NULL",
            (space, key, key),
        ).fetchone()
        live = present.deleted_at is None
        length = length_of(weigh_terms(present, self._language)) if live else 0.0
        change = count_change(connection, space, memories=-int(live), length=-length, links=-gone[0] if gone else 0)
        queue_purged(connection, space, key, change, present)
        connection.execute("DELETE FROM memories WHERE space = %s AND key = %s", (space, key))
        note_write(connection, space, "purged", [ref.id])

    def _find(self, connection: Connection[Any], ref: Ref) -> tuple[int, int, Memory, int]:
        """Give a memory to be changed, its space locked first: changes are numbered in the order they are made."""
        missing = NotFound(f"There is no memory {ref.id}.")
        try:
            space = lock_space(self._database, connection, ref.space)
        except NotFound:
            raise missing from None
        row = connection.execute(_ONE, (space, ref.id)).fetchone() if is_id(ref.id) else None
        if row is None:
            raise missing
        return space, row[-2], from_row(ref.space, row), row[-1]


def count_change(
    connection: Connection[Any], space: int, *, memories: int = 0, length: float = 0.0, links: int = 0
) -> int:
    """Take the next change number of a space, and keep its statistics."""
    row = connection.execute(NEXT_CHANGE, (memories, length, links, space)).fetchone()
    if row is None:
        raise NotFound("There is no such space that you may write to.")
    return int(row[0])


def open_postings(connection: Connection[Any], space: int, memory: int, since: int, terms: Terms) -> None:
    words = sorted(terms.items())
    connection.execute(
        _OPEN_POSTINGS,
        (space, memory, since, length_of(terms), [term for term, _ in words], [tf for _, tf in words]),
    )
