"""mem0: what `get_all` returns, or a page of `/v3/memories/`, saved as JSON: `{"results": [...]}` or the list alone."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from recollect.core.errors import Refused
from recollect.core.foreign import Foreign, Found, Left, Locate, Tie
from recollect.importers.fields import described, labels_of, text_of, time_of
from recollect.importers.files import parse_json, read_text

SOURCE: Final = "mem0"
_LISTS: Final = ("results", "memories")
_PREFERENCES: Final = frozenset({"preferences", "user_preferences"})
_OWNERS: Final = ("user_id", "agent_id", "app_id", "actor_id", "expiration_date")
"""Fields that say whose a memory is, or until when it holds: they become keywords."""


def read(path: str, _locate: Locate) -> Iterator[Found]:
    whole = parse_json(read_text(path), path)
    records = _records(whole, path)
    if isinstance(whole, dict) and whole.get("next"):
        yield Left(path, _page(whole.get("count"), len(records)), wrong=True)
    for number, record in enumerate(records, start=1):
        where = f"memory {number}"
        if not isinstance(record, dict) or not text_of(record.get("memory")):
            yield Left(where, "It has no text under `memory`.", wrong=True)
            continue
        yield from _read_record(record, where)


def _read_record(record: Mapping[str, Any], where: str) -> Iterator[Found]:
    identity = text_of(record.get("id")) or text_of(record.get("hash")) or text_of(record["memory"])
    categories = labels_of(record.get("categories"))
    metadata = record.get("metadata")
    about = {name: record[name] for name in _OWNERS if record.get(name)} | (
        metadata if isinstance(metadata, dict) else {}
    )
    keywords, others = described(about)
    yield Foreign(
        key=identity,
        where=where,
        content=text_of(record["memory"]),
        category="preferences" if _PREFERENCES & set(categories) else "facts",
        tags=categories,
        keywords=keywords,
        session=next(iter(labels_of(record.get("run_id") or record.get("session_id"))), None),
        created_at=time_of(record.get("created_at")),
        updated_at=time_of(record.get("updated_at")),
    )
    if others:
        yield Left(where, f"Its metadata {', '.join(others)} has no place in a memory.")
    if replacement := text_of(record.get("replaced_by")):
        yield Tie(replacement, "supersedes", identity, where)


def _page(count: object, here: int) -> str:
    many = f"{here} of {count}" if isinstance(count, int) else f"{here}"
    return f"It is one page, with {many} memories: there is a next one. Import the other pages too."


def _records(value: object, path: str) -> list[Any]:
    if isinstance(value, dict):
        value = next((value[name] for name in _LISTS if isinstance(value.get(name), list)), None)
    if not isinstance(value, list):
        raise Refused(f"{path} holds no list of memories: save what mem0's get_all returns as JSON.")
    return value
