"""claude-memory-mcp: its SQLite file (`~/.claude/claude-memory/memory/memory.db`), or what its API gives as JSON.

The API gives `{"memories": [...]}` from `/api/memories` and `/api/memories/sync`, and one memory with its links
(`links_out`) from `/api/memories/ID`; a list of these is read too. Its links are ours, by the same names.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from recollect.core.errors import Refused
from recollect.core.foreign import Foreign, Found, Left, Locate, Tie
from recollect.core.memory import LINK_KINDS
from recollect.importers.fields import category_of, labels_of, number_in, text_of, time_of
from recollect.importers.files import is_sqlite, parse_json, read_text
from recollect.importers.tables import columns_of, read_table

SOURCE: Final = "claude-memory-mcp"
_SEALED: Final = "[SENSITIVE - use secret_get("


def read(path: str, _locate: Locate) -> Iterator[Found]:
    for number, record in enumerate(_records(path), start=1):
        where = f"memory {record['id']}" if isinstance(record, dict) and record.get("id") else f"memory {number}"
        content = text_of(record.get("content")) if isinstance(record, dict) else ""
        if not content:
            yield Left(where, "It has no text under `content`.", wrong=True)
        elif record.get("deleted_at"):
            yield Left(where, "It was deleted there.")
        elif content.startswith(_SEALED):
            yield Left(
                where, "Its text is sealed there: get it with secret_get, and `recollect remember --sensitive` it."
            )
        else:
            yield from _read_record(record, content, where)


def _read_record(record: Mapping[str, Any], content: str, where: str) -> Iterator[Found]:
    key = _key(record, content)
    importance = number_in(record.get("importance"))
    yield Foreign(
        key=key,
        where=where,
        content=content,
        category=category_of(record.get("category"), {"": "facts"}),
        tags=labels_of(record.get("tags")),
        keywords=labels_of(text_of(record.get("expanded_keywords")).replace(",", " ").split()),
        importance=0.5 if importance is None else importance,
        sensitive=bool(record.get("is_sensitive") or record.get("force_sensitive")),
        created_at=time_of(record.get("created_at")),
        updated_at=time_of(record.get("updated_at")),
    )
    links = record.get("links_out")
    for link in links if isinstance(links, list) else ():
        kind = next((kind for kind in LINK_KINDS if isinstance(link, dict) and kind == link.get("type")), None)
        if kind is None:
            yield Left(where, f"It has a link that is none of {', '.join(LINK_KINDS)}.", wrong=True)
        else:
            yield Tie(key, kind, f"server:{link.get('id')}", where)


def _key(record: Mapping[str, Any], content: str) -> str:
    """Know a memory by the server's id, which the local file has as another column; or by its text."""
    if "server_id" in record:
        known = record["server_id"]
        return f"local:{record.get('id')}" if known is None else f"server:{known}"
    return content if record.get("id") is None else f"server:{record['id']}"


def _records(path: str) -> Iterator[Any]:
    if is_sqlite(path):
        columns = columns_of(path, "memories")
        if "expanded_keywords" not in columns:
            raise Refused(f"{path} is no SQLite file of claude-memory-mcp: it has no memories with expanded_keywords.")
        rows = read_table(path, "memories")
        # A file that was never in touch with a server has no such column.
        return rows if "server_id" in columns else ({**row, "server_id": None} for row in rows)
    value = parse_json(read_text(path), path)
    if isinstance(value, dict):
        value = (
            value["memories"] if isinstance(value.get("memories"), list) else [value] if "content" in value else None
        )
    if not isinstance(value, list):
        raise Refused(f"{path} holds no list of memories: save what /api/memories gives, or name the SQLite file.")
    return iter(value)
