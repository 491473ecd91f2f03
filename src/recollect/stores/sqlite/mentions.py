"""What is written about concepts: mentions and relations come with what was read, and go with the text they were in."""

import sqlite3
from collections.abc import Iterable
from typing import Final, NamedTuple

from recollect.core.concepts import Extraction
from recollect.stores.extractions import sift

_RESOLVE: Final = "SELECT concept FROM concept_names WHERE space = ? AND folded = ?"
# Two names of one concept are one mention, the first.
_MENTION: Final = """
INSERT OR IGNORE INTO memory_concepts (space, memory, concept, extractor, kind) VALUES (?, ?, ?, ?, ?)
"""
_EDGE: Final = """
SELECT key FROM concept_edges WHERE space = ? AND source = ? AND relation = ? AND target = ? AND valid_to IS NULL
"""
_NEW_EDGE: Final = """
INSERT INTO concept_edges (space, source, relation, target, valid_from) VALUES (?, ?, ?, ?, ?) RETURNING key
"""
# An edge holds since the first of those who state it.
_WIDEN: Final = "UPDATE concept_edges SET valid_from = ?2 WHERE key = ?1 AND valid_from > ?2"
_EVIDENCE: Final = """
INSERT INTO edge_evidence (space, edge, memory, extractor) VALUES (?, ?, ?, ?)
ON CONFLICT (space, edge, memory, extractor) DO UPDATE SET valid_to = NULL
"""
# Whoever states one of two edges now states what they say.
_MOVE_EVIDENCE: Final = """
INSERT INTO edge_evidence AS v (space, edge, memory, extractor, valid_to)
SELECT space, ?3, memory, extractor, valid_to FROM edge_evidence WHERE space = ?1 AND edge = ?2
ON CONFLICT (space, edge, memory, extractor) DO UPDATE SET valid_to = MAX(v.valid_to, excluded.valid_to)
"""
_REMOVE_UNSTATED: Final = """
DELETE FROM concept_edges
WHERE key = ?2 AND NOT EXISTS (SELECT 1 FROM edge_evidence AS v WHERE v.space = ?1 AND v.edge = ?2)
RETURNING source, target
"""
_END_UNSTATED: Final = """
UPDATE concept_edges
SET valid_to = (SELECT MAX(v.valid_to) FROM edge_evidence AS v WHERE v.space = ?1 AND v.edge = ?2)
WHERE key = ?2 AND valid_to IS NULL AND NOT EXISTS (
    SELECT 1 FROM edge_evidence AS v WHERE v.space = ?1 AND v.edge = ?2 AND v.valid_to IS NULL
)
"""
# A concept that nothing leads to any more; a name that somebody gave is kept, with all others.
_UNNAME: Final = """
DELETE FROM concept_names WHERE space = ?1 AND concept = ?2
AND NOT EXISTS (SELECT 1 FROM memory_concepts AS m WHERE m.space = ?1 AND m.concept = ?2)
AND NOT EXISTS (SELECT 1 FROM concept_edges AS e WHERE e.space = ?1 AND e.source = ?2)
AND NOT EXISTS (SELECT 1 FROM concept_edges AS e WHERE e.space = ?1 AND e.target = ?2)
AND NOT EXISTS (SELECT 1 FROM concept_names AS n WHERE n.space = ?1 AND n.concept = ?2 AND n.given)
"""
_REMOVE_UNNAMED: Final = """
DELETE FROM concepts
WHERE key = ?2 AND space = ?1 AND NOT EXISTS (SELECT 1 FROM concept_names AS n WHERE n.space = ?1 AND n.concept = ?2)
"""
_END_EVIDENCE: Final = "UPDATE edge_evidence SET valid_to = ? WHERE space = ? AND {which} AND valid_to IS NULL"
_REMOVE_EVIDENCE: Final = "DELETE FROM edge_evidence WHERE space = ? AND {which}"
_WITHDRAW_EVIDENCE: Final = f"{_REMOVE_EVIDENCE} AND valid_to IS NULL"


class Text(NamedTuple):
    """A memory's text, which is as it is since then."""

    space: int
    memory: int
    since: int


class _Which(NamedTuple):
    """Of what a space's readings are meant."""

    space: int
    condition: str
    values: tuple[int, ...]
    works: str
    """The queues of those."""


def keep_extraction(connection: sqlite3.Connection, text: Text, extractor: int, read: Extraction) -> None:
    """Keep what an extractor read."""
    space, memory, since = text
    sifted = sift(read)
    concepts: dict[str, int] = {}
    for folded, named in sifted.mentions.items():
        concepts[folded] = resolve(connection, space, folded, named.name)
        connection.execute(_MENTION, (space, memory, concepts[folded], extractor, named.kind))
    for source, relation, target in sifted.relations:
        stated = (space, concepts[source], relation, concepts[target])
        row = connection.execute(_EDGE, stated).fetchone()
        (edge,) = row or connection.execute(_NEW_EDGE, (*stated, since)).fetchone()
        connection.execute(_WIDEN, (edge, since))
        connection.execute(_EVIDENCE, (space, edge, memory, extractor))


