"""What ties a memory to others: names that both mention, rare words that both hold, relations, links.

A list is read no further than it takes to see that it is too long: what many share tells nothing.
"""

import sqlite3
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from recollect.core.analysis import analyse
from recollect.core.hits import Ref
from recollect.core.spread import Limits, Tie, TieKind, limits_of
from recollect.stores.moments import to_micros
from recollect.stores.rows import STATE
from recollect.stores.sqlite.rows import from_blob, from_row, marks, to_blob

_ONE: Final = f"""
SELECT {", ".join("m." + column for column in STATE.split(", "))}, m.key, m.space, s.memories
FROM memories AS m JOIN spaces AS s ON s.key = m.space
WHERE s.id = ? AND m.id = ? AND m.deleted_at IS NULL
"""
_MENTIONED: Final = """
SELECT DISTINCT c.key, c.name FROM memory_concepts AS x JOIN concepts AS c ON c.key = x.concept
WHERE x.space = ? AND x.memory = ?
"""
# No more are read than tell that there are too many.
_SHARING: Final = "SELECT DISTINCT memory FROM memory_concepts WHERE space = ? AND concept = ? LIMIT ?"
_HOLDING: Final = """
SELECT memory FROM postings WHERE space = ? AND term = ? AND valid_from <= ? AND (valid_to IS NULL OR valid_to > ?)
LIMIT ?
"""
_RELATED: Final = """
SELECT e.relation, c.key, c.name FROM (
    SELECT relation, target AS other FROM concept_edges
    WHERE space = ?1 AND source = ?2 AND valid_from <= ?3 AND (valid_to IS NULL OR valid_to > ?3)
    UNION
    SELECT relation, source FROM concept_edges
    WHERE space = ?1 AND target = ?2 AND valid_from <= ?3 AND (valid_to IS NULL OR valid_to > ?3)
) AS e JOIN concepts AS c ON c.key = e.other LIMIT ?4
"""
# Links that say that two memories belong together; what supersedes another takes its place instead.
_LINKED: Final = """
SELECT target, kind FROM links
WHERE space = ?1 AND source = ?2 AND kind <> 'supersedes' AND valid_from <= ?3 AND (valid_to IS NULL OR valid_to > ?3)
UNION
SELECT source, kind FROM links
WHERE space = ?1 AND target = ?2 AND kind <> 'supersedes' AND valid_from <= ?3 AND (valid_to IS NULL OR valid_to > ?3)
"""
# A mention is of the present text: at an earlier moment, only what has not changed since has any.
_IDS: Final = "SELECT key, id FROM memories WHERE key IN ({keys}) AND updated_at <= ?"
MOST_RELATED: Final = 50
"""Relations of one concept that are followed."""

Shared = tuple[str, set[int]]
"""What is shared, and the keys of those that do."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """One memory whose ties are looked for, as things stand at a moment."""

    connection: sqlite3.Connection
    space: int
    key: int
    moment: int
    limits: Limits

    def names(self) -> Iterator[Shared]:
        for concept, name in self._mentioned():
            yield from self._sharing(name, concept)

    def terms(self, terms: Collection[str]) -> Iterator[Shared]:
        for term in terms:
            parameters = (self.space, term, self.moment, self.moment, self.limits.terms + 1)
            holding = {key for (key,) in self.connection.execute(_HOLDING, parameters)}
            if len(holding) <= self.limits.terms:
                yield term, holding

    def relations(self) -> Iterator[Shared]:
        for concept, name in self._mentioned():
            related = self.connection.execute(_RELATED, (self.space, concept, self.moment, MOST_RELATED)).fetchall()
            for relation, other, other_name in related:
                yield from self._sharing(f"{name} {relation} {other_name}", other)

    def links(self) -> Iterator[Shared]:
        for other, kind in self.connection.execute(_LINKED, (self.space, self.key, self.moment)).fetchall():
            yield kind, {other}

    def _mentioned(self) -> list[tuple[int, str]]:
        return self.connection.execute(_MENTIONED, (self.space, self.key)).fetchall()

    def _sharing(self, name: str, concept: int) -> Iterator[Shared]:
        rows = self.connection.execute(_SHARING, (self.space, concept, self.limits.names + 1))
        sharing = {key for (key,) in rows}
        if len(sharing) <= self.limits.names:
            yield name, sharing


def find_ties(
    connection: sqlite3.Connection, ref: Ref, language: str, kinds: Collection[TieKind], moment: int
) -> list[Tie]:
    row = connection.execute(_ONE, (ref.space, to_blob(ref.id))).fetchone()
    if row is None:
        return []
    memory, (key, space, memories) = from_row(ref.space, row), row[-3:]
    if memory.sensitive or to_micros(memory.updated_at) > moment:
        return []
    reading = _Reading(connection, space, key, moment, limits_of(memories))
    ways = {
        "names": reading.names,
        "terms": lambda: reading.terms(set(analyse(memory.content, language))),
        "relations": reading.relations,
        "links": reading.links,
    }
    shared = [(kind, name, {key, *members}) for kind in kinds for name, members in ways[kind]()]
    names = _names(connection, ref.space, {key for _, _, members in shared for key in members}, moment)
    ties = [
        Tie(kind, name, tuple(sorted(names[each] for each in members if each in names)))
        for kind, name, members in shared
    ]
    return [tie for tie in ties if len(tie.members) > 1]


def _names(connection: sqlite3.Connection, space: str, keys: set[int], moment: int) -> dict[int, Ref]:
    rows = connection.execute(_IDS.format(keys=marks(list(keys))), [*keys, moment])
    return {key: Ref(space, from_blob(identity)) for key, identity in rows}
