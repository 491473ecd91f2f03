"""Concepts: their extractors' queues, what is kept of what those read, and what is known of one."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final

from psycopg import Connection

from recollect.core.concepts import Extraction, fold, fold_all, one_line
from recollect.core.errors import NotFound
from recollect.core.hits import Ref
from recollect.core.memory import check_label
from recollect.core.moments import from_micros, to_micros
from recollect.core.ports import Common, Concept, Reader, Said, Waiting
from recollect.core.spread import Tie, TieKind
from recollect.stores.answers import no_extractor
from recollect.stores.postgres.alike import find_alike
from recollect.stores.postgres.audit import note_write
from recollect.stores.postgres.database import Database, Row
from recollect.stores.postgres.mentions import (
    Text,
    keep_extractions,
    merge,
    remove_extractor,
    resolve,
    withdraw_concepts,
)
from recollect.stores.postgres.rows import STATE_OF_M_AS_READ, ids_of
from recollect.stores.postgres.spaces import LOCK_SPACES, key_of_space, lock_space
from recollect.stores.postgres.ties import find_ties
from recollect.stores.rows import from_row

_READERS: Final = """
SELECT x.name, x.calls, x.tokens, x.most_calls, x.most_tokens,
       (SELECT count(*) FROM unread AS u WHERE u.extractor = x.key {of_space})
