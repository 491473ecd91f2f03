"""mcp-memory-service: its JSON export (`export_metadata` and `memories`), or its SQLite file.

A memory is known there by the hash of its text, so one that was edited there is another one. Associations that it
found by itself, by how alike two texts are, are left: recall finds those anew.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from recollect.core.errors import Refused
from recollect.core.foreign import Foreign, Found, Left, Locate, Tie
from recollect.importers.fields import category_of, described, labels_of, number_in, text_of, time_of
from recollect.importers.files import is_sqlite, parse_json, read_text
from recollect.importers.tables import columns_of, read_table

SOURCE: Final = "mcp-memory-service"
_CATEGORIES: Final = dict.fromkeys(("", "note", "observation", "reference", "standard"), "facts") | {
    "decision": "decisions",
    "preference": "preferences",
}
_MOST_IMPORTANT: Final = 2.0
"""Importance is from 0 to 2 there, 1 unless said otherwise."""
_UNTAGGED: Final = "untagged"


def read(path: str, _locate: Locate) -> Iterator[Found]:
    for number, record in enumerate(_records(path), start=1):
        where = f"memory {number}"
        content = text_of(record.get("content")) if isinstance(record, dict) else ""
        if not content:
            yield Left(where, "It has no text under `content`.", wrong=True)
        elif record.get("deleted_at"):
            yield Left(where, "It was deleted there.")
        else:
            yield from _read_record(record, content, where)


def _read_record(record: Mapping[str, Any], content: str, where: str) -> Iterator[Found]:
    key = text_of(record.get("content_hash")) or content
    metadata = _metadata(record.get("metadata"))
    importance = number_in(metadata.pop("importance_score", None), _MOST_IMPORTANT)
    keywords, others = described(metadata)
    yield Foreign(
        key=key,
        where=where,
        content=content,
        category=category_of(record.get("memory_type"), _CATEGORIES),
        tags=tuple(tag for tag in labels_of(record.get("tags")) if tag != _UNTAGGED),
        keywords=keywords,
        importance=0.5 if importance is None else importance,
        created_at=time_of(record.get("created_at")) or time_of(record.get("created_at_iso")),
        updated_at=time_of(record.get("updated_at")) or time_of(record.get("updated_at_iso")),
    )
    if others:
        yield Left(where, f"Its metadata {', '.join(others)} has no place in a memory.")
    if replacement := text_of(record.get("superseded_by")):
        yield Tie(replacement, "supersedes", key, where)


def _metadata(value: object) -> dict[str, Any]:
    """Read metadata, which is JSON in a column of the file."""
    if isinstance(value, str):
        try:
            value = json.loads(value or "{}")
        except (ValueError, RecursionError):
            value = {"metadata": value}
    return dict(value) if isinstance(value, dict) else {}


def _records(path: str) -> Iterator[Any]:
    if is_sqlite(path):
        if "content_hash" not in columns_of(path, "memories"):
            raise Refused(f"{path} is no SQLite file of mcp-memory-service: it has no memories with a content_hash.")
        return read_table(path, "memories")
    value = parse_json(read_text(path), path)
    listed = value.get("memories") if isinstance(value, dict) else value
    if not isinstance(listed, list):
        raise Refused(f"{path} is no export of mcp-memory-service: it has no list of `memories`.")
    return iter(listed)