def resolve(connection: sqlite3.Connection, space: int, folded: str, name: str) -> int:
    """Give the concept that a folded name leads to, made by the name as it is written if there is none."""
    row = connection.execute(_RESOLVE, (space, folded)).fetchone()
    if row is None:
        row = connection.execute(
            "INSERT INTO concepts (space, name) VALUES (?, ?) RETURNING key", (space, name)
        ).fetchone()
        connection.execute("INSERT INTO concept_names (space, folded, concept) VALUES (?, ?, ?)", (space, folded, *row))
    return int(row[0])


def end_concepts(connection: sqlite3.Connection, space: int, memory: int, until: int) -> None:
    """Remove what was read in a text that is no more. What it alone stated held until then, which stays known."""
    _forget(connection, _of_memory(space, memory), _END_EVIDENCE, until)


def withdraw_concepts(connection: sqlite3.Connection, space: int, memory: int, extractor: int) -> None:
    """Remove what an extractor read in the present text of a memory, as if it had not."""
    by_one = _Which(space, "memory = ? AND extractor = ?", (memory, extractor), f"SELECT 'concepts {extractor:d}'")
    _forget(connection, by_one, _WITHDRAW_EVIDENCE)


def remove_concepts(connection: sqlite3.Connection, space: int, memory: int) -> None:
    """Remove all that was ever read in a memory."""
    _forget(connection, _of_memory(space, memory), _REMOVE_EVIDENCE)


def remove_extractor(connection: sqlite3.Connection, space: int, extractor: int) -> None:
    """Remove all that an extractor ever read in a space, and its queue."""
    _forget(connection, _Which(space, "extractor = ?", (extractor,), ""), _REMOVE_EVIDENCE)
    connection.execute("DELETE FROM outbox WHERE space = ? AND work = 'concepts ' || ?", (space, extractor))


def merge(connection: sqlite3.Connection, space: int, source: int, target: int) -> None:
    """Make one concept of two: whatever led to the one leads to the other."""
    if source == target:
        return
    connection.execute("UPDATE concept_names SET concept = ? WHERE space = ? AND concept = ?", (target, space, source))
    connection.execute(
        "UPDATE OR IGNORE memory_concepts SET concept = ? WHERE space = ? AND concept = ?", (target, space, source)
    )
    connection.execute("DELETE FROM memory_concepts WHERE space = ? AND concept = ?", (space, source))
    edges = connection.execute(
        "SELECT key, source, relation, target, valid_to FROM concept_edges WHERE space = ?1 AND source = ?2 "
        "UNION SELECT key, source, relation, target, valid_to FROM concept_edges WHERE space = ?1 AND target = ?2",
        (space, source),
    )
    for key, subject, relation, object_, until in edges.fetchall():
        ends = (target if subject == source else subject, relation, target if object_ == source else object_)
        _move_edge(connection, space, key, ends, is_present=until is None)
    connection.execute("DELETE FROM concepts WHERE key = ?", (source,))


def _move_edge(
    connection: sqlite3.Connection, space: int, edge: int, ends: tuple[int, str, int], *, is_present: bool
) -> None:
    """Let an edge run between other concepts; where one does that says the same now, both become one."""
    same = connection.execute(_EDGE, (space, *ends)).fetchone() if is_present else None
    if same is None or same[0] == edge:
        connection.execute("UPDATE concept_edges SET source = ?, relation = ?, target = ? WHERE key = ?", (*ends, edge))
        return
    connection.execute(_MOVE_EVIDENCE, (space, edge, *same))
    connection.execute("DELETE FROM edge_evidence WHERE space = ? AND edge = ?", (space, edge))
    (since,) = connection.execute("DELETE FROM concept_edges WHERE key = ? RETURNING valid_from", (edge,)).fetchone()
    connection.execute(_WIDEN, (*same, since))


def _of_memory(space: int, memory: int) -> _Which:
    return _Which(space, "memory = ?", (memory,), "SELECT 'concepts ' || key FROM extractors")


def _forget(connection: sqlite3.Connection, which: _Which, evidence: str, *first: int) -> None:
    here = (which.space, *which.values)
    stated = _distinct(connection, evidence.format(which=which.condition) + " RETURNING edge", (*first, *here))
    mentioned = _distinct(
        connection, f"DELETE FROM memory_concepts WHERE space = ? AND {which.condition} RETURNING concept", here
    )
    _prune(connection, which.space, mentioned)
    for edge in stated:
        settle_edge(connection, which.space, edge)
    if which.works:
        connection.execute(f"DELETE FROM outbox WHERE space = ? AND work IN ({which.works}) AND memory = ?", here[:2])


def settle_edge(connection: sqlite3.Connection, space: int, edge: int) -> None:
    """Remove an edge that nobody ever stated, and what it alone led to; end one that nobody states now."""
    for ends in connection.execute(_REMOVE_UNSTATED, (space, edge)).fetchall():
        _prune(connection, space, ends)
    connection.execute(_END_UNSTATED, (space, edge))


def _prune(connection: sqlite3.Connection, space: int, concepts: Iterable[int]) -> None:
    these = [(space, concept) for concept in concepts]
    connection.executemany(_UNNAME, these)
    connection.executemany(_REMOVE_UNNAMED, these)


def _distinct(connection: sqlite3.Connection, statement: str, values: Iterable[int]) -> set[int]:
    return {key for (key,) in connection.execute(statement, tuple(values)).fetchall()}
