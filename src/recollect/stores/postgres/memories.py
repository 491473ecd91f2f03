"""Reads of memories, and what a caller asks to have written. Each write is one transaction."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Final

from psycopg import Connection

from recollect.core.errors import NotFound
from recollect.core.hits import Ref, Surroundings
from recollect.core.memory import Memory, Revision, is_id
from recollect.core.moments import from_micros, to_micros
from recollect.core.ports import Loaded
from recollect.core.query import Scope
from recollect.stores.changes import missing_states
from recollect.stores.postgres.database import Database, Row
from recollect.stores.postgres.rows import STATE_AS_READ, believed, ids_of, narrow
from recollect.stores.postgres.spaces import key_of_space, lock_space
from recollect.stores.postgres.writing import Writing
from recollect.stores.rows import from_row
from recollect.stores.stretches import read_stretches

_OF_SPACE: Final = "m.space = (SELECT key FROM spaces WHERE id = %s)"
# The stretches of sessions around some memories: these themselves, and what the scope admits of the rest. Memories that
# stand close are taken together first, so that no stretch is read twice, and OFFSET 0 keeps the planner from reading
# whole sessions, or the whole partition, instead of stretches of the index. A session comes as one row, since reading a
# row costs more than the value in it.
_STRETCHES: Final = """
WITH asked AS MATERIALIZED (
    SELECT m.id, m.project, m.session, m.place FROM {table} AS m
    WHERE m.space = %s AND m.id = ANY (%s::uuid[]) AND m.session IS NOT NULL AND m.place IS NOT NULL
), apart AS (
    SELECT project, session, place,
           place - lag(place) OVER (PARTITION BY project, session ORDER BY place) > 2 * %s AS starts
    FROM asked
), numbered AS (
    SELECT project, session, place,
           COUNT(*) FILTER (WHERE starts) OVER (PARTITION BY project, session ORDER BY place) AS number
    FROM apart
), stretches AS (
    SELECT project, session, MIN(place) - %s AS first, MAX(place) + %s AS last
    FROM numbered GROUP BY project, session, number
), standing AS (
    SELECT id, project, session, place, false AS admitted FROM asked
    UNION ALL
    SELECT n.id, n.project, n.session, n.place, true FROM stretches AS s CROSS JOIN LATERAL (
        SELECT m.id, m.project, m.session, m.place FROM {table} AS m
        WHERE m.space = %s AND m.session = s.session AND m.project = s.project
        AND m.place BETWEEN s.first AND s.last AND {conditions}
        OFFSET 0
    ) AS n
)
SELECT array_agg(id::text), array_agg(place), array_agg(admitted) FROM standing GROUP BY project, session
"""
# The index by the last four digits finds a handful, which the rest of the handle narrows down; of fewer digits every
# id is looked at.
_ENDING: Final = f"""
SELECT {STATE_AS_READ} FROM memories
WHERE space = %s AND {{indexed}} AND replace(id::text, '-', '') LIKE %s
ORDER BY id LIMIT %s
"""
_BY_INDEX: Final = "right(id::text, 4) = right(%s, 4)"
_BY_READING: Final = "%s <> ''"
_PAST: Final = f"""
SELECT {STATE_AS_READ}, valid_to FROM revisions WHERE space = %s AND memory = ANY (%s) ORDER BY memory, version
"""
INDEXED_DIGITS: Final = 4


class PostgresMemories:
    def __init__(self, database: Database, language: str) -> None:
        self._database = database
        self._writing = Writing(database, language)

    def add(self, memories: Sequence[Memory]) -> None:
        with self._database.write() as connection:
            # In one order for all, so that two who write to several spaces do not wait for each other.
            spaces = sorted({memory.space for memory in memories})
            if len(spaces) > 1:
                for space in spaces:
                    lock_space(self._database, connection, space, make=True)
            for memory in memories:
                self._writing.insert(connection, memory)

    def change(self, memory: Memory) -> None:
        with self._database.write() as connection:
            self._writing.change(connection, memory)

    def load(self, histories: Sequence[Sequence[Memory]], *, dry_run: bool = False) -> list[Loaded]:
        """Replay what is missing, so that a loaded memory is laid down as one that lived here."""
        refs = [Ref(states[0].space, states[0].id) for states in histories]
        with self._database.read() if dry_run else self._database.write() as connection:
            if not dry_run:
                for space in sorted({ref.space for ref in refs}):
                    lock_space(self._database, connection, space, make=True)
            here = self._histories(connection, refs)
            results: list[Loaded] = []
            for ref, states in zip(refs, histories, strict=True):
                result, missing = missing_states(here.get(ref, []), states)
                results.append(result)
                if missing and not dry_run:
                    self._replay(connection, missing)
                    # The same one may stand in the file once more.
                    here[ref] = [*here.get(ref, []), *missing]
        return results

    def get(self, refs: Collection[Ref], as_of: datetime | None = None) -> dict[Ref, Memory]:
        table, times = believed(as_of)
        found: dict[Ref, Memory] = {}
        with self._database.read() as connection:
            for space in {ref.space for ref in refs}:
                rows = connection.execute(
                    f"SELECT {STATE_AS_READ} FROM {table} AS m WHERE m.space = %s AND m.id = ANY (%s::uuid[])",
                    [*times, self._key(connection, space), ids_of(ref.id for ref in refs if ref.space == space)],
                )
                for row in rows.fetchall():
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
                key = self._key(connection, space)
                ids = ids_of(ref.id for ref in refs if ref.space == space)
                rows = connection.execute(
                    _STRETCHES.format(table=table, conditions=conditions),
                    [*times, key, ids, span, span, span, *times, key, *parameters],
                )
                read_stretches(space, (zip(*row, strict=True) for row in rows.fetchall()), reach, exclude, found)
        return found

    def resolve(self, spaces: Sequence[str], handle: str, limit: int = 10) -> list[Memory]:
        exact = self.get([Ref(space, handle) for space in spaces])
        if exact:
            return list(exact.values())
        digits = handle.replace("-", "").lower()
        if not digits or any(digit not in "0123456789abcdef" for digit in digits):
            return []
        found: list[Memory] = []
        ending = _ENDING.format(indexed=_BY_INDEX if len(digits) >= INDEXED_DIGITS else _BY_READING)
        with self._database.read() as connection:
            for space in spaces:
                rows = connection.execute(ending, (self._key(connection, space), digits, f"%{digits}", limit))
                found += [from_row(space, row) for row in rows]
        found.sort(key=lambda memory: memory.id)
        return found[:limit]

    def page(self, scope: Scope, limit: int, after: Ref | None = None) -> list[Memory]:
        conditions, parameters = narrow(scope)
        if after is not None and (last := self.get([after]).get(after)) is not None:
            conditions += " AND (m.created_at, m.id) < (%s, %s::uuid)"
            parameters += [to_micros(last.created_at), last.id]
        table, times = believed(scope.as_of)
        pages: list[Memory] = []
        with self._database.read() as connection:
            for space in scope.spaces:
                rows = connection.execute(
                    f"SELECT {STATE_AS_READ} FROM {table} AS m WHERE {_OF_SPACE} AND {conditions} "
                    "ORDER BY m.created_at DESC, m.id DESC LIMIT %s",
                    [*times, space, *parameters, limit],
                )
                pages += [from_row(space, row) for row in rows]
        pages.sort(key=lambda memory: (memory.created_at, memory.id), reverse=True)
        return pages[:limit]

    def history(self, ref: Ref) -> list[Revision]:
        if not is_id(ref.id):
            return []
        with self._database.read() as connection:
            key = self._key(connection, ref.space)
            row = connection.execute(
                f"SELECT {STATE_AS_READ}, key FROM memories WHERE space = %s AND id = %s", (key, ref.id)
            ).fetchone()
            if row is None:
                return []
            past = connection.execute(_PAST, (key, [row[-1]])).fetchall()
        return [
            *(Revision(from_row(ref.space, each), from_micros(each[-1])) for each in past),
            Revision(from_row(ref.space, row), None),
        ]

    def last(self, space: str) -> tuple[int, Memory] | None:
        """Give the memory of a space that changed last, forgotten or not, and its change number."""
        with self._database.read() as connection:
            row = connection.execute(
                f"SELECT {STATE_AS_READ}, change FROM memories AS m WHERE {_OF_SPACE} ORDER BY change DESC LIMIT 1",
                (space,),
            ).fetchone()
        return None if row is None else (row[-1], from_row(space, row))

    def walk(self, spaces: Sequence[str] = ()) -> Iterator[Ref]:
        """Give every memory space by space: no statement crosses them."""
        with self._database.read() as connection:
            known = [
                (str(space), int(key))
                for space, key in connection.execute("SELECT id, key FROM spaces ORDER BY id")
                if not spaces or space in spaces
            ]
        for space, key in known:
            with self._database.read() as connection:
                rows = connection.execute(
                    "SELECT id::text FROM memories WHERE space = %s ORDER BY id", (key,)
                ).fetchall()
            for (identity,) in rows:
                yield Ref(space, identity)

    def purge(self, ref: Ref) -> None:
        with self._database.write() as connection:
            # Held first, so that a state that is just being written is among them.
            with suppress(NotFound):
                lock_space(self._database, connection, ref.space)
            self._writing.purge(connection, ref, self._histories(connection, [ref]).get(ref, []))

    def _key(self, connection: Connection[Row], space: str) -> int:
        """Give a space's number, or for one that is not there a number that no row has."""
        return key_of_space(self._database, connection, space) or -1

    def _histories(self, connection: Connection[Row], refs: Collection[Ref]) -> dict[Ref, list[Memory]]:
        """Give every state of some memories, oldest first, in two statements a space."""
        found: dict[Ref, list[Memory]] = {}
        for space in {ref.space for ref in refs}:
            key = self._key(connection, space)
            present = connection.execute(
                f"SELECT {STATE_AS_READ}, key FROM memories WHERE space = %s AND id = ANY (%s::uuid[])",
                (key, ids_of(ref.id for ref in refs if ref.space == space)),
            ).fetchall()
            past: dict[str, list[Memory]] = {}
            for row in connection.execute(_PAST, (key, [row[-1] for row in present])):
                past.setdefault(row[0], []).append(from_row(space, row))
            for row in present:
                memory = from_row(space, row)
                found[Ref(space, memory.id)] = [*past.get(memory.id, []), memory]
        return found

    def _replay(self, connection: Connection[Any], states: Sequence[Memory]) -> None:
        for state in states:
            if state.version == 1:
                self._writing.insert(connection, state)
            else:
                self._writing.change(connection, state)
