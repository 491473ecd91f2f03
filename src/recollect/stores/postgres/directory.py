"""The directory over a database: who there is, what belongs to whom, which keys there are, and what was done.

It is as much as the view of the database lets through: the caller's share, or all for the operator. What changes it are
functions of the database, which ask for themselves whether the caller may.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final

import psycopg
from psycopg import Connection, errors

from recollect.core.access import ROLES, ApiKey, AuditEntry, Member, Person, Role, SpaceInfo, check_name
from recollect.core.errors import Conflict, NotAllowed, NotFound, RecollectError, Refused
from recollect.core.moments import END_OF_TIME, from_micros, to_micros
from recollect.core.ports import Clock
from recollect.stores.postgres.database import Database, Row

_PEOPLE: Final = "SELECT id, admin, created_at FROM people ORDER BY id"
# The operator has no key, and so no role.
_SPACES: Final = """
SELECT s.id, p.id, s.created_at, s.memories, m.role
FROM spaces AS s
LEFT JOIN people AS p ON p.key = s.owner
LEFT JOIN memberships AS m ON m.space = s.key AND m.person = recollect_person()
ORDER BY s.id
"""
_MEMBERS: Final = """
SELECT p.id, m.role FROM memberships AS m JOIN people AS p ON p.key = m.person WHERE m.space = %s ORDER BY p.id
"""
# Of the spaces that a key is limited to, those that the caller may see.
_KEYS: Final = """
SELECT k.prefix, p.id, k.name, k.scope,
       CASE WHEN k.spaces IS NOT NULL THEN
           ARRAY(SELECT s.id FROM spaces AS s WHERE s.key = ANY (k.spaces) ORDER BY s.id)
       END,
       k.created_at, k.expires_at, k.last_used_at, k.revoked_at
FROM api_keys AS k JOIN people AS p ON p.key = k.person
"""
_ALL_KEYS: Final = f"{_KEYS} ORDER BY p.id, k.created_at, k.prefix"
_KEY: Final = f"{_KEYS} WHERE k.prefix = %s"
_REVOKE: Final = "UPDATE api_keys SET revoked_at = %s WHERE prefix = %s AND revoked_at IS NULL"
# All of the last moment: the next page begins before it.
_AUDIT: Final = """
SELECT at, key, person, deed, memories::text[] FROM audit
WHERE space = %s AND at < %s ORDER BY at DESC FETCH FIRST (%s) ROWS WITH TIES
"""
_CODES: Final[dict[str, type[RecollectError]]] = {"RC403": NotAllowed, "RC404": NotFound, "RC409": Conflict}
"""What the functions of the database refuse with."""


class PostgresDirectory:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def people(self) -> list[Person]:
        with self._database.read() as connection:
            rows = connection.execute(_PEOPLE).fetchall()
        return [Person(name, admin, from_micros(created)) for name, admin, created in rows]

    def make_person(self, person: str, *, admin: bool = False) -> Person:
        check_name("person", person)
        now = self._clock()
        with _taken(person):
            self._change("SELECT recollect_make_person(%s, %s, %s)", person, admin, to_micros(now))
        return Person(person, admin, now)

    def remove_person(self, person: str) -> None:
        self._change("SELECT recollect_remove_person(%s)", person, patient=True)

    def spaces(self) -> list[SpaceInfo]:
        with self._database.read() as connection:
            rows = connection.execute(_SPACES).fetchall()
        return [SpaceInfo(name, owner, from_micros(made), many, role) for name, owner, made, many, role in rows]

    def make_space(self, space: str, admin: str) -> SpaceInfo:
        check_name("space", space)
        now = self._clock()
        with _taken(space):
            self._change("SELECT recollect_make_space(%s, %s, %s)", space, admin, to_micros(now))
        caller = self._database.caller
        return SpaceInfo(space, None, now, 0, "admin" if caller is not None and caller.person == admin else None)

    def remove_space(self, space: str) -> None:
        self._change("SELECT recollect_remove_space(%s)", space, patient=True)

    def members(self, space: str) -> list[Member]:
        with self._database.read() as connection:
            return [Member(*row) for row in connection.execute(_MEMBERS, (_key_of(connection, space),))]

    def set_member(self, space: str, person: str, role: Role) -> Member:
        if role not in ROLES:
            raise Refused(f"A role is {', '.join(ROLES)}, not {role!r:.40}.")
        self._change("SELECT recollect_set_member(%s, %s, %s)", space, person, role)
        return Member(person, role)

    def remove_member(self, space: str, person: str) -> None:
        self._change("SELECT recollect_remove_member(%s, %s)", space, person)

    def keys(self) -> list[ApiKey]:
        with self._database.read() as connection:
            return [_to_key(row) for row in connection.execute(_ALL_KEYS)]

    def add_key(self, key: ApiKey, digest: bytes) -> None:
        self._change(
            "SELECT recollect_add_key(%s, %s, %s, %s, %s, %s, %s, %s)",
            key.prefix,
            key.person,
            digest,
            key.name,
            key.scope,
            None if key.spaces is None else list(key.spaces),
            to_micros(key.created_at),
            None if key.expires_at is None else to_micros(key.expires_at),
        )

    def revoke_key(self, prefix: str) -> ApiKey:
        with self._database.write() as connection:
            connection.execute(_REVOKE, (to_micros(self._clock()), prefix))
            row = connection.execute(_KEY, (prefix,)).fetchone()
        if row is None:
            raise NotFound(f"There is no key {prefix!r:.40} that you may revoke.")
        return _to_key(row)

    def audit(self, space: str, limit: int, before: datetime | None = None) -> list[AuditEntry]:
        until = END_OF_TIME if before is None else to_micros(before)
        with self._database.read() as connection:
            rows = connection.execute(_AUDIT, (_key_of(connection, space), until, limit)).fetchall()
        return [AuditEntry(from_micros(at), key, person, deed, tuple(ids)) for at, key, person, deed, ids in rows]

    def _change(self, call: str, *values: Any, patient: bool = False) -> None:  # noqa: ANN401 - of the database's kinds
        with self._database.write() as connection:
            if patient:
                # A large space takes its time to remove; nobody else waits for it.
                connection.execute("SET LOCAL statement_timeout = 0")
            try:
                connection.execute(call.encode(), values)
            except psycopg.Error as error:
                if error.sqlstate in _CODES:
                    raise _CODES[error.sqlstate](error.diag.message_primary) from None
                raise


def _key_of(connection: Connection[Row], space: str) -> int:
    row = connection.execute("SELECT key FROM spaces WHERE id = %s", (space,)).fetchone()
    if row is None:
        raise NotFound(f"There is no space {space!r:.80} that you may see.")
    return int(row[0])


def _to_key(row: Row) -> ApiKey:
    prefix, person, name, scope, spaces, *times = row
    created, expires, used, revoked = (None if each is None else from_micros(each) for each in times)
    assert created is not None  # noqa: S101 - every key has been made at some time
    return ApiKey(
        prefix, person, name, scope, None if spaces is None else tuple(spaces), created, expires, used, revoked
    )


@contextmanager
def _taken(name: str) -> Iterator[None]:
    try:
        yield
    except errors.UniqueViolation:
        raise Conflict(f"The name {name!r} is taken: choose another.") from None
