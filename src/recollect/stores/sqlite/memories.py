"""Writes and reads of memories. A write puts row, terms, past state, counts and outbox down in one transaction."""

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Any, Final

from recollect.core.analysis import weigh_terms
from recollect.core.errors import Conflict, NotFound
from recollect.core.hits import Ref, Surroundings
from recollect.core.memory import Memory, Revision
from recollect.core.ports import Loaded
from recollect.core.query import Scope
from recollect.stores.changes import missing_states
from recollect.stores.lives import length_of
from recollect.stores.moments import from_micros, to_micros
from recollect.stores.rows import STATE
from recollect.stores.sqlite.budget import forget_answers
from recollect.stores.sqlite.database import Database
from recollect.stores.sqlite.postings import close_postings, open_postings, purge_postings
from recollect.stores.sqlite.queue import queue_changed, queue_purged
from recollect.stores.sqlite.rows import (
    STATE_PLACES,
    believed,
    from_blob,
    from_row,
    marks,
    narrow,
    to_blob,
    to_row,
)
from recollect.stores.stretches import read_stretches

_ONE: Final = f"""
SELECT {STATE}, key, space, indexed_at FROM memories
WHERE space = (SELECT key FROM spaces WHERE id = ?) AND id = ?
"""
_INSERT: Final = f"""
INSERT INTO memories ({STATE}, space, length, change, indexed_at) VALUES ({STATE_PLACES}, ?, ?, ?, ?)
"""
_UPDATE: Final = f"""
UPDATE memories SET ({STATE}, length, change, indexed_at) = ({STATE_PLACES}, ?, ?, ?) WHERE key = ?
"""
_KEEP_PAST: Final = f"""
INSERT INTO revisions (memory, space, length, valid_to, {STATE})
SELECT key, space, length, ?, {STATE} FROM memories WHERE key = ?
"""
# The row lock that orders a space's changes: whoever has seen change n has seen all below it.
NEXT_CHANGE: Final = """
UPDATE spaces SET change = change + 1, memories = memories + ?, length = length + ? WHERE key = ? RETURNING change
"""
# The stretches of sessions around some memories: these themselves, and what the scope admits of the rest. The index by
# scope leads from a memory to its session's others at once, without reading their rows.
_STRETCHES: Final = """
WITH asked AS MATERIALIZED (
    SELECT m.space, m.id, m.project, m.session, m.place FROM {table} AS m
    WHERE m.space = (SELECT key FROM spaces WHERE id = ?) AND m.id IN ({some})
    AND m.session IS NOT NULL AND m.place IS NOT NULL
)
SELECT id, project, session, place, 0 FROM asked
UNION
SELECT m.id, m.project, m.session, m.place, 1
FROM asked AS a CROSS JOIN {table} AS m
ON m.space = a.space AND m.project = a.project AND m.session = a.session AND m.place BETWEEN a.place - ? AND a.place + ?
WHERE {conditions}
"""


