"""Which links a recall follows: those that touch what was found, and the chains of what supersedes it."""

import sqlite3
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from recollect.core.hits import Ref
from recollect.core.memory import Link, LinkKind
from recollect.core.moments import from_micros, moment_of
from recollect.stores.sqlite.database import Database
from recollect.stores.sqlite.rows import from_blob, marks, to_blob

_VALID: Final = "l.valid_from <= ? AND (l.valid_to IS NULL OR l.valid_to > ?)"
# One step up from what is superseded and over to what resolves, by the index of either end.
_NEXT: Final = f"""
SELECT l.source FROM links AS l
WHERE l.space = ? AND l.target IN ({{memories}}) AND l.kind = 'supersedes' AND {_VALID}
UNION
SELECT l.target FROM links AS l
WHERE l.space = ? AND l.source IN ({{memories}}) AND l.kind = 'resolved-by' AND {_VALID}
"""
_TOUCHING: Final = f"""
SELECT s.id, l.kind, t.id, l.valid_from, l.valid_to
FROM (
    SELECT source, kind, target, valid_from, valid_to FROM links AS l
    WHERE l.space = ? AND l.source IN ({{memories}}) AND {_VALID}
    UNION
    SELECT source, kind, target, valid_from, valid_to FROM links AS l
    WHERE l.space = ? AND l.target IN ({{memories}}) AND {_VALID}
) AS l
JOIN memories AS s ON s.key = l.source
JOIN memories AS t ON t.key = l.target
ORDER BY l.valid_from, s.id, t.id, l.kind
"""


class SqliteLinked:
    def __init__(self, database: Database) -> None:
        self._database = database

    def among(self, refs: Collection[Ref], as_of: datetime | None = None) -> list[Link]:
        moment = moment_of(as_of)
        links: list[Link] = []
        with self._database.read() as connection:
            for space_id in sorted({ref.space for ref in refs}):
                space = space_key(connection, space_id)
                if not connection.execute("SELECT 1 FROM links WHERE space = ? LIMIT 1", (space,)).fetchone():
                    continue
                ids = [to_blob(ref.id) for ref in refs if ref.space == space_id]
                reached = _reach(connection, space, ids, moment)
                rows = connection.execute(
                    _TOUCHING.format(memories=marks(reached)), [space, *reached, moment, moment] * 2
                )
                links += [read_link(space_id, each) for each in rows]
        return links


def _reach(connection: sqlite3.Connection, space: int, ids: Sequence[bytes], moment: int) -> list[int]:
    """Follow the chains of what supersedes and what resolves, step by step; what was met before ends a circle."""
    found = connection.execute(f"SELECT key FROM memories WHERE space = ? AND id IN ({marks(ids)})", [space, *ids])
    reached: dict[int, None] = {}
    frontier = [key for (key,) in found]
    while frontier:
        reached.update(dict.fromkeys(frontier))
        found = connection.execute(_NEXT.format(memories=marks(frontier)), [space, *frontier, moment, moment] * 2)
        frontier = [key for (key,) in found if key not in reached]
    return list(reached)


def read_link(space: str, row: tuple[bytes, LinkKind, bytes, int, int | None]) -> Link:
    source, kind, target, since, until = row
    ended_at = None if until is None else from_micros(until)
    return Link(space, from_blob(source), kind, from_blob(target), from_micros(since), ended_at)


def space_key(connection: sqlite3.Connection, space_id: str) -> int:
    """Give the key of a space, or for one that is not there a key that no row has."""
    row = connection.execute("SELECT key FROM spaces WHERE id = ?", (space_id,)).fetchone()
    return -1 if row is None else int(row[0])
