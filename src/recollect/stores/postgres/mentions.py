"""What is written about concepts: mentions and relations come with what was read, and go with the text they were in.

Whoever writes here holds the space: a concept is neither made twice nor removed while somebody comes to mention it.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from psycopg import Connection

from recollect.core.concepts import Extraction
from recollect.stores.extractions import sift

_KNOWN: Final = "SELECT folded, concept FROM concept_names WHERE space = %s AND folded = ANY (%s)"
# Numbers follow the highest that there is: nobody else makes concepts in this space now.
_MAKE: Final = """
WITH wanted AS (
    SELECT w.folded, w.name, w.number + (SELECT coalesce(max(key), 0) FROM concepts WHERE space = %(space)s) AS key
    FROM unnest(%(folded)s::text[], %(names)s::text[]) WITH ORDINALITY AS w (folded, name, number)
), made AS (
    INSERT INTO concepts (space, key, name) SELECT %(space)s, key, name FROM wanted
)
INSERT INTO concept_names (space, folded, concept) SELECT %(space)s, folded, key FROM wanted RETURNING folded, concept
"""
# Two names of one concept are one mention, the first.
_MENTION: Final = """
INSERT INTO memory_concepts (space, memory, concept, extractor, kind)
SELECT %s, m.memory, m.concept, %s, m.kind
FROM unnest(%s::integer[], %s::integer[], %s::text[]) AS m (memory, concept, kind)
ON CONFLICT DO NOTHING
"""
# An edge holds since the first of those who state it.
_EDGES: Final = """
WITH wanted AS (
    SELECT * FROM unnest(%(sources)s::integer[], %(relations)s::text[], %(targets)s::integer[], %(since)s::bigint[])
        AS w (source, relation, target, since)
), known AS (
    SELECT e.key, e.source, e.relation, e.target, w.since FROM wanted AS w
    JOIN concept_edges AS e ON e.space = %(space)s AND e.source = w.source AND e.relation = w.relation COLLATE "C"
    AND e.target = w.target AND e.valid_to IS NULL
), widened AS (
    UPDATE concept_edges AS e SET valid_from = k.since FROM known AS k
    WHERE e.space = %(space)s AND e.key = k.key AND e.valid_from > k.since
), made AS (
    INSERT INTO concept_edges (space, key, source, relation, target, valid_from)
    SELECT %(space)s, row_number() OVER () + (SELECT coalesce(max(key), 0) FROM concept_edges WHERE space = %(space)s),
           source, relation, target, since
    FROM wanted AS w
    WHERE NOT EXISTS (
        SELECT FROM known AS k WHERE (k.source, k.relation, k.target) = (w.source, w.relation COLLATE "C", w.target)
    )
    RETURNING key, source, relation, target
)
SELECT key, source, relation, target FROM known UNION ALL SELECT key, source, relation, target FROM made
"""
_EVIDENCE: Final = """
INSERT INTO edge_evidence (space, edge, memory, extractor)
SELECT %s, e.edge, e.memory, %s FROM unnest(%s::integer[], %s::integer[]) AS e (edge, memory)
ON CONFLICT (space, edge, memory, extractor) DO UPDATE SET valid_to = NULL
"""
# All that was read in some memories, and their places in the queues, of which the whole key is known.
_FORGET: Final = """
WITH mentioned AS (
    DELETE FROM memory_concepts WHERE space = %(space)s AND {which} RETURNING concept
), stated AS (
    {evidence} WHERE space = %(space)s AND {which} {state} RETURNING edge
), queued AS (
    DELETE FROM unread WHERE space = %(space)s AND extractor IN (SELECT key FROM extractors) AND {which}
)
SELECT ARRAY(SELECT DISTINCT concept FROM mentioned), ARRAY(SELECT DISTINCT edge FROM stated)
"""
_OF_MEMORY: Final = "memory = %(memory)s"
_OF_EXTRACTOR: Final = "extractor = %(extractor)s"
_ONLY_PRESENT: Final = "AND valid_to IS NULL"
_REMOVE: Final = "DELETE FROM edge_evidence"
_END: Final = _FORGET.format(
    which=_OF_MEMORY, evidence="UPDATE edge_evidence SET valid_to = %(until)s", state=_ONLY_PRESENT
)
_REMOVE_OF_MEMORY: Final = _FORGET.format(which=_OF_MEMORY, evidence=_REMOVE, state="")
_REMOVE_OF_EXTRACTOR: Final = _FORGET.format(which=_OF_EXTRACTOR, evidence=_REMOVE, state="")
_WITHDRAW: Final = _FORGET.format(which=f"{_OF_MEMORY} AND {_OF_EXTRACTOR}", evidence=_REMOVE, state=_ONLY_PRESENT)
# Whoever states one of the two edges now states what they say.
_MOVE_EVIDENCE: Final = """
WITH moved AS (DELETE FROM edge_evidence WHERE space = %s AND edge = %s RETURNING *)
INSERT INTO edge_evidence AS v (space, edge, memory, extractor, valid_to)
SELECT space, %s, memory, extractor, valid_to FROM moved
ON CONFLICT (space, edge, memory, extractor) DO UPDATE SET valid_to = CASE
    WHEN v.valid_to IS NOT NULL AND excluded.valid_to IS NOT NULL THEN greatest(v.valid_to, excluded.valid_to)
