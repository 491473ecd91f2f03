"""What the outside must offer for many people to share a server: the directory of who is who, and the log.

A directory is opened for a caller, and shows and changes no more than that caller may; the operator's sees all.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from recollect.core.access import ApiKey, AuditEntry, Caller, Member, Person, Role, SpaceInfo
from recollect.core.hits import Ref


class Keys(Protocol):
    """What a presented key is checked against: asked before it is known who is asking."""

    def find(self, prefix: str) -> tuple[bytes, Caller] | None:
        """Give the hash of a key that holds now, and whom it stands for."""

    def note_use(self, prefix: str) -> None:
        """Note that a key was used; once a minute is enough."""


class Directory(Protocol):
    def people(self) -> list[Person]: ...

    def make_person(self, person: str, *, admin: bool = False) -> Person:
        """Add a person, with a space of their own by the same name; a name that is taken is a `Conflict`."""

    def remove_person(self, person: str) -> None:
        """Remove a person with their keys, memberships and own space, and all that is in it."""

    def spaces(self) -> list[SpaceInfo]: ...

    def make_space(self, space: str, admin: str) -> SpaceInfo:
        """Add a team's space with its first admin; a name that is taken is a `Conflict`."""

    def remove_space(self, space: str) -> None:
        """Remove a team's space, and all that is in it."""

    def members(self, space: str) -> list[Member]: ...

    def set_member(self, space: str, person: str, role: Role) -> Member:
        """Let a person into a space, or change their role; a space keeps at least one admin."""

    def remove_member(self, space: str, person: str) -> None: ...

    def keys(self) -> list[ApiKey]: ...

    def add_key(self, key: ApiKey, digest: bytes) -> None: ...

    def revoke_key(self, prefix: str) -> ApiKey: ...

    def audit(self, space: str, limit: int, before: datetime | None = None) -> list[AuditEntry]:
        """Give what was done in a space, newest first."""


class Log(Protocol):
    """Where reads are noted. Writes note themselves, in their own transaction."""

    def note(self, caller: Caller, deed: str, refs: Sequence[Ref]) -> None: ...
