"""Who there is, what belongs to whom, and who may see and do what: the server's rules once more, in plain Python.

Every name and every text holds a mark that stands nowhere else, so that what an answer shows can be told from its
bytes, whatever shape it has.
"""

import re
from dataclasses import dataclass, field
from itertools import count
from typing import Final

from recollect.core.access import DEEDS, KEY_SCOPES, ROLES, Deed, KeyScope, Role
from recollect.core.memory import Memory

MARK: Final = re.compile(r"qz[a-z]{2}\d{6}|dada[0-9a-f]{4}")
"""A name, a word or a label of ours; or the end of a memory's id, which is also its short form."""


def marks_in(*texts: str) -> set[str]:
    return {mark for text in texts for mark in MARK.findall(text)}


class Marks:
    """Gives marks, each once."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def name(self, kind: str) -> str:
        """Give a name that tells by two letters what it names."""
        return f"qz{kind}{next(self._numbers):06}"

    def identity(self) -> str:
        return f"01900000-0000-7000-8000-0000dada{next(self._numbers):04x}"


@dataclass
class Person:
    name: str
    admin: bool = False
    had_key: bool = False


@dataclass
class Key:
    prefix: str
    token: str
    person: str
    scope: KeyScope
    name: str
    spaces: frozenset[int] | None = None
    """Only these; `None` for all of the person's."""
    holds: bool = True


@dataclass
class Space:
    number: int
    """As the database has it: a later space of the same name has another."""
    name: str
    owner: str | None
    roles: dict[str, Role]
    memories: dict[str, list[Memory]] = field(default_factory=dict)
    """Every state of each, oldest first."""
    links: set[tuple[str, str, str]] = field(default_factory=set)
    """Those that hold."""
    logged: set[str] = field(default_factory=set)
    """Marks of people and memories, and prefixes of keys, that its log may name: whatever was there at any time."""

    @property
    def scope(self) -> str:
        """Name it as the digests of the database do."""
        return f"space {self.number}"

    @property
    def live(self) -> dict[str, Memory]:
        return {each: states[-1] for each, states in self.memories.items() if states[-1].deleted_at is None}

    @property
    def admins(self) -> set[str]:
        return {person for person, role in self.roles.items() if role == "admin"}

    def words(self, *, secrets: bool) -> set[str]:
        """Give the marks of all that is kept in it; of sensitive memories only with their secrets."""
        found = {self.name, *self.roles}
        for identity, states in self.memories.items():
            hidden = states[-1].sensitive and not secrets
            found.add(identity[-8:])
            for state in states:
                found |= marks_in(state.project or "", *(() if hidden else (state.content, *state.tags)))
        return found


@dataclass
class Model:
    walls_alone: bool = False
    """Whether the program asks nothing, so that only what the database itself refuses is refused."""
    people: dict[str, Person] = field(default_factory=dict)
    spaces: dict[str, Space] = field(default_factory=dict)
    keys: list[Key] = field(default_factory=list)
    gone_keys: list[Key] = field(default_factory=list)
    """Those of people who were removed."""
    marks: Marks = field(default_factory=Marks)

    def reach(self, key: Key) -> dict[str, Space]:
        """Give the spaces that a key opens at all."""
        if not key.holds:
            return {}
        return {
            name: space
            for name, space in sorted(self.spaces.items())
            if key.person in space.roles and (key.spaces is None or space.number in key.spaces)
        }

    def own(self, key: Key) -> str | None:
        return next((name for name, space in self.reach(key).items() if space.owner == key.person), None)

    def may(self, key: Key, deed: Deed, space: Space) -> bool:
        if self.reach(key).get(space.name) is not space:
            return False
        needed = DEEDS.index(deed)
        return ROLES.index(space.roles[key.person]) >= needed and KEY_SCOPES.index(key.scope) >= needed

    def runs_server(self, key: Key) -> bool:
        person = self.people.get(key.person)
        return key.holds and key.scope == "admin" and key.spaces is None and person is not None and person.admin

    def visible_people(self, key: Key) -> set[str]:
        if self.runs_server(key):
            return set(self.people)
        return {key.person}.union(*(space.roles for space in self.reach(key).values()))

    def visible_keys(self, key: Key) -> list[Key]:
        """Give the keys that are listed for a key, and that it may revoke."""
        return [other for other in self.keys if self._sees_key(key, other)]

    def _sees_key(self, key: Key, other: Key) -> bool:
        if other is key or self.runs_server(key):
            return True
        if other.person != key.person or key.scope != "admin":
            return False
        numbers = {space.number for space in self.reach(key).values()}
        return key.spaces is None or (other.spaces is not None and other.spaces <= numbers)

    def words(self, key: Key, *, secrets: bool = False) -> set[str]:
        """Give all marks that a key may be shown, and the prefixes of keys."""
        if not key.holds:
            return set()
        found = self.visible_people(key)
        for space in self.reach(key).values():
            found |= space.words(secrets=secrets or self.walls_alone)
        for other in self.visible_keys(key):
            found |= {other.prefix, other.name}
        return found

    def keeps_admin(self, space: Space, person: str, role: Role | None) -> bool:
        """Whether a space would still have its admin with another role for somebody, or none."""
        admins = space.admins - {person} | ({person} if role == "admin" else set())
        return bool(admins) if space.owner is None else space.owner in admins
