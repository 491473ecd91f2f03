"""Memories as rows, the same columns in every store: times as whole microseconds, labels as JSON, ids as text."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from recollect.core.memory import Memory
from recollect.core.moments import from_micros, to_micros

STATE: Final = (
    "id, deleted_at, project, session, place, category, created_at, updated_at, importance, sensitive, version, "
    "action, tags, keywords, content"
)
"""The columns that make up a memory's state, in `memories` and in `revisions`."""

STATE_OF_M: Final = ", ".join(f"m.{column}" for column in STATE.split(", "))
"""The same of a row `m`, where others stand beside it."""

# A memory is in its present state since `updated_at`; before that, in one of its revisions.
_BELIEVED: Final = f"""(
    SELECT key, space, {STATE} FROM memories WHERE updated_at <= {{mark}}
    UNION ALL
    SELECT memory AS key, space, {STATE} FROM revisions WHERE updated_at <= {{mark}} AND valid_to > {{mark}}
)"""


def to_row(memory: Memory) -> tuple[Any, ...]:
    """Write the columns of `STATE`."""
    return (
        memory.id,
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
    """Read the columns of `STATE`; others may follow them."""
    (identity, deleted, project, session, place, category, created, updated) = row[:8]
    (importance, sensitive, version, action, tags, keywords, content) = row[8:15]
    return Memory(
        id=identity,
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


def believed(as_of: datetime | None, mark: str) -> tuple[str, list[Any]]:
    """Give the table of what is, or was, believed, and its parameters, which the SQL has a `mark` for."""
    if as_of is None:
        return "memories", []
    return _BELIEVED.format(mark=mark), [to_micros(as_of)] * 3
