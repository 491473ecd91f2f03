"""Concepts: their extractors' queues, what is kept of what those read, and what is known of one."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from recollect.core.concepts import Extraction, fold, one_line
from recollect.core.errors import NotFound
from recollect.core.hits import Ref
from recollect.core.memory import check_label
from recollect.core.moments import from_micros, to_micros
from recollect.core.ports import Common, Concept, Reader, Said, Waiting
from recollect.stores.answers import no_extractor
from recollect.stores.rows import STATE_OF_M
from recollect.stores.sqlite.alike import find_alike
from recollect.stores.sqlite.mentions import (
    Text,
    keep_extraction,
    merge,
    remove_extractor,
    resolve,
    withdraw_concepts,
)
from recollect.stores.sqlite.rows import from_blob, from_row, to_blob
from recollect.stores.sqlite.ties import SqliteTies

_READERS: Final = """
SELECT x.name, x.calls, x.tokens, x.most_calls, x.most_tokens, (
    SELECT COUNT(*) FROM spaces AS s CROSS JOIN outbox AS o ON o.space = s.key AND o.work = 'concepts ' || x.key
    WHERE s.id = ?1 OR ?1 IS NULL
)
FROM extractors AS x ORDER BY x.key
"""
_QUEUE_ALL: Final = """
INSERT INTO outbox (space, work, memory, change)
SELECT m.space, 'concepts ' || ?, m.key, s.change FROM memories AS m JOIN spaces AS s ON s.key = m.space
WHERE m.deleted_at IS NULL AND NOT m.sensitive
"""
# Space by space, since the queue's key begins with it.
_NEXT: Final = f"""
SELECT {STATE_OF_M}, s.id, o.change
FROM spaces AS s
CROSS JOIN outbox AS o ON o.space = s.key AND o.work = 'concepts ' || ?
CROSS JOIN memories AS m ON m.key = o.memory
WHERE s.id = ? OR ? IS NULL
ORDER BY s.key, o.memory LIMIT ?
"""
# Whoever takes the row out of the queue keeps what was read: nobody else does, and nobody who read an older text.
_TAKE: Final = """
DELETE FROM outbox WHERE space = (SELECT key FROM spaces WHERE id = ?1) AND work = 'concepts ' || ?2 AND change = ?3
AND memory = (SELECT key FROM memories WHERE space = (SELECT key FROM spaces WHERE id = ?1) AND id = ?4)
RETURNING space, memory
"""
_READABLE: Final = """
SELECT m.space, m.key, m.updated_at FROM spaces AS s JOIN memories AS m ON m.space = s.key
WHERE s.id = ? AND m.id = ? AND m.deleted_at IS NULL AND NOT m.sensitive
"""
_CONCEPT: Final = """
SELECT c.key, c.name, c.space FROM spaces AS s
JOIN concept_names AS n ON n.space = s.key JOIN concepts AS c ON c.key = n.concept
WHERE s.id = ? AND n.folded = ?
"""
# Counted from the index by concept alone, which is in the order of the groups.
_COMMON: Final = """
SELECT c.name, x.many FROM (
    SELECT concept, COUNT(DISTINCT memory) AS many FROM memory_concepts
    WHERE space = (SELECT key FROM spaces WHERE id = ?) GROUP BY concept HAVING many > 1
) AS x JOIN concepts AS c ON c.key = x.concept ORDER BY x.many DESC, c.name LIMIT ?
"""
_ALIASES: Final = "SELECT folded FROM concept_names WHERE space = ? AND concept = ? AND folded <> ? ORDER BY folded"
_MENTIONS: Final = """
SELECT DISTINCT m.id, x.kind FROM memory_concepts AS x JOIN memories AS m ON m.key = x.memory
WHERE x.space = ? AND x.concept = ? ORDER BY m.id, x.kind
"""
# Of an edge that holds, those who state it; of one that has ended, those who did.
_EVIDENCE: Final = """
SELECT DISTINCT m.id FROM edge_evidence AS e JOIN memories AS m ON m.key = e.memory
WHERE e.space = ? AND e.edge = ? AND (e.valid_to IS NULL OR ? IS NOT NULL) ORDER BY m.id
"""
_SAID: Final = """
SELECT e.key, s.name, e.relation, t.name, e.valid_from, e.valid_to
FROM concept_edges AS e JOIN concepts AS s ON s.key = e.source JOIN concepts AS t ON t.key = e.target
WHERE e.space = ?1 AND (e.source = ?2 OR e.target = ?2) ORDER BY e.valid_from, e.key
"""


class SqliteConcepts(SqliteTies):
    def begin(self, extractor: str) -> None:
        with self._database.read() as connection:
            if _key(connection, extractor) is not None:
                return
        with self._database.write() as connection:
            if _key(connection, extractor) is None:
                connection.execute(_QUEUE_ALL, (_make(connection, extractor, reads=True),))

    def drop(self, extractor: str) -> None:
        with self._database.write() as connection:
            key = _find(connection, extractor)
            for (space,) in connection.execute("SELECT key FROM spaces").fetchall():
                remove_extractor(connection, space, key)
            connection.execute("DELETE FROM extracted WHERE extractor = ?", (key,))
            connection.execute("DELETE FROM extractors WHERE key = ?", (key,))

    def readers(self, space: str | None = None) -> list[Reader]:
        with self._database.read() as connection:
            return [Reader(*row) for row in connection.execute(_READERS, (space,))]

    def waiting(self, extractor: str, limit: int, space: str | None = None) -> list[Waiting]:
        with self._database.read() as connection:
            key = _find(connection, extractor)
            rows = connection.execute(_NEXT, (key, space, space, limit)).fetchall()
        return [Waiting(from_row(row[-2], row), (), row[-1]) for row in rows]

    def keep(self, extractor: str, made: Sequence[tuple[Waiting, Extraction]]) -> int:
        kept = 0
        with self._database.write() as connection:
            key = _find(connection, extractor)
            for waiting, read in made:
                memory = waiting.memory
                taken = connection.execute(_TAKE, (memory.space, key, waiting.ticket, to_blob(memory.id))).fetchone()
                if taken is not None:
                    space, memory_key = taken
                    text = Text(space, memory_key, to_micros(memory.updated_at))
                    keep_extraction(connection, text, key, read)
                    kept += 1
        return kept

    def load(self, extractor: str, read: Mapping[Ref, Extraction]) -> int:
        loaded = 0
        with self._database.write() as connection:
            key = _key(connection, extractor) or _make(connection, extractor, reads=False)
            for ref, extraction in read.items():
                row = connection.execute(_READABLE, (ref.space, to_blob(ref.id))).fetchone()
                if row is None:
                    continue
                space, memory_key, since = row
                withdraw_concepts(connection, space, memory_key, key)
                keep_extraction(connection, Text(space, memory_key, since), key, extraction)
                loaded += 1
        return loaded

    def find(self, space: str, name: str) -> Concept | None:
        with self._database.read() as connection:
            row = connection.execute(_CONCEPT, (space, fold(name))).fetchone()
            if row is None:
                return None
            key, canonical, space_key = row
            aliases = connection.execute(_ALIASES, (space_key, key, fold(canonical))).fetchall()
            mentions = connection.execute(_MENTIONS, (space_key, key)).fetchall()
            return Concept(
                canonical,
                tuple(alias for (alias,) in aliases),
                tuple((Ref(space, from_blob(identity)), kind) for identity, kind in mentions),
                tuple(_said(connection, space, space_key, key)),
            )

    def alike(self, space: str, name: str) -> list[str]:
        with self._database.read() as connection:
            return find_alike(connection, space, name)

    def common(self, space: str, limit: int) -> list[Common]:
        with self._database.read() as connection:
            return [Common(*row) for row in connection.execute(_COMMON, (space, limit))]

    def alias(self, space: str, name: str, alias: str) -> None:
        check_label("name", alias)
        with self._database.write() as connection:
            row = connection.execute(_CONCEPT, (space, fold(name))).fetchone()
            if row is None:
                raise NotFound(f"There is no concept {name!r}.")
            concept, _, space_key = row
            merge(connection, space_key, resolve(connection, space_key, fold(alias), one_line(alias)), concept)
            connection.execute(
                "UPDATE concept_names SET given = 1 WHERE space = ? AND folded = ?", (space_key, fold(alias))
            )


def _said(connection: sqlite3.Connection, space: str, space_key: int, concept: int) -> Iterator[Said]:
    for edge, source, relation, target, since, until in connection.execute(_SAID, (space_key, concept)).fetchall():
        evidence = connection.execute(_EVIDENCE, (space_key, edge, until))
        refs = tuple(Ref(space, from_blob(identity)) for (identity,) in evidence)
        yield Said(source, relation, target, from_micros(since), None if until is None else from_micros(until), refs)


def _key(connection: sqlite3.Connection, extractor: str) -> int | None:
    row = connection.execute("SELECT key FROM extractors WHERE name = ?", (extractor,)).fetchone()
    return None if row is None else int(row[0])


def _find(connection: sqlite3.Connection, extractor: str) -> int:
    key = _key(connection, extractor)
    if key is None:
        raise no_extractor(extractor)
    return key


def _make(connection: sqlite3.Connection, extractor: str, *, reads: bool) -> int:
    row = connection.execute(
        "INSERT INTO extractors (name, reads) VALUES (?, ?) RETURNING key", (extractor, reads)
    ).fetchone()
    return int(row[0])