END
"""
_JOIN_EDGES: Final = """
WITH gone AS (DELETE FROM concept_edges WHERE space = %s AND key = %s RETURNING valid_from)
UPDATE concept_edges AS e SET valid_from = least(e.valid_from, g.valid_from) FROM gone AS g
WHERE e.space = %s AND e.key = %s
"""
_REMOVE_UNSTATED: Final = """
DELETE FROM concept_edges AS e WHERE e.space = %(space)s AND e.key = ANY (%(edges)s)
AND NOT EXISTS (SELECT FROM edge_evidence AS v WHERE v.space = %(space)s AND v.edge = e.key)
RETURNING e.source, e.target
"""
_END_UNSTATED: Final = """
UPDATE concept_edges AS e
SET valid_to = (SELECT max(v.valid_to) FROM edge_evidence AS v WHERE v.space = %(space)s AND v.edge = e.key)
WHERE e.space = %(space)s AND e.key = ANY (%(edges)s) AND e.valid_to IS NULL AND NOT EXISTS (
    SELECT FROM edge_evidence AS v WHERE v.space = %(space)s AND v.edge = e.key AND v.valid_to IS NULL
)
"""
# Of some concepts, those that nothing leads to any more; a name that somebody gave is kept, with all others.
_PRUNE: Final = """
WITH lonely AS (
    SELECT c.key FROM unnest(%(concepts)s::integer[]) AS c (key)
    WHERE NOT EXISTS (SELECT FROM memory_concepts AS m WHERE m.space = %(space)s AND m.concept = c.key)
    AND NOT EXISTS (SELECT FROM concept_edges AS e WHERE e.space = %(space)s AND e.source = c.key)
    AND NOT EXISTS (SELECT FROM concept_edges AS e WHERE e.space = %(space)s AND e.target = c.key)
    AND NOT EXISTS (SELECT FROM concept_names AS n WHERE n.space = %(space)s AND n.concept = c.key AND n.given)
), unnamed AS (
    DELETE FROM concept_names WHERE space = %(space)s AND concept IN (SELECT key FROM lonely)
)
DELETE FROM concepts WHERE space = %(space)s AND key IN (SELECT key FROM lonely)
"""


class Text(NamedTuple):
    """A memory's text, which is as it is since then."""

    memory: int
    since: int


def keep_extractions(
    connection: Connection[Any], space: int, extractor: int, made: Iterable[tuple[Text, Extraction]]
) -> None:
    """Keep what an extractor read in some memories."""
    sifted = [(text, sift(read)) for text, read in made]
    names: dict[str, str] = {}
    for _, each in sifted:
        for folded, named in each.mentions.items():
            names.setdefault(folded, named.name)
    concepts = resolve(connection, space, names)
    mentions = [
        (text.memory, concepts[folded], named.kind) for text, each in sifted for folded, named in each.mentions.items()
    ]
    if mentions:
        memories, mentioned, kinds = zip(*mentions, strict=True)
        connection.execute(_MENTION, (space, extractor, list(memories), list(mentioned), list(kinds)))
    stated = [
        (text, (concepts[source], relation, concepts[target]))
        for text, each in sifted
        for source, relation, target in each.relations
    ]
    if stated:
        _state(connection, space, extractor, stated)


def resolve(connection: Connection[Any], space: int, names: Mapping[str, str]) -> dict[str, int]:
    """Give the concept that each folded name leads to, made by the name as it is written if there is none."""
    known: dict[str, int] = dict(connection.execute(_KNOWN, (space, list(names))).fetchall())
    missing = {folded: name for folded, name in names.items() if folded not in known}
    if missing:
        made = {"space": space, "folded": list(missing), "names": list(missing.values())}
        known |= dict(connection.execute(_MAKE, made).fetchall())
    return known


