"""What is written about concepts: mentions and relations come with what was read, and go with the text they were in."""

import sqlite3
from collections.abc import Iterable
from typing import Final, NamedTuple

from recollect.core.concepts import Extraction, fold

_RESOLVE: Final = "SELECT concept FROM concept_names WHERE space = ? AND folded = ?"
_MENTION: Final = """
INSERT OR IGNORE INTO memory_concepts (space, memory, concept, extractor, kind) VALUES (?, ?, ?, ?, ?)
"""
_EDGE: Final = """
SELECT key FROM concept_edges WHERE space = ? AND source = ? AND relation = ? AND target = ? AND valid_to IS NULL
"""
_NEW_EDGE: Final = """
INSERT INTO concept_edges (space, source, relation, target, valid_from) VALUES (?, ?, ?, ?, ?) RETURNING key
"""
_EVIDENCE: Final = "INSERT OR IGNORE INTO edge_evidence (space, edge, memory, extractor) VALUES (?, ?, ?, ?)"
_UNSTATED: Final = "NOT EXISTS (SELECT 1 FROM edge_evidence AS e WHERE e.space = ?1 AND e.edge = {edge})"
# Of the concepts that a memory mentioned, those that nothing else leads to.
_PRUNE: Final = """
DELETE FROM {table} WHERE {key} = ?2
AND NOT EXISTS (SELECT 1 FROM memory_concepts AS m WHERE m.space = ?1 AND m.concept = ?2)
AND NOT EXISTS (SELECT 1 FROM concept_edges AS e WHERE e.space = ?1 AND ?2 IN (e.source, e.target))
AND NOT EXISTS (SELECT 1 FROM concept_names AS n WHERE n.concept = ?2 AND n.given)
"""


class Text(NamedTuple):
    """A memory's text, which is as it is since then."""

    space: int
    memory: int
    since: int


def keep_extraction(connection: sqlite3.Connection, text: Text, extractor: int, read: Extraction) -> None:
    """Keep what an extractor read."""
    space, memory, since = text
    for mention in read.mentions:
        concept = resolve(connection, space, mention.name)
        connection.execute(_MENTION, (space, memory, concept, extractor, mention.kind))
    for relation in read.relations:
        source, target = (resolve(connection, space, end) for end in (relation.subject, relation.object))
        for concept in (source, target):
            connection.execute(_MENTION, (space, memory, concept, extractor, "name"))
        stated = (space, source, relation.relation, target)
        row = connection.execute(_EDGE, stated).fetchone()
        (edge,) = row or connection.execute(_NEW_EDGE, (*stated, since)).fetchone()
        connection.execute(_EVIDENCE, (space, edge, memory, extractor))


def resolve(connection: sqlite3.Connection, space: int, name: str) -> int:
    """Give the concept that a name leads to, made if there is none."""
    folded = fold(name)
    row = connection.execute(_RESOLVE, (space, folded)).fetchone()
    if row is None:
        row = connection.execute(
            "INSERT INTO concepts (space, name) VALUES (?, ?) RETURNING key", (space, name)
        ).fetchone()
        connection.execute("INSERT INTO concept_names (space, folded, concept) VALUES (?, ?, ?)", (space, folded, *row))
    return int(row[0])


def forget_concepts(
    connection: sqlite3.Connection, space: int, memory: int, until: int | None, extractor: int | None = None
) -> None:
    """Remove what was read in a memory, by all or by one, and its places in the queues.

    What it alone stated held until then, and is kept for a look into the past; of a memory that is removed for good
    nothing is.
    """
    by = "" if extractor is None else f"AND extractor = {extractor:d}"
    here = (space, memory)
    mentioned = connection.execute(
        f"SELECT DISTINCT concept FROM memory_concepts WHERE space = ? AND memory = ? {by}", here
    ).fetchall()
    edges = connection.execute(f"SELECT DISTINCT edge FROM edge_evidence WHERE space = ? AND memory = ? {by}", here)
    stated = [edge for (edge,) in edges.fetchall()]
    connection.execute(f"DELETE FROM memory_concepts WHERE space = ? AND memory = ? {by}", here)
    connection.execute(f"DELETE FROM edge_evidence WHERE space = ? AND memory = ? {by}", here)
    _end_edges(connection, space, stated, until)
    for (concept,) in mentioned:
        connection.execute(_PRUNE.format(table="concept_names", key="concept"), (space, concept))
        connection.execute(
            "DELETE FROM concepts WHERE key = ?1 AND NOT EXISTS (SELECT 1 FROM concept_names WHERE concept = ?1)",
            (concept,),
        )
    works = "work LIKE 'concepts %'" if extractor is None else f"work = 'concepts {extractor:d}'"
    connection.execute(f"DELETE FROM outbox WHERE space = ? AND memory = ? AND {works}", here)


def _end_edges(connection: sqlite3.Connection, space: int, edges: Iterable[int], until: int | None) -> None:
    unstated = _UNSTATED.format(edge="?2")
    for edge in edges:
        if until is None:
            connection.execute(f"DELETE FROM concept_edges WHERE key = ?2 AND {unstated}", (space, edge))
        else:
            connection.execute(
                f"UPDATE concept_edges SET valid_to = ?3 WHERE key = ?2 AND valid_to IS NULL AND {unstated}",
                (space, edge, until),
            )


def merge(connection: sqlite3.Connection, space: int, source: int, target: int) -> None:
    """Make one concept of two: whatever led to the one leads to the other."""
    if source == target:
        return
    connection.execute("UPDATE concept_names SET concept = ? WHERE space = ? AND concept = ?", (target, space, source))
    connection.execute(
        "INSERT OR IGNORE INTO memory_concepts (space, memory, concept, extractor, kind) "
        "SELECT space, memory, ?, extractor, kind FROM memory_concepts WHERE space = ? AND concept = ?",
        (target, space, source),
    )
    connection.execute("DELETE FROM memory_concepts WHERE space = ? AND concept = ?", (space, source))
    for end in ("source", "target"):
        connection.execute(
            f"UPDATE OR IGNORE concept_edges SET {end} = ? WHERE space = ? AND {end} = ?", (target, space, source)
        )
    # What is left said the same as an edge that the other one has.
    left = connection.execute(
        "SELECT key FROM concept_edges WHERE space = ?1 AND ?2 IN (source, target)", (space, source)
    )
    for (edge,) in left.fetchall():
        connection.execute("DELETE FROM edge_evidence WHERE space = ? AND edge = ?", (space, edge))
        connection.execute("DELETE FROM concept_edges WHERE key = ?", (edge,))
    connection.execute("DELETE FROM concepts WHERE key = ?", (source,))
