"""A server's directory on a real Postgres, with two people who share a team."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from recollect.core.access import ApiKey, Caller, KeyScope
from recollect.service.access import authenticate, issue_key
from recollect.stores.postgres.database import Database
from recollect.stores.postgres.directory import PostgresDirectory
from recollect.stores.postgres.keys import PostgresKeys


def now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class World:
    """Ana runs the server. She administers the team, in which Bob reads; Eve has nothing to do with either."""

    database: Database
    """As the operator has it."""

    @property
    def operator(self) -> PostgresDirectory:
        return PostgresDirectory(self.database, now)

    @property
    def keys(self) -> PostgresKeys:
        return PostgresKeys(self.database, now)

    def issue(self, person: str, scope: KeyScope = "admin", **given: Any) -> tuple[ApiKey, str]:  # noqa: ANN401
        return issue_key(self.operator, now, None, person=person, scope=scope, name="test", **given)

    def caller(self, person: str, scope: KeyScope = "admin", *spaces: str) -> Caller:
        """Give a person's caller, with a new key."""
        _, token = self.issue(person, scope, spaces=spaces or None)
        return authenticate(self.keys, token)

    def as_(self, caller: Caller) -> Database:
        return self.database.as_caller(caller)

    def directory(self, caller: Caller) -> PostgresDirectory:
        return PostgresDirectory(self.as_(caller), now)

    def number(self, space: str) -> int:
        with self.database.read() as connection:
            row = connection.execute("SELECT key FROM spaces WHERE id = %s", (space,)).fetchone()
        assert row is not None
        return int(row[0])

    @property
    def url(self) -> str:
        return str(self.database.pool.conninfo)

    def populate(self) -> None:
        for person in ("ana", "bob", "eve"):
            self.operator.make_person(person, admin=person == "ana")
        self.operator.make_space("team", "ana")
        self.operator.set_member("team", "bob", "reader")
