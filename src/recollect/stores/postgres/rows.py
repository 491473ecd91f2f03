"""Memories as rows, the same columns as on the laptop: times as whole microseconds, labels as JSON."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, Final

from recollect.core.memory import Memory, Revision, is_id
from recollect.core.query import Scope
from recollect.stores.moments import from_micros, to_micros

STATE: Final = (
    "id, deleted_at, project, session, place, category, created_at, updated_at, importance, sensitive, version, "
    "action, tags, keywords, content"
)
"""The columns that make up a memory's state, in `memories` and in `revisions`."""
STATE_AS_READ: Final = STATE.replace("id,", "id::text,", 1)
"""The same as they are read: an id as text is what we want, and cheaper than as an object."""
STATE_PLACES: Final = ", ".join(["%s"] * len(STATE.split(",")))

# A memory is in its present state since `updated_at`; before that, in one of its revisions.
BELIEVED: Final = f"""(
    SELECT key, space, {STATE} FROM memories WHERE updated_at <= %s
    UNION ALL
    SELECT memory AS key, space, {STATE} FROM revisions WHERE updated_at <= %s AND valid_to > %s
)"""


def to_row(memory: Memory) -> tuple[Any, ...]:
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
    """Read the columns of `STATE`."""
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
        sensitive=sensitive,
        version=version,
        action=action,
        deleted_at=None if deleted is None else from_micros(deleted),
    )


def revision_from_row(space: str, row: Sequence[Any]) -> Revision:
    """Read the columns of `STATE` and `valid_to`."""
    return Revision(from_row(space, row), from_micros(row[15]))


def ids_of(handles: Iterable[str]) -> str:
    """Write ids as an array, leaving out what is no id, and so nobody's. As text it is made faster than by psycopg."""
    return f"{{{','.join(handle for handle in handles if is_id(handle))}}}"


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
        conditions += " AND m.project IN ('', %s)"
        parameters.append(scope.project)
    if scope.sessions:
        conditions += " AND m.session = ANY (%s)"
        parameters.append(sorted(scope.sessions))
    if scope.categories:
        conditions += " AND m.category = ANY (%s)"
        parameters.append(sorted(scope.categories))
    if scope.before is not None:
        conditions += " AND m.place < %s"
        parameters.append(scope.before)
    return conditions, parameters
