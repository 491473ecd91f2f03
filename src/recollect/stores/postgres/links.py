"""Links between memories of one space. Ending a link keeps it for `as_of`."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Final

from psycopg import Connection

from recollect.core.errors import NotFound
from recollect.core.hits import Ref
from recollect.core.memory import Link, LinkKind, is_id
from recollect.core.moments import from_micros, moment_of, to_micros
from recollect.stores.changes import news_of, span_of
from recollect.stores.postgres.audit import note_write
from recollect.stores.postgres.database import Database, Row
from recollect.stores.postgres.rows import ids_of
from recollect.stores.postgres.spaces import key_of_space, lock_space
from recollect.stores.postgres.writing import count_change

_ADD: Final = """
INSERT INTO links (space, source, kind, target, valid_from, valid_to, change) VALUES (%s, %s, %s, %s, %s, %s, %s)
"""
_END: Final = """
UPDATE links SET valid_to = %s, change = %s
WHERE space = %s AND source = %s AND kind = %s AND target = %s AND valid_to IS NULL
"""
_LAST: Final = """
SELECT l.change, s.id::text, l.kind, t.id::text, l.valid_from, l.valid_to
FROM links AS l
JOIN memories AS s ON s.space = l.space AND s.key = l.source
JOIN memories AS t ON t.space = l.space AND t.key = l.target
WHERE l.space = %s
ORDER BY l.change DESC LIMIT 1
"""
_VALID: Final = "l.valid_from <= %(moment)s AND (l.valid_to IS NULL OR l.valid_to > %(moment)s)"
# Up the chains of what supersedes and over to what resolves; UNION drops what was met before, which ends a circle.
# Then every link that touches what was reached, by the index of either end.
_AMONG: Final = f"""
WITH RECURSIVE reached (memory) AS (
    SELECT key FROM memories WHERE space = %(space)s AND id = ANY (%(ids)s::uuid[])
    UNION
    SELECT CASE WHEN l.kind = 'supersedes' THEN l.source ELSE l.target END
    FROM reached AS r JOIN links AS l ON l.space = %(space)s AND (
        (l.target = r.memory AND l.kind = 'supersedes') OR (l.source = r.memory AND l.kind = 'resolved-by')
    )
    WHERE {_VALID}
),
touching AS (
    SELECT l.source, l.kind, l.target, l.valid_from, l.valid_to FROM links AS l
    WHERE l.space = %(space)s AND l.source IN (SELECT memory FROM reached) AND {_VALID}
    UNION
    SELECT l.source, l.kind, l.target, l.valid_from, l.valid_to FROM links AS l
    WHERE l.space = %(space)s AND l.target IN (SELECT memory FROM reached) AND {_VALID}
)
SELECT s.id::text, l.kind, t.id::text, l.valid_from, l.valid_to
FROM touching AS l
JOIN memories AS s ON s.space = %(space)s AND s.key = l.source
JOIN memories AS t ON t.space = %(space)s AND t.key = l.target
ORDER BY l.valid_from, s.id, t.id, l.kind COLLATE "C"
"""
_ALL_OF: Final = """
SELECT s.id::text, l.kind, t.id::text, l.valid_from, l.valid_to
FROM memories AS s
JOIN links AS l ON l.space = s.space AND l.source = s.key
JOIN memories AS t ON t.space = s.space AND t.key = l.target
WHERE s.space = %s AND s.id = %s
ORDER BY l.valid_from, l.kind COLLATE "C", t.id
"""


class PostgresLinks:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, link: Link, *, dry_run: bool = False) -> bool:
        """Keep a link as it is given, ended or not."""
        with self._database.read() if dry_run else self._database.write() as connection:
            space, source, target = self._ends(connection, link, lock=not dry_run)
            if source is None or target is None:
                missing = link.source if source is None else link.target
                raise NotFound(f"There is no memory {missing} to link.")
            known = connection.execute(
                "SELECT valid_from, valid_to FROM links WHERE space = %s AND source = %s AND kind = %s AND target = %s",
                (space, source, link.kind, target),
            ).fetchall()
            since, until = span_of(link)
            news = news_of((since, until), known)
            if news is None:
                return False
            if not dry_run:
                gained = -1 if news == "ends" else int(until is None)
                change = count_change(connection, space, links=gained)
                if news == "ends":
                    connection.execute(_END, (until, change, space, source, link.kind, target))
                else:
                    connection.execute(_ADD, (space, source, link.kind, target, since, until, change))
                note_write(connection, space, "linked", [link.source, link.target])
        return True

    def end(self, link: Link, at: datetime) -> bool:
        with self._database.write() as connection:
            space, source, target = self._ends(connection, link, lock=True)
            if source is None or target is None:
                return False
            change = count_change(connection, space)
            done = connection.execute(_END, (to_micros(at), change, space, source, link.kind, target)).rowcount
            if done:
                connection.execute("UPDATE spaces SET links = links - %s WHERE key = %s", (done, space))
                note_write(connection, space, "unlinked", [link.source, link.target])
            return done > 0

    def last(self, space: str) -> tuple[int, Link] | None:
        """Give the link of a space that changed last, and its change number."""
        with self._database.read() as connection:
            row = connection.execute(_LAST, (self._key(connection, space),)).fetchone()
        return None if row is None else (row[0], _link(space, row[1:]))

    def among(self, refs: Collection[Ref], as_of: datetime | None = None) -> list[Link]:
        links: list[Link] = []
        with self._database.read() as connection:
            for space in sorted({ref.space for ref in refs}):
                key = self._key(connection, space)
                if as_of is None and not self._count(connection, space):
                    continue
                ids = ids_of([ref.id for ref in refs if ref.space == space])
                rows = connection.execute(_AMONG, {"space": key, "ids": ids, "moment": moment_of(as_of)})
                links += [_link(space, row) for row in rows]
        return links

    def all_of(self, ref: Ref) -> list[Link]:
        if not is_id(ref.id):
            return []
        with self._database.read() as connection:
            rows = connection.execute(_ALL_OF, (self._key(connection, ref.space), ref.id))
            return [_link(ref.space, row) for row in rows]

    def _count(self, connection: Connection[Row], space: str) -> int:
        """Give how many links of a space hold."""
        noted: dict[str, int] = self._database.noted.get("links", {})
        if space in noted:
            return noted[space]
        row = connection.execute("SELECT links FROM spaces WHERE id = %s", (space,)).fetchone()
        return int(row[0]) if row else 0

    def _key(self, connection: Connection[Row], space: str) -> int:
        return key_of_space(self._database, connection, space) or -1

    def _ends(self, connection: Connection[Any], link: Link, *, lock: bool) -> tuple[int, int | None, int | None]:
        try:
            space = lock_space(self._database, connection, link.space) if lock else self._key(connection, link.space)
        except NotFound:
            space = -1
        rows = connection.execute(
            "SELECT id::text, key FROM memories WHERE space = %s AND id = ANY (%s::uuid[])",
            (space, ids_of([link.source, link.target])),
        )
        found: dict[str, int] = dict(rows.fetchall())
        return space, found.get(link.source), found.get(link.target)


def _link(space: str, row: Sequence[Any]) -> Link:
    source, kind, target, since, until = row
    known: LinkKind = kind
    ended_at = None if until is None else from_micros(until)
    return Link(space, source, known, target, from_micros(since), ended_at)
