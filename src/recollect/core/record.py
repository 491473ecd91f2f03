"""A memory as plain data and back: the form of exports, of `--json`, and of what agents are given."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final, get_args

from recollect.core.errors import Refused
from recollect.core.memory import Action, Link, Memory, Revision

_TIMES: Final = ("created_at", "updated_at", "deleted_at")
_LABELS: Final = ("tags", "keywords")
_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "id": (str,),
    "space": (str,),
    "content": (str,),
    "category": (str,),
    "importance": (float, int),
    "project": (str, type(None)),
    "session": (str, type(None)),
    "place": (int, type(None)),
    "sensitive": (bool,),
    "version": (int,),
    "action": (str,),
}
_NAMES: Final[tuple[str, ...]] = Memory.__match_args__
_REQUIRED: Final = ("id", "space", "content", "created_at", "updated_at")


def read_object(line: str) -> dict[str, Any]:
    """Read a line that is to be one JSON object."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Refused(f"It is not JSON ({error}).") from None
    if not isinstance(record, dict):
        raise Refused("It is not a JSON object.")
    return record


def to_record(memory: Memory) -> dict[str, Any]:
    record = {name: getattr(memory, name) for name in _NAMES}
    for name in _TIMES:
        record[name] = None if record[name] is None else format_time(record[name])
    for name in _LABELS:
        record[name] = list(record[name])
    return record


def from_record(record: Mapping[str, Any]) -> Memory:
    """Read what `to_record` wrote; refuse what is missing, unknown or of the wrong kind."""
    values = dict(record)
    missing = [name for name in _REQUIRED if name not in values]
    unknown = sorted(values.keys() - set(_NAMES))
    if missing or unknown:
        words = [f"lacks {', '.join(missing)}"] * bool(missing) + [f"has unknown {', '.join(unknown)}"] * bool(unknown)
        raise Refused(f"The record {' and '.join(words)}.")
    for name, kinds in _TYPES.items():
        if name in values and (
            not isinstance(values[name], kinds) or (isinstance(values[name], bool) != (bool in kinds))
        ):
            raise Refused(f"The record's {name} is {values[name]!r}, which is not of the right kind.")
    for name in _TIMES:
        if values.get(name) is not None:
            values[name] = parse_time(values[name])
        elif name in _REQUIRED:
            raise Refused(f"The record has no {name}.")
    for name in _LABELS:
        labels = values.get(name, [])
        if not (isinstance(labels, list) and all(isinstance(label, str) for label in labels)):
            raise Refused(f"The record's {name} are {labels!r}, which is no list of words.")
        values[name] = tuple(labels)
    if values.get("action", "edited") not in get_args(Action):
        raise Refused(f"The record's action is {values['action']!r}, which is none of {', '.join(get_args(Action))}.")
    return Memory(**values)


def to_history(memory_history: list[Revision]) -> dict[str, Any]:
    """Give a memory with its past: every state, oldest first."""
    return {"states": [to_record(revision.memory) for revision in memory_history]}


def from_history(record: Mapping[str, Any]) -> list[Memory]:
    states = record.get("states")
    if not isinstance(states, list) or not states or not all(isinstance(state, dict) for state in states):
        raise Refused("The record has no states.")
    memories = [from_record(state) for state in states]
    for number, (before, after) in enumerate(zip([None, *memories], memories, strict=False), start=1):
        if after.version != number or (before and (before.id, before.space) != (after.id, after.space)):
            raise Refused("The record's states are not the versions of one memory, from 1 on.")
        if before and before.updated_at >= after.updated_at:
            raise Refused("The record's states are not in the order of their times.")
    return memories


def to_link_record(link: Link) -> dict[str, Any]:
    return {
        "space": link.space,
        "source": link.source,
        "kind": link.kind,
        "target": link.target,
        "created_at": format_time(link.created_at),
        "ended_at": None if link.ended_at is None else format_time(link.ended_at),
    }


def format_time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def parse_time(text: object) -> datetime:
    """Read a time in ISO 8601; one without a zone is taken as UTC."""
    try:
        moment = datetime.fromisoformat(str(text))
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise Refused(f"{text!r} is not a time: write it like 2026-05-31 or 2026-05-31T18:00:00Z.") from None
