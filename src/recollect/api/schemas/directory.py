"""People, spaces, who is in which, keys, and the log."""

from typing import Annotated, Any, Final

from pydantic import ConfigDict, Field

from recollect.api import examples
from recollect.api.schemas.fields import Answer, Body, Label, Moment, Name
from recollect.core.access import Deed, KeyScope, Role

_MADE: Final = "2026-05-01T09:00:00.000000Z"
_MOST_SPACES: Final = 100
_KEY: Final[dict[str, Any]] = {
    "prefix": examples.KEY,
    "person": examples.ADA,
    "name": "laptop",
    "scope": "write",
    "spaces": None,
    "created_at": _MADE,
    "expires_at": None,
    "last_used_at": None,
    "revoked_at": None,
}


class Reach(Answer):
    id: str
    role: Role
    may: list[Deed] = Field(description="What this key may do there: as far as both role and key go.")


class MeAnswer(Answer):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "person": examples.ADA,
                    "key": examples.KEY,
                    "scope": "admin",
                    "runs_server": True,
                    "own": examples.ADA,
                    "spaces": [
                        {"id": examples.ADA, "role": "admin", "may": ["read", "write", "administer"]},
                        {"id": examples.CREW, "role": "admin", "may": ["read", "write", "administer"]},
                    ],
                }
            ]
        }
    )

    person: str
    key: str = Field(description="The prefix of the key that asks.")
    scope: KeyScope
    runs_server: bool = Field(description="Whether you may make people and change the server's own settings.")
    own: str | None = Field(description="Your own space, which is meant where you name none.")
    spaces: list[Reach]


class NewPerson(Body):
    model_config = ConfigDict(json_schema_extra={"examples": [{"id": examples.CARA}]})

    id: Name
    admin: bool = Field(default=False, description="Whether they run the server too. It opens no space to them.")


class PersonAnswer(Answer):
    model_config = ConfigDict(
        json_schema_extra={"examples": [{"id": examples.CARA, "admin": False, "created_at": _MADE}]}
    )

    id: str
    admin: bool
    created_at: str


class PeopleAnswer(Answer):
    model_config = ConfigDict(
        json_schema_extra={"examples": [{"people": [{"id": examples.ADA, "admin": True, "created_at": _MADE}]}]}
    )

    people: list[PersonAnswer]


_SPACE: Final[dict[str, Any]] = {
    "id": examples.NIGHT_SHIFT,
    "owner": None,
    "created_at": _MADE,
    "memories": 0,
    "role": "admin",
}


class NewSpace(Body):
    model_config = ConfigDict(json_schema_extra={"examples": [{"id": examples.NIGHT_SHIFT}]})

    id: Name


class SpaceAnswer(Answer):
    model_config = ConfigDict(json_schema_extra={"examples": [_SPACE]})

    id: str
    owner: str | None = Field(description="Whose own space it is; null for a team's.")
    created_at: str
    memories: int
    role: Role | None = Field(description="Your role in it; null for one that you run the server of and are not in.")


class SpacesAnswer(Answer):
    model_config = ConfigDict(json_schema_extra={"examples": [{"spaces": [_SPACE]}]})

    spaces: list[SpaceAnswer]


Rank = Annotated[Role, Field(description="reader looks, writer also changes, admin also says who else may.")]


class NewRole(Body):
    model_config = ConfigDict(json_schema_extra={"examples": [{"role": "reader"}]})

    role: Rank


class MemberAnswer(Answer):
    model_config = ConfigDict(json_schema_extra={"examples": [{"person": examples.BEN, "role": "reader"}]})

    person: str
    role: Rank


class MembersAnswer(Answer):
    model_config = ConfigDict(
        json_schema_extra={"examples": [{"members": [{"person": examples.BEN, "role": "writer"}]}]}
    )

    members: list[MemberAnswer]


class NewKey(Body):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"name": "laptop", "scope": "write"},
                {"name": "ci", "scope": "read", "spaces": [examples.CREW], "expires_at": "2099-01-01T00:00:00Z"},
            ]
        }
    )

    name: Label = Field(description="What you will know it by.")
    scope: KeyScope = Field(description="The most that it lets its holder do, whatever the person may.")
    person: Name | None = Field(default=None, description="Whom it acts for: you, or somebody whom you just made.")
    spaces: list[Name] | None = Field(
        default=None, min_length=1, max_length=_MOST_SPACES, description="Only these spaces; null for all of theirs."
    )
    expires_at: Moment | None = Field(default=None, description="Until when it holds; null for ever.")


class KeyAnswer(Answer):
    model_config = ConfigDict(json_schema_extra={"examples": [_KEY]})

    prefix: str = Field(description="Its public part.")
    person: str
    name: str
    scope: KeyScope
    spaces: list[str] | None
    created_at: str
    expires_at: str | None
    last_used_at: str | None
    revoked_at: str | None


class NewKeyAnswer(KeyAnswer):
    model_config = ConfigDict(json_schema_extra={"examples": [{**_KEY, "token": f"rk_{examples.KEY}_{'a' * 52}"}]})

    token: str = Field(description="What its holder sends. It is shown this once and kept nowhere.")


class KeysAnswer(Answer):
    model_config = ConfigDict(json_schema_extra={"examples": [{"keys": [_KEY]}]})

    keys: list[KeyAnswer]


class Entry(Answer):
    at: str
    key: str = Field(description="The prefix of the key that was used.")
    person: str
    deed: str
    memories: list[str] = Field(description="Ids of what it was done to.")


class AuditAnswer(Answer):
    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "entries": [
                        {
                            "at": "2026-05-12T08:32:00.000000Z",
                            "key": examples.KEY,
                            "person": examples.BEN,
                            "deed": "recall",
                            "memories": [examples.TUESDAYS],
                        }
                    ]
                }
            ]
        }
    )

    entries: list[Entry] = Field(description="Newest first.")
