"""Reads of memories: all that a recall asks for, and none of what a write needs."""

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Final

from recollect.core.hits import Ref, Surroundings
from recollect.core.memory import Memory, Revision
from recollect.core.moments import from_micros, to_micros
from recollect.core.query import Scope
from recollect.stores.rows import STATE
from recollect.stores.sqlite.database import Database
from recollect.stores.sqlite.rows import believed, from_blob, from_row, marks, narrow, to_blob
from recollect.stores.stretches import read_stretches

ONE: Final = f"""
SELECT {STATE}, key, space, indexed_at FROM memories
WHERE space = (SELECT key FROM spaces WHERE id = ?) AND id = ?
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


class SqliteReading:
    def __init__(self, database: Database) -> None:
        self._database = database

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
            return self.history_of(connection, ref)

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

    def history_of(self, connection: sqlite3.Connection, ref: Ref) -> list[Revision]:
        row = connection.execute(ONE, (ref.space, to_blob(ref.id))).fetchone()
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