def end_concepts(connection: Connection[Any], space: int, memory: int, until: int) -> None:
    """Remove what was read in a text that is no more. What it alone stated held until then, which stays known."""
    _forget(connection, _END, {"space": space, "memory": memory, "until": until})


def withdraw_concepts(connection: Connection[Any], space: int, memory: int, extractor: int) -> None:
    """Remove what an extractor read in the present text of a memory, as if it had not."""
    _forget(connection, _WITHDRAW, {"space": space, "memory": memory, "extractor": extractor})


def remove_concepts(connection: Connection[Any], space: int, memory: int) -> None:
    """Remove all that was ever read in a memory."""
    _forget(connection, _REMOVE_OF_MEMORY, {"space": space, "memory": memory})


def remove_extractor(connection: Connection[Any], space: int, extractor: int) -> None:
    """Remove all that an extractor ever read in a space."""
    _forget(connection, _REMOVE_OF_EXTRACTOR, {"space": space, "extractor": extractor})


def merge(connection: Connection[Any], space: int, source: int, target: int) -> None:
    """Make one concept of two: whatever led to the one leads to the other."""
    if source == target:
        return
    connection.execute(
        "UPDATE concept_names SET concept = %s WHERE space = %s AND concept = %s", (target, space, source)
    )
    connection.execute(
        "WITH moved AS (DELETE FROM memory_concepts WHERE space = %s AND concept = %s RETURNING *) "
        "INSERT INTO memory_concepts SELECT space, memory, %s, extractor, kind FROM moved ON CONFLICT DO NOTHING",
        (space, source, target),
    )
    edges = connection.execute(
        "SELECT key, source, relation, target, valid_to FROM concept_edges "
        "WHERE space = %s AND (source = %s OR target = %s)",
        (space, source, source),
    )
    for key, subject, relation, object_, until in edges.fetchall():
        ends = (target if subject == source else subject, relation, target if object_ == source else object_)
        _move_edge(connection, space, key, ends, is_present=until is None)
    connection.execute("DELETE FROM concepts WHERE space = %s AND key = %s", (space, source))


def _move_edge(
    connection: Connection[Any], space: int, edge: int, ends: tuple[int, str, int], *, is_present: bool
) -> None:
    """Let an edge run between other concepts; where one does that says the same now, both become one."""
    same = connection.execute(
        "SELECT key FROM concept_edges "
        "WHERE space = %s AND source = %s AND relation = %s AND target = %s AND valid_to IS NULL AND key <> %s",
        (space, *ends, edge),
    ).fetchone()
    if same is None or not is_present:
        connection.execute(
            "UPDATE concept_edges SET source = %s, relation = %s, target = %s WHERE space = %s AND key = %s",
            (*ends, space, edge),
        )
        return
    connection.execute(_MOVE_EVIDENCE, (space, edge, *same))
    connection.execute(_JOIN_EDGES, (space, edge, space, *same))


def _state(
    connection: Connection[Any], space: int, extractor: int, stated: Sequence[tuple[Text, tuple[int, str, int]]]
) -> None:
    since: dict[tuple[int, str, int], int] = {}
    for text, edge in stated:
        since[edge] = min(text.since, since.get(edge, text.since))
    sources, relations, targets = zip(*since, strict=True)
    rows = connection.execute(
        _EDGES,
        {
            "space": space,
            "sources": list(sources),
            "relations": list(relations),
            "targets": list(targets),
            "since": list(since.values()),
        },
    )
    keys = {(source, relation, target): key for key, source, relation, target in rows.fetchall()}
    evidence = sorted({(keys[edge], text.memory) for text, edge in stated})
    edges, memories = zip(*evidence, strict=True)
    connection.execute(_EVIDENCE, (space, extractor, list(edges), list(memories)))


def _forget(connection: Connection[Any], statement: str, which: Mapping[str, int]) -> None:
    row = connection.execute(statement, which).fetchone()
    mentioned, stated = row or ([], [])
    if mentioned:
        _prune(connection, which["space"], mentioned)
    if stated:
        settle_edges(connection, which["space"], stated)


def settle_edges(connection: Connection[Any], space: int, edges: Collection[int]) -> None:
    """Remove edges that nobody ever stated, and what they alone led to; end those that nobody states now."""
    which = {"space": space, "edges": list(edges)}
    removed = connection.execute(_REMOVE_UNSTATED, which).fetchall()
    connection.execute(_END_UNSTATED, which)
    if removed:
        _prune(connection, space, {concept for ends in removed for concept in ends})


def _prune(connection: Connection[Any], space: int, concepts: Collection[int]) -> None:
    connection.execute(_PRUNE, {"space": space, "concepts": list(concepts)})
