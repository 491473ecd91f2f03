"""Who may do what. People belong to spaces in a role; a key acts for one person, within its own scope.

`allows` is the only rule: every read and write of the server asks it. The database has the same rule once more, as
row-level security, for the day that somebody forgets to ask.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final, Literal

from recollect.core.errors import Refused
from recollect.values import field, value

Role = Literal["reader", "writer", "admin"]
"""What a person may do in a space: look, also change, also say who else may."""
KeyScope = Literal["read", "write", "admin"]
"""The most that a key lets its holder do, whatever the person may."""
Deed = Literal["read", "write", "administer"]

ROLES: Final[tuple[Role, ...]] = ("reader", "writer", "admin")
KEY_SCOPES: Final[tuple[KeyScope, ...]] = ("read", "write", "admin")
DEEDS: Final[tuple[Deed, ...]] = ("read", "write", "administer")

NAME_LIMIT: Final = 64
_LETTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
_MARKS: Final = frozenset("-_.")


def check_name(kind: Literal["person", "space"], name: str) -> None:
    """Refuse a name that could be mistaken for another, or that would not stand in a path of the API as it is."""
    ends = {name[:1], name[-1:]}
    if not (ends <= _LETTERS and set(name) <= _LETTERS | _MARKS and len(name) <= NAME_LIMIT):
        raise Refused(
            f"{name!r:.80} cannot name a {kind}: use lower-case letters (a to z), digits, and - _ . between them, "
            f"{NAME_LIMIT} at most."
        )


@value
class Caller:
    """Who is asking: a key, the person it acts for, and the spaces it reaches with that person's role in each."""

    key: str
    """The key's prefix: its public part."""
    person: str
    scope: KeyScope
    own: str | None
    """The person's own space: where things go if no other is named."""
    spaces: Mapping[str, Role] = field(default_factory=dict)
    admin: bool = False
    """Whether the person runs the server: may make people, and reads no space by that."""
    restricted: bool = False
    """Whether the key reaches only some of the person's spaces; such a key never runs the server."""

    @property
    def runs_server(self) -> bool:
        return self.admin and self.scope == "admin"


Allows = Callable[[Caller, Deed, str], bool]


def allows(caller: Caller, deed: Deed, space: str) -> bool:
    """Whether a caller may do this in a space: as far as both their role there and their key go."""
    role = caller.spaces.get(space)
    if role is None:
        return False
    needed = DEEDS.index(deed)
    return ROLES.index(role) >= needed and KEY_SCOPES.index(caller.scope) >= needed


@value
class Person:
    id: str
    admin: bool
    created_at: datetime


@value
class SpaceInfo:
    id: str
    owner: str | None
    """Whose own space it is; a team's has none."""
    created_at: datetime
    memories: int
    role: Role | None
    """The caller's role in it."""


@value
class Member:
    person: str
    role: Role


@value
class ApiKey:
    """All there is to know of a key but the secret, which only its holder has."""

    prefix: str
    person: str
    name: str
    scope: KeyScope
    spaces: tuple[str, ...] | None
    """Only these spaces; `None` for all of the person's."""
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None


@value
class AuditEntry:
    """Who did what to which memories of a space."""

    at: datetime
    key: str
    person: str
    deed: str
    memories: tuple[str, ...]
