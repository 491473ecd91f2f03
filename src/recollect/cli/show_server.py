"""People, spaces and keys of a server as its operator reads them, and as data."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from rich.text import Text

from recollect.cli.as_json import write_json
from recollect.cli.paper import DIM, HANDLE, NOTICE, STRONG, Paper, label
from recollect.cli.words import ago, count
from recollect.core.access import ApiKey, Member, Person, SpaceInfo
from recollect.core.record import format_time

Row = tuple[Text, ...]


def say(line: str, *, errors: bool = False) -> None:
    Paper(errors=errors).write(line)


def show_rows(rows: Sequence[Row], if_none: str) -> None:
    paper = Paper()
    if rows:
        paper.columns(rows)
    else:
        paper.write(if_none)


def write_one(data: Mapping[str, Any]) -> None:
    write_json(data)


def write_all(name: str, data: Sequence[Mapping[str, Any]]) -> None:
    write_json({name: list(data)})


def size_of(spaces: Sequence[SpaceInfo], *, space: str = "", owner: str = "") -> str:
    """Say how much would go with a space."""
    many = sum(each.memories for each in spaces if (space and each.id == space) or (owner and each.owner == owner))
    return f"the {count(many, 'memory', 'memories')}"


def person_row(person: Person) -> Row:
    return label(person.id, STRONG), Text("runs the server" if person.admin else "", DIM)


def space_row(space: SpaceInfo) -> Row:
    kind = "a team's" if space.owner is None else f"{space.owner}'s own"
    return label(space.id, STRONG), label(kind, DIM), Text(count(space.memories, "memory", "memories"), DIM)


def member_row(member: Member) -> Row:
    return label(member.person, STRONG), Text(member.role, DIM)


def key_row(key: ApiKey, now: datetime) -> Row:
    """Give a key in a line: its state comes first where it no longer holds."""
    reach = "all spaces" if key.spaces is None else ", ".join(key.spaces) or "spaces that are gone"
    used = f"used {ago(key.last_used_at, now)}" if key.last_used_at else "never used"
    parts = [key.name, reach, used]
    if key.revoked_at:
        parts.insert(0, f"revoked {ago(key.revoked_at, now)}")
    elif key.expires_at:
        parts.insert(0, f"{'expired' if key.expires_at <= now else 'expires'} {ago(key.expires_at, now)}")
    style = NOTICE if key.revoked_at or (key.expires_at and key.expires_at <= now) else DIM
    return label(key.prefix, HANDLE), label(key.person, STRONG), Text(key.scope), label(" · ".join(parts), style)


def to_data(value: Person | SpaceInfo | Member | ApiKey) -> dict[str, Any]:
    return {name: format_time(each) if isinstance(each, datetime) else each for name, each in asdict(value).items()}
