"""Links between memories of one space. Ending a link keeps it for `as_of`."""

from collections.abc import Collection
from datetime import datetime
from typing import Final

from recollect.core.errors import NotFound
from recollect.core.hits import Ref
from recollect.core.memory import Link
from recollect.stores.sqlite.database import Database
from recollect.stores.sqlite.memories import key_of
from recollect.stores.sqlite.rows import END_OF_TIME, from_blob, from_micros, marks, to_blob, to_micros

_ADD: Final = """
INSERT INTO links (space, source, kind, target, valid_from, valid_to) VALUES (?, ?, ?, ?, ?, ?)
"""
_END: Final = """
UPDATE links SET valid_to = ? WHERE space = ? AND source = ? AND kind = ? AND target = ? AND valid_to IS NULL
"""
# From the given memories up the chains of what supersedes them and over to what resolves them, then every link from
# or to any of these, each by its own index. UNION drops what was met before, so a circle ends.
_AMONG: Final = """
WITH RECURSIVE
reached (memory) AS (
    SELECT key FROM memories WHERE space = ? AND id IN ({ids})
    UNION
    SELECT l.source
    FROM reached AS r JOIN links AS l ON l.space = ? AND l.target = r.memory AND l.kind = 'supersedes'
    WHERE l.valid_from <= ? AND (l.valid_to IS NULL OR l.valid_to > ?)
    UNION
    SELECT l.target
    FROM reached AS r JOIN links AS l ON l.space = ? AND l.source = r.memory AND l.kind = 'resolved-by'
    WHERE l.valid_from <= ? AND (l.valid_to IS NULL OR l.valid_to > ?)
),
touching AS (
    SELECT l.* FROM reached AS r JOIN links AS l ON l.space = ? AND l.source = r.memory
    UNION
    SELECT l.* FROM reached AS r JOIN links AS l ON l.space = ? AND l.target = r.memory
)
SELECT s.id, l.kind, t.id, l.valid_from, l.valid_to
FROM touching AS l
JOIN memories AS s ON s.key = l.source
JOIN memories AS t ON t.key = l.target
WHERE l.valid_from <= ? AND (l.valid_to IS NULL OR l.valid_to > ?)
ORDER BY l.valid_from, s.id, t.id, l.kind
"""
_ALL_OF: Final = """
SELECT t.id, l.kind, l.valid_from, l.valid_to
FROM links AS l JOIN memories AS t ON t.key = l.target
WHERE l.space = ? AND l.source = ?
ORDER BY l.valid_from, l.kind, t.id
"""


class SqliteLinks:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, link: Link) -> bool:
        """Keep a link as it is given: an import brings ended ones too, and the end of one that holds here."""
        with self._database.write() as connection:
            space = _space(connection.execute("SELECT key FROM spaces WHERE id = ?", (link.space,)).fetchone())
            source, target = key_of(connection, space, link.source), key_of(connection, space, link.target)
            if source is None or target is None:
                missing = link.source if source is None else link.target
                raise NotFound(f"There is no memory {missing} to link.")
            ends = connection.execute(
                "SELECT valid_from, valid_to FROM links WHERE space = ? AND source = ? AND kind = ? AND target = ?",
                (space, source, link.kind, target),
            ).fetchall()
            since = to_micros(link.created_at)
            until = None if link.ended_at is None else to_micros(link.ended_at)
            if (since, None) in ends and until is not None:
                connection.execute(_END, (until, space, source, link.kind, target))
                return True
            if any(begin == since or (end is None and until is None) for begin, end in ends):
                return False
            connection.execute(_ADD, (space, source, link.kind, target, since, until))
        return True

    def end(self, link: Link, at: datetime) -> bool:
        with self._database.write() as connection:
            space = _space(connection.execute("SELECT key FROM spaces WHERE id = ?", (link.space,)).fetchone())
            source, target = key_of(connection, space, link.source), key_of(connection, space, link.target)
            cursor = connection.execute(_END, (to_micros(at), space, source, link.kind, target))
            return cursor.rowcount > 0

    def among(self, refs: Collection[Ref], as_of: datetime | None = None) -> list[Link]:
        moment = END_OF_TIME if as_of is None else to_micros(as_of)
        links: list[Link] = []
        with self._database.read() as connection:
            for space_id in sorted({ref.space for ref in refs}):
                row = connection.execute(
                    "SELECT key FROM spaces WHERE id = ? AND EXISTS (SELECT 1 FROM links WHERE space = key)",
                    (space_id,),
                ).fetchone()
                if row is None:
                    continue
                ids = [to_blob(ref.id) for ref in refs if ref.space == space_id]
                space = row[0]
                rows = connection.execute(
                    _AMONG.format(ids=marks(ids)),
                    [space, *ids, *[space, moment, moment] * 2, space, space, moment, moment],
                )
                links += [
                    Link(
                        space_id,
                        from_blob(source),
                        kind,
                        from_blob(target),
                        from_micros(since),
                        None if until is None else from_micros(until),
                    )
                    for source, kind, target, since, until in rows
                ]
        return links

    def all_of(self, ref: Ref) -> list[Link]:
        with self._database.read() as connection:
            space = _space(connection.execute("SELECT key FROM spaces WHERE id = ?", (ref.space,)).fetchone())
            rows = connection.execute(_ALL_OF, (space, key_of(connection, space, ref.id)))
            return [
                Link(
                    ref.space,
                    ref.id,
                    kind,
                    from_blob(target),
                    from_micros(since),
                    None if until is None else from_micros(until),
                )
                for target, kind, since, until in rows
            ]


def _space(row: tuple[int] | None) -> int:
    """Give the key of a space, or for one that is not there a key that no row has."""
    return -1 if row is None else row[0]
