"""What rows are like in SQLite: ids are their 16 bytes, and parameters are marked by ?."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from recollect.core.memory import Memory, write_id
from recollect.core.query import Scope
from recollect.stores import rows
from recollect.stores.rows import STATE

STATE_PLACES: Final = ", ".join("?" * len(STATE.split(",")))


def to_blob(memory_id: str) -> bytes:
    """Give the 16 bytes of an id; of what is no id, bytes that no row has."""
    try:
        return bytes.fromhex(memory_id.replace("-", ""))
    except ValueError:
        return b""


def from_blob(blob: bytes) -> str:
    return write_id(blob.hex())


def to_row(memory: Memory) -> tuple[Any, ...]:
    return (to_blob(memory.id), *rows.to_row(memory)[1:])


def from_row(space: str, row: Sequence[Any]) -> Memory:
    return rows.from_row(space, (from_blob(row[0]), *row[1:]))


def marks(values: Sequence[object] | frozenset[str]) -> str:
    return ", ".join("?" * len(values))


def believed(as_of: datetime | None) -> tuple[str, list[Any]]:
    return rows.believed(as_of, "?")


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