class SqliteMemories:
    def __init__(self, database: Database, language: str) -> None:
        self._database = database
        self._language = language

    def add(self, memories: Sequence[Memory]) -> None:
        with self._database.write() as connection:
            for memory in memories:
                self._insert(connection, memory)

    def change(self, memory: Memory) -> None:
        with self._database.write() as connection:
            self._change(connection, memory)

    def load(self, histories: Sequence[Sequence[Memory]], *, dry_run: bool = False) -> list[Loaded]:
        """Replay what is missing, so that a loaded memory is laid down as one that lived here."""
        if dry_run:
            with self._database.read() as connection:
                return [self._missing(connection, states)[0] for states in histories]
        with self._database.write() as connection:
            return [self._replay(connection, states) for states in histories]

    def get(self, refs: Collection[Ref], as_of: datetime | None = None) -> dict[Ref, Memory]:
        table, times = believed(as_of)
        found: dict[Ref, Memory] = {}
        with self._database.read() as connection:
            for space in {ref.space for ref in refs}:
                ids = [to_blob(ref.id) for ref in refs if ref.space == space]
                for start in range(0, len(ids), 500):
                    some = ids[start : start + 500]
                    rows = connection.execute(
                        f"SELECT {STATE} FROM {table} AS m "
                        f"WHERE m.space = (SELECT key FROM spaces WHERE id = ?) AND m.id IN ({marks(some)})",
                        [*times, space, *some],
                    )
                    for row in rows:
                        memory = from_row(space, row)
                        found[Ref(space, memory.id)] = memory
        return found

    def surroundings(
        self, refs: Collection[Ref], scope: Scope, reach: int, exclude: Collection[str] = ()
    ) -> Surroundings:
        conditions, parameters = narrow(scope)
        table, times = believed(scope.as_of)
        # Those next to them have neighbours too, which count.
        span = 2 * reach
        found = Surroundings()
        with self._database.read() as connection:
            for space in {ref.space for ref in refs}:
                sessions: dict[tuple[str, str], dict[tuple[str, int, bool], None]] = {}
                ids = [to_blob(ref.id) for ref in refs if ref.space == space]
                for start in range(0, len(ids), 500):
                    some = ids[start : start + 500]
                    rows = connection.execute(
                        _STRETCHES.format(table=table, some=marks(some), conditions=conditions),
                        [*times, space, *some, *times, span, span, *parameters],
                    )
                    for identity, project, session, place, admitted in rows:
                        standing = (from_blob(identity), place, bool(admitted))
                        sessions.setdefault((project, session), {})[standing] = None
                read_stretches(space, sessions.values(), reach, exclude, found)
        return found

    def resolve(self, spaces: Sequence[str], handle: str, limit: int = 10) -> list[Memory]:
        exact = self.get([Ref(space, handle) for space in spaces])
        if exact:
            return list(exact.values())
        digits = handle.replace("-", "").upper()
        if not digits or any(digit not in "0123456789ABCDEF" for digit in digits):
            return []
        with self._database.read() as connection:
            rows = connection.execute(
                f"SELECT {', '.join('m.' + column for column in STATE.split(', '))}, s.id "
                f"FROM memories AS m JOIN spaces AS s ON s.key = m.space "
                f"WHERE s.id IN ({marks(spaces)}) AND hex(m.id) LIKE ? ORDER BY m.id LIMIT ?",
                [*spaces, f"%{digits}", limit],
            )
            return [from_row(row[-1], row) for row in rows]

    def page(self, scope: Scope, limit: int, after: Ref | None = None) -> list[Memory]:
        conditions, parameters = narrow(scope)
        if after is not None and (last := self.get([after]).get(after)) is not None:
            conditions += " AND (m.created_at, m.id) < (?, ?)"
            parameters += [to_micros(last.created_at), to_blob(last.id)]
        table, times = believed(scope.as_of)
        pages: list[Memory] = []
        with self._database.read() as connection:
            for space in scope.spaces:
                rows = connection.execute(
                    f"SELECT {STATE} FROM {table} AS m WHERE m.space = (SELECT key FROM spaces WHERE id = ?) "
                    f"AND {conditions} ORDER BY m.created_at DESC, m.id DESC LIMIT ?",
                    [*times, space, *parameters, limit],
                )
                pages += [from_row(space, row) for row in rows]
        pages.sort(key=lambda memory: (memory.created_at, memory.id), reverse=True)
        return pages[:limit]

    def history(self, ref: Ref) -> list[Revision]:
        with self._database.read() as connection:
            return self._history(connection, ref)

    def last(self, space: str) -> tuple[int, Memory] | None:
        """Give the memory of a space that changed last, forgotten or not, and its change number."""
        with self._database.read() as connection:
            row = connection.execute(
                f"SELECT {STATE}, change FROM memories WHERE space = (SELECT key FROM spaces WHERE id = ?) "
                "ORDER BY change DESC LIMIT 1",
                (space,),
            ).fetchone()
        return None if row is None else (row[-1], from_row(space, row))

    def walk(self, spaces: Sequence[str] = ()) -> Iterator[Ref]:
        where = f"WHERE s.id IN ({marks(spaces)})" if spaces else ""
        with self._database.read() as connection:
            rows = connection.execute(
                f"SELECT s.id, m.id FROM memories AS m JOIN spaces AS s ON s.key = m.space {where} ORDER BY s.id, m.id",
                list(spaces),
            ).fetchall()
        for space, identity in rows:
            yield Ref(space, from_blob(identity))

    def purge(self, ref: Ref) -> None:
        with self._database.write() as connection:
            key, space, present, _ = self._find(connection, ref)
            history = [revision.memory for revision in self._history(connection, ref)]
            for state in history:
                purge_postings(connection, space, key, weigh_terms(state, self._language))
            forget_answers(connection, space, {state.content for state in history})
            for table, column in (
                ("revisions", "memory"),
                ("links", "source"),
                ("links", "target"),
            ):
                connection.execute(f"DELETE FROM {table} WHERE space = ? AND {column} = ?", (space, key))
            live = present.deleted_at is None
            length = length_of(weigh_terms(present, self._language)) if live else 0.0
            change = connection.execute(NEXT_CHANGE, (-int(live), -length, space)).fetchone()[0]
            queue_purged(connection, space, key, change, present)
            connection.execute("DELETE FROM memories WHERE key = ?", (key,))
        self._database.clear_journal()

    def _missing(self, connection: sqlite3.Connection, states: Sequence[Memory]) -> tuple[Loaded, Sequence[Memory]]:
        here = [revision.memory for revision in self._history(connection, Ref(states[0].space, states[0].id))]
        return missing_states(here, states)

    def _replay(self, connection: sqlite3.Connection, states: Sequence[Memory]) -> Loaded:
        result, missing = self._missing(connection, states)
        for state in missing:
            if state.version == 1:
                self._insert(connection, state)
            else:
                self._change(connection, state)
        return result

    def _insert(self, connection: sqlite3.Connection, memory: Memory) -> None:
        space = _space_key(connection, memory.space)
        terms = weigh_terms(memory, self._language)
        live = memory.deleted_at is None
        length = length_of(terms)
        change = connection.execute(NEXT_CHANGE, (int(live), length if live else 0.0, space)).fetchone()[0]
        since = to_micros(memory.updated_at)
        try:
            key = connection.execute(_INSERT, (*to_row(memory), space, length, change, since)).lastrowid
        except sqlite3.IntegrityError:
            raise Conflict(f"There is a memory {memory.id} already: leave the id out to get a new one.") from None
        assert key is not None  # noqa: S101 - an INSERT that succeeded has a row
        if live:
            open_postings(connection, space, key, terms, since)
        queue_changed(connection, space, key, change, old=None, new=memory)

    def _change(self, connection: sqlite3.Connection, memory: Memory) -> None:
        key, space, old, indexed_at = self._find(connection, Ref(memory.space, memory.id))
        if memory.version != old.version + 1:
            raise Conflict(f"{memory.id} was changed meanwhile: look at it again, then repeat your change.")
        now = to_micros(memory.updated_at)
        was_live, is_live = old.deleted_at is None, memory.deleted_at is None
        before, after = weigh_terms(old, self._language), weigh_terms(memory, self._language)
        gained = (length_of(after) if is_live else 0.0) - (length_of(before) if was_live else 0.0)
        change = connection.execute(NEXT_CHANGE, (is_live - was_live, gained, space)).fetchone()[0]
        connection.execute(_KEEP_PAST, (now, key))
        if before != after or was_live != is_live:
            if was_live:
                close_postings(connection, space, key, before, since=indexed_at, until=now)
            if is_live:
                open_postings(connection, space, key, after, now)
            indexed_at = now
        connection.execute(_UPDATE, (*to_row(memory), length_of(after), change, indexed_at, key))
        queue_changed(connection, space, key, change, old=old, new=memory)

    def _find(self, connection: sqlite3.Connection, ref: Ref) -> tuple[int, int, Memory, int]:
        row = connection.execute(_ONE, (ref.space, to_blob(ref.id))).fetchone()
        if row is None:
            raise NotFound(f"There is no memory {ref.id}.")
        key, space, indexed_at = row[-3:]
        return key, space, from_row(ref.space, row), indexed_at

    def _history(self, connection: sqlite3.Connection, ref: Ref) -> list[Revision]:
        row = connection.execute(_ONE, (ref.space, to_blob(ref.id))).fetchone()
        if row is None:
            return []
        key, space, _ = row[-3:]
        past = connection.execute(
            f"SELECT {STATE}, valid_to FROM revisions WHERE space = ? AND memory = ? ORDER BY version",
            (space, key),
        )
        return [
            *(Revision(from_row(ref.space, each), from_micros(each[-1])) for each in past),
            Revision(from_row(ref.space, row), None),
        ]


def _space_key(connection: sqlite3.Connection, space: str) -> int:
    row = connection.execute("SELECT key FROM spaces WHERE id = ?", (space,)).fetchone()
    if row is None:
        row = connection.execute("INSERT INTO spaces (id) VALUES (?) RETURNING key", (space,)).fetchone()
    key: int = row[0]
    return key


def key_of(connection: sqlite3.Connection, space: int, memory_id: str) -> int | None:
    row: tuple[Any, ...] | None = connection.execute(
        "SELECT key FROM memories WHERE space = ? AND id = ?", (space, to_blob(memory_id))
    ).fetchone()
    return None if row is None else int(row[0])
