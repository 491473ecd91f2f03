"""What ties a memory to others: names that both mention, rare words that both hold, relations, links.

A list is read no further than it takes to see that it is too long: what many share tells nothing.
"""

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime
from typing import Any, Final

from recollect.core.analysis import analyse
from recollect.core.concepts import fold_all
from recollect.core.hits import Ref
from recollect.core.moments import moment_of
from recollect.core.spread import Limits, Tie, TieKind, limits_of
from recollect.stores.sqlite.database import Database, time_limit
from recollect.stores.sqlite.rows import from_blob, marks, to_blob
from recollect.stores.tying import BY_MENTIONS, MOST_RELATED, Member, Shared, tie_up
from recollect.values import value

_SPACE: Final = "SELECT key, memories FROM spaces WHERE id = ?"
_COUNT_THEN: Final = "SELECT COUNT(*) FROM ({states}) WHERE space = ? AND deleted_at IS NULL"
# A memory as it is, or as it was, and whether that is the same.
_NOW: Final = "SELECT key, space, id, deleted_at, sensitive, content, 1 AS unchanged FROM memories"
_THEN: Final = """
SELECT key, space, id, deleted_at, sensitive, content, 1 AS unchanged FROM memories WHERE updated_at <= ?
UNION ALL
SELECT memory, space, id, deleted_at, sensitive, content, 0 FROM revisions WHERE updated_at <= ? AND valid_to > ?
"""
# A sensitive memory's words are in the index too, for its owner; nothing leads to it from another memory.
_OPEN: Final = "deleted_at IS NULL AND NOT sensitive"
_SEED: Final = f"SELECT key, content, unchanged FROM ({{states}}) WHERE space = ? AND id = ? AND {_OPEN}"
# The plus keeps SQLite, which knows the key of each, from reading the whole space instead.
_MEMBERS: Final = f"SELECT key, id, unchanged FROM ({{states}}) WHERE +space = ? AND key IN ({{keys}}) AND {_OPEN}"
_MENTIONED: Final = """
SELECT DISTINCT c.key, c.name FROM memory_concepts AS x JOIN concepts AS c ON c.key = x.concept
WHERE x.space = ? AND x.memory = ?
"""
# No more are read than tell that there are too many.
_SHARING: Final = "SELECT DISTINCT memory FROM memory_concepts WHERE space = ? AND concept = ? LIMIT ?"
_VALID: Final = "valid_from <= ?3 AND (valid_to IS NULL OR valid_to > ?3)"
_HOLDING: Final = f"SELECT memory FROM postings WHERE space = ?1 AND term = ?2 AND {_VALID} LIMIT ?4"
_RELATED: Final = f"""
SELECT ?4 || ' ' || e.relation || ' ' || c.name AS said, c.key
FROM concept_edges AS e JOIN concepts AS c ON c.key = e.target
WHERE e.space = ?1 AND e.source = ?2 AND {_VALID}
UNION
SELECT c.name || ' ' || e.relation || ' ' || ?4, c.key
FROM concept_edges AS e JOIN concepts AS c ON c.key = e.source
WHERE e.space = ?1 AND e.target = ?2 AND {_VALID}
ORDER BY said LIMIT {MOST_RELATED}
"""
# Links that say that two memories belong together; what supersedes another takes its place instead.
_LINKED: Final = f"""
SELECT target, kind FROM links WHERE space = ?1 AND source = ?2 AND kind <> 'supersedes' AND {_VALID}
UNION
SELECT source, kind FROM links WHERE space = ?1 AND target = ?2 AND kind <> 'supersedes' AND {_VALID}
"""
_AT_A_TIME: Final = 10_000
"""Keys in one statement, of which SQLite takes some thirty thousand."""


