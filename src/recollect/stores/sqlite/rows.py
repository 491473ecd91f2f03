"""Memories as rows: times as whole microseconds, ids as their 16 bytes, labels as JSON."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from recollect.core.memory import Memory, Revision
from recollect.core.query import Scope
from recollect.stores.moments import from_micros, to_micros

STATE: Final = (
    "id, deleted_at, project, session, place, category, created_at, updated_at, importance, sensitive, version, "
    "action, tags, keywords, content"
)
"""The columns that make up a memory's state, in `memories` and in `revisions`."""
STATE_PLACES: Final = ", ".join("?" * len(STATE.split(",")))

# A memory is in its present state since `updated_at`; before that, in one of its revisions.
BELIEVED: Final = f"""(
    SELECT key, space, {STATE} FROM memories WHERE updated_at <= ?
    UNION ALL
    SELECT memory AS key, space, {STATE} FROM revisions WHERE updated_at <= ? AND valid_to > ?
)"""


def to_blob(memory_id: str) -> bytes:
    """Give the 16 bytes of an id; of what is no id, bytes that no row has."""
    try:
        return bytes.fromhex(memory_id.replace("-", ""))
    except ValueError:
        return b""


def from_blob(blob: bytes) -> str:
    digits = blob.hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def to_row(memory: Memory) -> tuple[Any, ...]:
    return (
        to_blob(memory.id),
        None if memory.deleted_at is None else to_micros(memory.deleted_at),
        memory.project or "",
        memory.session,
        memory.place,
        memory.category,
        to_micros(memory.created_at),
        to_micros(memory.updated_at),
        memory.importance,
        memory.sensitive,
        memory.version,
        memory.action,
        json.dumps(memory.tags, ensure_ascii=False),
        json.dumps(memory.keywords, ensure_ascii=False),
        memory.content,
    )


def from_row(space: str, row: Sequence[Any]) -> Memory:
    """Read the columns of `STATE`."""
    (identity, deleted, project, session, place, category, created, updated) = row[:8]
    (importance, sensitive, version, action, tags, keywords, content) = row[8:15]
    return Memory(
        id=from_blob(identity),
        space=space,
        content=content,
        created_at=from_micros(created),
        updated_at=from_micros(updated),
        category=category,
        tags=() if tags == "[]" else tuple(json.loads(tags)),
        keywords=() if keywords == "[]" else tuple(json.loads(keywords)),
        importance=importance,
        project=project or None,
        session=session,
        place=place,
        sensitive=bool(sensitive),
        version=version,
        action=action,
        deleted_at=None if deleted is None else from_micros(deleted),
    )


def revision_from_row(space: str, row: Sequence[Any]) -> Revision:
    """Read the columns of `STATE` and `valid_to`."""
    return Revision(from_row(space, row), from_micros(row[15]))


def marks(values: Sequence[object] | frozenset[str]) -> str:
    return ", ".join("?" * len(values))


def believed(as_of: datetime | None) -> tuple[str, list[Any]]:
    """Give the table of what is, or was, believed, and its parameters."""
    if as_of is None:
        return "memories", []
    return BELIEVED, [to_micros(as_of)] * 3


def narrow(scope: Scope) -> tuple[str, list[Any]]:
    """Give the conditions of a scope inside its space on a row `m`, and their parameters."""
    conditions = "m.deleted_at IS NULL"
    parameters: list[Any] = []
    if scope.project:
        # What belongs to no project holds in every one.
        conditions += " AND m.project IN ('', ?)"
        parameters.append(scope.project)
    if scope.sessions:
        conditions += f" AND m.session IN ({marks(scope.sessions)})"
        parameters.extend(sorted(scope.sessions))
    if scope.categories:
        conditions += f" AND m.category IN ({marks(scope.categories)})"
        parameters.extend(sorted(scope.categories))
    if scope.before is not None:
        conditions += " AND m.place < ?"
        parameters.append(scope.before)
    return conditions, parameters