FROM extractors AS x ORDER BY x.key
"""
_QUEUE_ALL: Final = """
WITH queued AS (
    INSERT INTO unread (space, extractor, memory, change)
    SELECT m.space, %(extractor)s, m.key, %(change)s FROM memories AS m
    WHERE m.space = %(space)s AND m.deleted_at IS NULL AND NOT m.sensitive
    ON CONFLICT DO NOTHING
    RETURNING 1
)
SELECT recollect_defer('extract', %(space)s) WHERE EXISTS (SELECT FROM queued)
"""
_NEXT: Final = f"""
SELECT {STATE_OF_M_AS_READ}, s.id, u.change
FROM unread AS u
JOIN spaces AS s ON s.key = u.space
JOIN memories AS m ON m.space = u.space AND m.key = u.memory
WHERE u.extractor = %s {{of_space}}
ORDER BY u.space, u.memory LIMIT %s
"""
# Whoever takes the row out of the queue keeps what was read: nobody else does, and nobody who read an older text. Each
# is looked up by its key: all of a space may have been queued under one number, and a plan that joins by it compares
# all with all.
_TAKE: Final = """
WITH found AS (
    SELECT t.id, m.key FROM unnest(%(ids)s::uuid[], %(tickets)s::bigint[]) AS t (id, ticket)
    CROSS JOIN LATERAL (SELECT key FROM memories WHERE space = %(space)s AND id = t.id OFFSET 0) AS m
    CROSS JOIN LATERAL (
        SELECT change FROM unread WHERE space = %(space)s AND extractor = %(extractor)s AND memory = m.key OFFSET 0
    ) AS u
    WHERE u.change = t.ticket
), taken AS (
    DELETE FROM unread
    WHERE space = %(space)s AND extractor = %(extractor)s AND memory = ANY (ARRAY(SELECT key FROM found))
)
SELECT id::text, key FROM found
"""
_READABLE: Final = """
SELECT id::text, key, updated_at FROM memories
WHERE space = %s AND id = ANY (%s::uuid[]) AND deleted_at IS NULL AND NOT sensitive
"""
_KNOWS: Final = "SELECT EXISTS (SELECT FROM concept_names WHERE space = %s AND folded = ANY (%s))"
_CONCEPT: Final = """
SELECT c.key, c.name FROM concept_names AS n JOIN concepts AS c ON c.space = n.space AND c.key = n.concept
WHERE n.space = %s AND n.folded = %s
"""
_ALIASES: Final = "SELECT folded FROM concept_names WHERE space = %s AND concept = %s AND folded <> %s ORDER BY folded"
_MENTIONS: Final = """
SELECT DISTINCT m.id::text, x.kind
FROM memory_concepts AS x JOIN memories AS m ON m.space = x.space AND m.key = x.memory
WHERE x.space = %s AND x.concept = %s ORDER BY m.id::text, x.kind
"""
# Of an edge that holds, those who state it; of one that has ended, those who did.
_SAID: Final = """
SELECT s.name, e.relation, t.name, e.valid_from, e.valid_to, ARRAY(
    SELECT DISTINCT m.id::text
    FROM edge_evidence AS v JOIN memories AS m ON m.space = v.space AND m.key = v.memory
    WHERE v.space = e.space AND v.edge = e.key AND (v.valid_to IS NULL OR e.valid_to IS NOT NULL)
    ORDER BY m.id::text
)
FROM concept_edges AS e
JOIN concepts AS s ON s.space = e.space AND s.key = e.source
JOIN concepts AS t ON t.space = e.space AND t.key = e.target
WHERE e.space = %(space)s AND (e.source = %(concept)s OR e.target = %(concept)s) ORDER BY e.valid_from, e.key
"""
# Counted from the index by concept alone, which is in the order of the groups.
_COMMON: Final = """
SELECT c.name, x.many FROM (
    SELECT concept, count(DISTINCT memory) AS many FROM memory_concepts
    WHERE space = %s GROUP BY concept HAVING count(DISTINCT memory) > 1
) AS x JOIN concepts AS c ON c.space = %s AND c.key = x.concept ORDER BY x.many DESC, c.name LIMIT %s
"""
_OF_SPACE: Final = "AND u.space = (SELECT key FROM spaces WHERE id = %s)"


class PostgresConcepts:
    def __init__(self, database: Database, language: str) -> None:
        self._database = database
        self._language = language

    def begin(self, extractor: str) -> None:
        """Make an extractor known, which takes a moment; then queue what is there, a space at a time."""
        with self._database.read() as connection:
            row = connection.execute("SELECT queued_to FROM extractors WHERE name = %s", (extractor,)).fetchone()
        if row is None:
            with self._database.write() as connection:
                # Who is writing is waited for; who writes from then on sees it, in new spaces too.
                connection.execute(LOCK_SPACES)
                connection.execute(
                    "INSERT INTO extractors (name, queued_to) VALUES (%s, 0) ON CONFLICT DO NOTHING", (extractor,)
                )
        elif row[0] is None:
            return
        while self.queue_next_space(extractor):
            pass

    def queue_next_space(self, extractor: str) -> bool:
        """Queue the memories of the next space that an extractor has yet to be given; say whether there was one."""
        with self._database.write() as connection:
            row = connection.execute(
                "SELECT key, queued_to FROM extractors WHERE name = %s FOR NO KEY UPDATE", (extractor,)
            ).fetchone()
            if row is None or row[1] is None:
                return False
            key, queued_to = row
            space = connection.execute(
                "SELECT key, change FROM spaces WHERE key > %s AND memories > 0 ORDER BY key LIMIT 1 FOR NO KEY UPDATE",
                (queued_to,),
            ).fetchone()
            if space is not None:
                connection.execute(_QUEUE_ALL, {"extractor": key, "space": space[0], "change": space[1]})
            connection.execute(
                "UPDATE extractors SET queued_to = %s WHERE key = %s", (None if space is None else space[0], key)
            )
        return space is not None

    def drop(self, extractor: str) -> None:
        """Have nobody queue for it any more, then remove what it read, a space at a time; it may be done again."""
        with self._database.write() as connection:
            key = _find(connection, extractor, "FOR NO KEY UPDATE")
            connection.execute(LOCK_SPACES)
            connection.execute("UPDATE extractors SET reads = false, queued_to = NULL WHERE key = %s", (key,))
            spaces = [space for (space,) in connection.execute("SELECT id FROM spaces ORDER BY id").fetchall()]
        for space in spaces:
            # One that was removed meanwhile is no trouble.
            with suppress(NotFound), self._database.write() as connection:
                number = lock_space(self._database, connection, space)
                remove_extractor(connection, number, key)
                connection.execute("DELETE FROM extracted WHERE space = %s AND extractor = %s", (number, key))
        with self._database.write() as connection:
            connection.execute("DELETE FROM extractors WHERE key = %s", (key,))

    def readers(self, space: str | None = None) -> list[Reader]:
        of_space, given = ("", ()) if space is None else (_OF_SPACE, (space,))
        with self._database.read() as connection:
            return [Reader(*row) for row in connection.execute(_READERS.format(of_space=of_space), given)]

    def waiting(self, extractor: str, limit: int, space: str | None = None) -> list[Waiting]:
        of_space, given = ("", ()) if space is None else (_OF_SPACE, (space,))
        with self._database.read() as connection:
            key = _find(connection, extractor)
            rows = connection.execute(_NEXT.format(of_space=of_space), (key, *given, limit)).fetchall()
        return [Waiting(from_row(row[-2], row), (), row[-1]) for row in rows]

    def keep(self, extractor: str, made: Sequence[tuple[Waiting, Extraction]]) -> int:
        spaces: dict[str, dict[str, tuple[Waiting, Extraction]]] = {}
        for each in made:
            spaces.setdefault(each[0].memory.space, {})[each[0].memory.id] = each
        kept = 0
        with self._database.write() as connection:
            # Held, so that it is not dropped meanwhile; before the spaces, as by those who drop one.
            key = _find(connection, extractor, "FOR KEY SHARE")
            for space in sorted(spaces):
                with suppress(NotFound):
                    kept += _keep_in(connection, lock_space(self._database, connection, space), key, spaces[space])
        return kept

    def load(self, extractor: str, read: Mapping[Ref, Extraction]) -> int:
        spaces: dict[str, dict[str, Extraction]] = {}
        for ref, extraction in read.items():
            spaces.setdefault(ref.space, {})[ref.id] = extraction
        loaded = 0
        with self._database.write() as connection:
            connection.execute(
                "INSERT INTO extractors (name, reads) VALUES (%s, false) ON CONFLICT DO NOTHING", (extractor,)
            )
            key = _find(connection, extractor, "FOR KEY SHARE")
            for space in sorted(spaces):
                with suppress(NotFound):
                    loaded += _load_in(connection, lock_space(self._database, connection, space), key, spaces[space])
        return loaded

    def ties(
        self,
        refs: Sequence[Ref],
        kinds: Collection[TieKind],
        as_of: datetime | None = None,
        seconds: float | None = None,
    ) -> dict[Ref, list[Tie]]:
        with self._database.leg(seconds) as connection:
            return find_ties(connection, self._database.noted, refs, kinds, as_of, language=self._language)

    def knows(self, spaces: Sequence[str], names: Collection[str]) -> bool:
        folded = fold_all(names)
        noted: tuple[list[str], set[str]] | None = self._database.noted.get("known names")
        if noted is not None and noted[0] == folded:
            return not noted[1].isdisjoint(spaces)
        with self._database.read() as connection:
            for space in spaces:
                key = key_of_space(self._database, connection, space)
                if key is not None and connection.execute(_KNOWS, (key, folded)).fetchone() == (True,):
                    return True
        return False

    def find(self, space: str, name: str) -> Concept | None:
        with self._database.read() as connection:
            number = key_of_space(self._database, connection, space) or -1
            row = connection.execute(_CONCEPT, (number, fold(name))).fetchone()
            if row is None:
                return None
            key, canonical = row
            aliases = connection.execute(_ALIASES, (number, key, fold(canonical))).fetchall()
            mentions = connection.execute(_MENTIONS, (number, key)).fetchall()
            said = connection.execute(_SAID, {"space": number, "concept": key}).fetchall()
        return Concept(
            canonical,
            tuple(alias for (alias,) in aliases),
            tuple((Ref(space, identity), kind) for identity, kind in mentions),
            tuple(_said(space, row) for row in said),
        )

    def alike(self, space: str, name: str) -> list[str]:
        with self._database.read() as connection:
            return find_alike(connection, space, name)

    def common(self, space: str, limit: int) -> list[Common]:
        with self._database.read() as connection:
            key = key_of_space(self._database, connection, space) or -1
            return [Common(*row) for row in connection.execute(_COMMON, (key, key, limit))]

    def alias(self, space: str, name: str, alias: str) -> None:
        check_label("name", alias)
        with self._database.write() as connection:
            number = lock_space(self._database, connection, space)
            row = connection.execute(_CONCEPT, (number, fold(name))).fetchone()
            if row is None:
                raise NotFound(f"There is no concept {name!r}.")
            folded = fold(alias)
            (other,) = resolve(connection, number, {folded: one_line(alias)}).values()
            merge(connection, number, other, row[0])
            connection.execute(
                "UPDATE concept_names SET given = true WHERE space = %s AND folded = %s", (number, folded)
            )
            note_write(connection, number, "named a concept", [])


def _keep_in(
    connection: Connection[Row], space: int, extractor: int, made: Mapping[str, tuple[Waiting, Extraction]]
) -> int:
    rows = connection.execute(
        _TAKE,
        {
            "space": space,
            "extractor": extractor,
            "ids": list(made),
            "tickets": [waiting.ticket for waiting, _ in made.values()],
        },
    ).fetchall()
    keys: dict[str, int] = dict(rows)
    # In the order they were read in: a concept is called what it was first called.
    kept = [
        (Text(keys[identity], to_micros(waiting.memory.updated_at)), read)
        for identity, (waiting, read) in made.items()
        if identity in keys
    ]
    keep_extractions(connection, space, extractor, kept)
    return len(kept)


def _load_in(connection: Connection[Row], space: int, extractor: int, read: Mapping[str, Extraction]) -> int:
    rows = connection.execute(_READABLE, (space, ids_of(read))).fetchall()
    found = {identity: Text(key, since) for identity, key, since in rows}
    for text in found.values():
        withdraw_concepts(connection, space, text.memory, extractor)
    kept = [(found[identity], extraction) for identity, extraction in read.items() if identity in found]
    keep_extractions(connection, space, extractor, kept)
    return len(kept)


def _said(space: str, row: Row) -> Said:
    source, relation, target, since, until, evidence = row
    return Said(
        source,
        relation,
        target,
        from_micros(since),
        None if until is None else from_micros(until),
        tuple(Ref(space, identity) for identity in evidence),
    )


def _find(connection: Connection[Row], extractor: str, lock: str = "") -> int:
    row = connection.execute(f"SELECT key FROM extractors WHERE name = %s {lock}", (extractor,)).fetchone()
    if row is None:
        raise no_extractor(extractor)
    return int(row[0])