class SqliteTies:
    """What `spread` asks for."""

    def __init__(self, database: Database, language: str) -> None:
        self._database = database
        self._language = language

    def ties(
        self,
        refs: Sequence[Ref],
        kinds: Collection[TieKind],
        as_of: datetime | None = None,
        seconds: float | None = None,
    ) -> dict[Ref, list[Tie]]:
        with self._database.read() as connection, time_limit(connection, seconds):
            return {ref: _find_ties(connection, ref, self._language, kinds, as_of) for ref in refs}

    def knows(self, spaces: Sequence[str], names: Collection[str]) -> bool:
        folded = fold_all(names)
        statement = f"""
            SELECT 1 FROM spaces AS s JOIN concept_names AS n ON n.space = s.key
            WHERE s.id IN ({marks(spaces)}) AND n.folded IN ({marks(folded)}) LIMIT 1
        """
        with self._database.read() as connection:
            return connection.execute(statement, [*spaces, *folded]).fetchone() is not None


@value
class _States:
    """Memories as they are, or as they were at a moment."""

    sql: str
    times: tuple[int, ...]

    @classmethod
    def at(cls, as_of: datetime | None) -> "_States":
        return cls(_NOW, ()) if as_of is None else cls(_THEN, (moment_of(as_of),) * 3)

    def ask(self, connection: sqlite3.Connection, statement: str, *parameters: object, **parts: str) -> list[Any]:
        return connection.execute(statement.format(states=self.sql, **parts), (*self.times, *parameters)).fetchall()


@value
class _Reading:
    """One memory whose ties are looked for, as things stand at a moment."""

    connection: sqlite3.Connection
    space: int
    key: int
    moment: int
    limits: Limits

    def names(self) -> Iterator[Shared]:
        for concept, name in self._mentioned():
            yield from self._sharing("names", name, concept)

    def terms(self, terms: Collection[str]) -> Iterator[Shared]:
        for term in terms:
            parameters = (self.space, term, self.moment, self.limits.terms + 1)
            holding = {key for (key,) in self.connection.execute(_HOLDING, parameters)}
            if len(holding) <= self.limits.terms:
                yield Shared("terms", term, holding)

    def relations(self) -> Iterator[Shared]:
        for concept, name in self._mentioned():
            related = self.connection.execute(_RELATED, (self.space, concept, self.moment, name)).fetchall()
            for said, other in related:
                yield from self._sharing("relations", said, other)

    def links(self) -> Iterator[Shared]:
        for other, kind in self.connection.execute(_LINKED, (self.space, self.key, self.moment)).fetchall():
            yield Shared("links", kind, {other})

    def _mentioned(self) -> list[tuple[int, str]]:
        return self.connection.execute(_MENTIONED, (self.space, self.key)).fetchall()

    def _sharing(self, kind: TieKind, name: str, concept: int) -> Iterator[Shared]:
        rows = self.connection.execute(_SHARING, (self.space, concept, self.limits.names + 1))
        sharing = {key for (key,) in rows}
        if len(sharing) <= self.limits.names:
            yield Shared(kind, name, sharing)


def _find_ties(
    connection: sqlite3.Connection, ref: Ref, language: str, kinds: Collection[TieKind], as_of: datetime | None
) -> list[Tie]:
    row = connection.execute(_SPACE, (ref.space,)).fetchone()
    if row is None:
        return []
    space, memories = row
    states = _States.at(as_of)
    seeds = states.ask(connection, _SEED, space, to_blob(ref.id))
    if not seeds:
        return []
    if as_of is not None:
        ((memories,),) = states.ask(connection, _COUNT_THEN, space)
    ((seed, content, is_unchanged),) = seeds
    reading = _Reading(connection, space, seed, moment_of(as_of), limits_of(memories))
    ways = {
        "names": reading.names,
        "terms": lambda: reading.terms(set(analyse(content, language))),
        "relations": reading.relations,
        "links": reading.links,
    }
    shared = [each for kind in kinds if is_unchanged or kind not in BY_MENTIONS for each in ways[kind]()]
    keys = sorted({seed, *(key for each in shared for key in each.members)})
    members: dict[int, Member] = {}
    for start in range(0, len(keys), _AT_A_TIME):
        some = keys[start : start + _AT_A_TIME]
        for key, identity, unchanged in states.ask(connection, _MEMBERS, space, *some, keys=marks(some)):
            members[key] = Member(Ref(ref.space, from_blob(identity)), bool(unchanged))
    return tie_up(seed, shared, members)
