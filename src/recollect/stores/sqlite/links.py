"""Links between memories of one space. Ending a link keeps it for `as_of`."""

import sqlite3
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

from recollect.core.errors import NotFound
from recollect.core.hits import Ref
from recollect.core.memory import Link, LinkKind
from recollect.stores.changes import news_of, span_of
from recollect.stores.moments import from_micros, moment_of, to_micros
from recollect.stores.sqlite.database import Database
from recollect.stores.sqlite.memories import NEXT_CHANGE, key_of
from recollect.stores.sqlite.rows import from_blob, marks, to_blob

_ADD: Final = """
INSERT INTO links (space, source, kind, target, valid_from, valid_to, change) VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_END: Final = """
UPDATE links SET valid_to = ?, change = ?
WHERE space = ? AND source = ? AND kind = ? AND target = ? AND valid_to IS NULL
"""
_LAST: Final = """
SELECT l.change, s.id, l.kind, t.id, l.valid_from, l.valid_to
FROM links AS l
JOIN memories AS s ON s.key = l.source
JOIN memories AS t ON t.key = l.target
WHERE l.space = ?
ORDER BY l.change DESC LIMIT 1
"""
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
_ALL_OF: Final = """
SELECT l.kind, t.id, l.valid_from, l.valid_to
FROM links AS l JOIN memories AS t ON t.key = l.target
WHERE l.space = ? AND l.source = ?
ORDER BY l.valid_from, l.kind, t.id
"""


class SqliteLinks:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, link: Link, *, dry_run: bool = False) -> bool:
        """Keep a link as it is given, ended or not."""
        with self._database.read() if dry_run else self._database.write() as connection:
            space, source, target = _ends(connection, link)
            if source is None or target is None:
                missing = link.source if source is None else link.target
                raise NotFound(f"There is no memory {missing} to link.")
            known = connection.execute(
                "SELECT valid_from, valid_to FROM links WHERE space = ? AND source = ? AND kind = ? AND target = ?",
                (space, source, link.kind, target),
            ).fetchall()
            since, until = span_of(link)
            news = news_of((since, until), known)
            if news is None:
                return False
            if not dry_run:
                change = connection.execute(NEXT_CHANGE, (0, 0.0, space)).fetchone()[0]
                if news == "ends":
                    connection.execute(_END, (until, change, space, source, link.kind, target))
                else:
                    connection.execute(_ADD, (space, source, link.kind, target, since, until, change))
        return True

    def end(self, link: Link, at: datetime) -> bool:
        with self._database.write() as connection:
            space, source, target = _ends(connection, link)
            change = connection.execute(NEXT_CHANGE, (0, 0.0, space)).fetchone()
            cursor = connection.execute(_END, (to_micros(at), change and change[0], space, source, link.kind, target))
            return cursor.rowcount > 0

    def last(self, space_id: str) -> tuple[int, Link] | None:
        """Give the link of a space that changed last, and its change number."""
        with self._database.read() as connection:
            row = connection.execute(_LAST, (_space(connection, space_id),)).fetchone()
        return None if row is None else (row[0], _link(space_id, row[1:]))

    def among(self, refs: Collection[Ref], as_of: datetime | None = None) -> list[Link]:
        moment = moment_of(as_of)
        links: list[Link] = []
        with self._database.read() as connection:
            for space_id in sorted({ref.space for ref in refs}):
                space = _space(connection, space_id)
                if not connection.execute("SELECT 1 FROM links WHERE space = ? LIMIT 1", (space,)).fetchone():
                    continue
                ids = [to_blob(ref.id) for ref in refs if ref.space == space_id]
                reached = _reach(connection, space, ids, moment)
                rows = connection.execute(
                    _TOUCHING.format(memories=marks(reached)), [space, *reached, moment, moment] * 2
                )
                links += [_link(space_id, each) for each in rows]
        return links

    def all_of(self, ref: Ref) -> list[Link]:
        with self._database.read() as connection:
            space = _space(connection, ref.space)
            rows = connection.execute(_ALL_OF, (space, key_of(connection, space, ref.id)))
            return [_link(ref.space, (to_blob(ref.id), *each)) for each in rows]


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


def _link(space: str, row: tuple[bytes, LinkKind, bytes, int, int | None]) -> Link:
    source, kind, target, since, until = row
    ended_at = None if until is None else from_micros(until)
    return Link(space, from_blob(source), kind, from_blob(target), from_micros(since), ended_at)


def _ends(connection: sqlite3.Connection, link: Link) -> tuple[int, int | None, int | None]:
    space = _space(connection, link.space)
    return space, key_of(connection, space, link.source), key_of(connection, space, link.target)


def _space(connection: sqlite3.Connection, space_id: str) -> int:
    """Give the key of a space, or for one that is not there a key that no row has."""
    row = connection.execute("SELECT key FROM spaces WHERE id = ?", (space_id,)).fetchone()
    return -1 if row is None else int(row[0])
