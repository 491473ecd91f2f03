"""Writes of memories. Each puts row, terms, past state, counts and outbox down in one transaction."""

import sqlite3
from collections.abc import Sequence
from typing import Any, Final

from recollect.core.analysis import weigh_terms
from recollect.core.errors import Conflict, NotFound
from recollect.core.hits import Ref
from recollect.core.memory import Memory
from recollect.core.moments import to_micros
from recollect.core.ports import Loaded
from recollect.stores.changes import missing_states
from recollect.stores.lives import length_of
from recollect.stores.rows import STATE
from recollect.stores.sqlite.budget import forget_answers
from recollect.stores.sqlite.database import Database
from recollect.stores.sqlite.postings import close_postings, open_postings, purge_postings
from recollect.stores.sqlite.queue import queue_changed, queue_purged
from recollect.stores.sqlite.reading import ONE, SqliteReading
from recollect.stores.sqlite.rows import (
    STATE_PLACES,
    from_row,
    to_blob,
    to_row,
)

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


class SqliteMemories(SqliteReading):
    def __init__(self, database: Database, language: str) -> None:
        super().__init__(database)
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

    def purge(self, ref: Ref) -> None:
        with self._database.write() as connection:
            key, space, present, _ = self._find(connection, ref)
            history = [revision.memory for revision in self.history_of(connection, ref)]
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
        here = [revision.memory for revision in self.history_of(connection, Ref(states[0].space, states[0].id))]
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
        row = connection.execute(ONE, (ref.space, to_blob(ref.id))).fetchone()
        if row is None:
            raise NotFound(f"There is no memory {ref.id}.")
        key, space, indexed_at = row[-3:]
        return key, space, from_row(ref.space, row), indexed_at


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
