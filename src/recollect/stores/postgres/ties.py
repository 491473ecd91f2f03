"""What ties memories to others: names that both mention, rare words that both hold, relations, links.

Two statements a space: the memories themselves, whose words are looked for, and all that they share. A list is read no
further than it takes to see that it is too long: what many share tells nothing.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Final

from psycopg import Connection

from recollect.core.analysis import analyse
from recollect.core.hits import Ref
from recollect.core.query import Scope
from recollect.core.spread import Tie, TieKind, limits_of
from recollect.stores.postgres.database import Row
from recollect.stores.postgres.lexical import PostgresWords
from recollect.stores.postgres.rows import ids_of
from recollect.stores.tying import BY_MENTIONS, MOST_RELATED, Member, Shared, tie_up
from recollect.stores.words import SpaceWords

# A memory as it is at a moment, and whether it is so now. A sensitive memory's words are in the index too, for its
# owner; nothing leads to it from another memory. Only a look into the past has to read what was.
_STATE: Final = """
SELECT {{columns}}, {unchanged} AS unchanged FROM {table} WHERE space = %(space)s AND {{which}}
AND updated_at <= %(moment)s {until} AND deleted_at IS NULL AND NOT sensitive
"""
_NOW: Final = _STATE.format(table="memories", unchanged="true", until="")
_PAST: Final = "(SELECT *, memory AS key FROM revisions) AS past"
_THEN: Final = f"""
{_NOW} UNION ALL {_STATE.format(table=_PAST, unchanged="false", until="AND valid_to > %(moment)s")}
"""
_BY_ID: Final = "id = ANY (%(ids)s::uuid[])"
# What each seed mentions. Here and below OFFSET 0 has rows looked up one by one, where the planner, who does not know
# how few they are, would read the whole table.
_MENTIONED: Final = """
mentioned AS MATERIALIZED (
    SELECT s.seed, x.concept, c.name FROM unnest(%(unchanged)s::integer[]) AS s (seed)
    CROSS JOIN LATERAL (
        SELECT DISTINCT concept FROM memory_concepts WHERE space = %(space)s AND memory = s.seed
    ) AS x
    CROSS JOIN LATERAL (SELECT name FROM concepts WHERE space = %(space)s AND key = x.concept OFFSET 0) AS c
)
"""
# Each extractor may have read the same, so that there are that many times too many before there surely are.
_SHARING: Final = """
SELECT array_agg(memory) AS members FROM (
    SELECT memory FROM memory_concepts WHERE space = %(space)s AND concept = {concept}
    LIMIT (%(names)s + 1) * (SELECT count(*) FROM extractors)
) AS few
"""
_FEW: Final = "cardinality(h.members) < (%(names)s + 1) * (SELECT count(*) FROM extractors)"
_VALID: Final = "valid_from <= %(moment)s AND (valid_to IS NULL OR valid_to > %(moment)s)"
_KINDS: Final[dict[TieKind, str]] = {
    "names": f"""
        SELECT m.seed, 'names' AS kind, m.name, h.members
        FROM mentioned AS m CROSS JOIN LATERAL ({_SHARING.format(concept="m.concept")}) AS h
        WHERE {_FEW}
    """,
    "terms": f"""
        SELECT t.seed, 'terms' AS kind, t.term AS name, h.members
        FROM unnest(%(holding)s::integer[], %(terms)s::text[]) AS t (seed, term)
        CROSS JOIN LATERAL (
            SELECT array_agg(memory) AS members FROM (
                SELECT memory FROM postings WHERE space = %(space)s AND term = t.term COLLATE "C" AND {_VALID}
                LIMIT %(most_terms)s + 1
            ) AS few
        ) AS h
        WHERE cardinality(h.members) BETWEEN 2 AND %(most_terms)s
    """,
    "relations": f"""
        SELECT m.seed, 'relations' AS kind, r.said AS name, h.members
        FROM mentioned AS m
        CROSS JOIN LATERAL (
            SELECT m.name || ' ' || e.relation || ' ' || c.name AS said, c.key
            FROM (
                SELECT relation, target FROM concept_edges WHERE space = %(space)s AND source = m.concept AND {_VALID}
                OFFSET 0
            ) AS e
            CROSS JOIN LATERAL (SELECT key, name FROM concepts WHERE space = %(space)s AND key = e.target OFFSET 0) AS c
            UNION
            SELECT c.name || ' ' || e.relation || ' ' || m.name, c.key
            FROM (
                SELECT relation, source FROM concept_edges WHERE space = %(space)s AND target = m.concept AND {_VALID}
                OFFSET 0
            ) AS e
            CROSS JOIN LATERAL (SELECT key, name FROM concepts WHERE space = %(space)s AND key = e.source OFFSET 0) AS c
            ORDER BY said LIMIT {MOST_RELATED}
        ) AS r
        CROSS JOIN LATERAL ({_SHARING.format(concept="r.key")}) AS h
        WHERE {_FEW}
    """,
    # Links that say that two memories belong together; what supersedes another takes its place instead.
    "links": f"""
        SELECT s.seed, 'links' AS kind, l.kind AS name, ARRAY[l.other] AS members
        FROM unnest(%(seeds)s::integer[]) AS s (seed)
        CROSS JOIN LATERAL (
            SELECT target AS other, kind FROM links
            WHERE space = %(space)s AND source = s.seed AND kind <> 'supersedes' AND {_VALID}
            UNION
            SELECT source, kind FROM links
            WHERE space = %(space)s AND target = s.seed AND kind <> 'supersedes' AND {_VALID}
        ) AS l
    """,
}
# The last rows say who the members are: each is looked up once, by however many ties it is led to.
_SHARED: Final = """
WITH {mentioned} shared AS MATERIALIZED ({kinds})
SELECT seed, kind, name, members, NULL AS ids FROM shared
UNION ALL
SELECT NULL, m.unchanged::text, NULL, array_agg(k.key), string_agg(m.id::text, ',')
FROM (SELECT DISTINCT unnest(members || seed) AS key FROM shared) AS k
CROSS JOIN LATERAL ({states} OFFSET 0) AS m
GROUP BY m.unchanged
"""


def find_ties(
    connection: Connection[Row],
    noted: dict[Any, Any],
    refs: Sequence[Ref],
    kinds: Collection[TieKind],
    as_of: datetime | None,
    *,
    language: str,
) -> dict[Ref, list[Tie]]:
    found: dict[Ref, list[Tie]] = {ref: [] for ref in refs}
    for name in sorted({ref.space for ref in refs}):
        space = PostgresWords(connection, noted).space(name, Scope((name,), as_of=as_of))
        if space is not None:
            ids = ids_of(ref.id for ref in refs if ref.space == name)
            found |= _find_in(connection, space, ids, kinds, language, states=_NOW if as_of is None else _THEN)
    return found


def _find_in(
    connection: Connection[Row],
    space: SpaceWords,
    ids: str,
    kinds: Collection[TieKind],
    language: str,
    *,
    states: str,
) -> dict[Ref, list[Tie]]:
    asked = {"space": space.key, "moment": space.moment, "ids": ids}
    rows = connection.execute(states.format(columns="id::text, key, content", which=_BY_ID), asked).fetchall()
    if not rows or not kinds:
        return {}
    limits = limits_of(space.statistics.memories)
    terms = [(key, term) for _, key, content, _ in rows for term in sorted(set(analyse(content, language)))]
    asked |= {
        "seeds": [key for _, key, _, _ in rows],
        "unchanged": [key for _, key, _, is_unchanged in rows if is_unchanged],
        "holding": [key for key, _ in terms],
        "terms": [term for _, term in terms],
        "names": limits.names,
        "most_terms": limits.terms,
    }
    statement = _SHARED.format(
        mentioned=f"{_MENTIONED}," if BY_MENTIONS & set(kinds) else "",
        kinds="UNION ALL".join(_KINDS[kind] for kind in kinds),
        states=states.format(columns="id", which="key = k.key"),
    )
    shared: dict[int, list[Shared]] = {}
    members: dict[int, Member] = {}
    for seed, kind, name, keys, identities in connection.execute(statement, asked).fetchall():
        if seed is not None:
            few = set(keys)
            if kind not in BY_MENTIONS or len(few) <= limits.names:
                shared.setdefault(seed, []).append(Shared(kind, name, few))
            continue
        is_unchanged = kind == "true"
        for key, identity in zip(keys, identities.split(","), strict=True):
            members[key] = Member(Ref(space.id, identity), is_unchanged)
    return {Ref(space.id, identity): tie_up(key, shared.get(key, ()), members) for identity, key, _, _ in rows}
