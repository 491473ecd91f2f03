"""What rows are like in Postgres: ids are read as text, and parameters are marked by %s."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from recollect.core.memory import is_id
from recollect.core.query import Scope
from recollect.stores import rows
from recollect.stores.rows import STATE

STATE_AS_READ: Final = STATE.replace("id,", "id::text,", 1)
"""The columns of a state as they are read: an id as text is what we want, and cheaper than as an object."""
STATE_OF_M_AS_READ: Final = ", ".join(f"m.{column}" for column in STATE_AS_READ.split(", "))
"""The same of a row `m`, where others stand beside it."""
STATE_PLACES: Final = ", ".join(["%s"] * len(STATE.split(",")))


def ids_of(handles: Iterable[str]) -> str:
    """Write ids as an array, leaving out what is no id, and so nobody's. As text it is made faster than by psycopg."""
    return f"{{{','.join(handle for handle in handles if is_id(handle))}}}"


def believed(as_of: datetime | None) -> tuple[str, list[Any]]:
    return rows.believed(as_of, "%s")


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
