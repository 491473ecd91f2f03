"""Links between memories of one space. Ending a link keeps it for `as_of`."""

import sqlite3
from datetime import datetime
from typing import Final

from recollect.core.errors import NotFound
from recollect.core.hits import Ref
from recollect.core.memory import Link
from recollect.core.moments import to_micros
from recollect.stores.changes import news_of, span_of
from recollect.stores.sqlite.linked import SqliteLinked, read_link, space_key
from recollect.stores.sqlite.memories import NEXT_CHANGE, key_of
from recollect.stores.sqlite.rows import to_blob

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
_ALL_OF: Final = """
SELECT l.kind, t.id, l.valid_from, l.valid_to
FROM links AS l JOIN memories AS t ON t.key = l.target
WHERE l.space = ? AND l.source = ?
ORDER BY l.valid_from, l.kind, t.id
"""


class SqliteLinks(SqliteLinked):
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
            row = connection.execute(_LAST, (space_key(connection, space_id),)).fetchone()
        return None if row is None else (row[0], read_link(space_id, row[1:]))

    def all_of(self, ref: Ref) -> list[Link]:
        with self._database.read() as connection:
            space = space_key(connection, ref.space)
            rows = connection.execute(_ALL_OF, (space, key_of(connection, space, ref.id)))
            return [read_link(ref.space, (to_blob(ref.id), *each)) for each in rows]


def _ends(connection: sqlite3.Connection, link: Link) -> tuple[int, int | None, int | None]:
    space = space_key(connection, link.space)
    return space, key_of(connection, space, link.source), key_of(connection, space, link.target)
