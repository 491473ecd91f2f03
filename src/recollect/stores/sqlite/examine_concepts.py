"""What `doctor` looks at and mends in the concepts: that they are of memories which may be read, and all of them."""

import sqlite3
from collections.abc import Iterator
from itertools import groupby
from typing import Final

from recollect.core.concepts import RULES
from recollect.core.ports import Problem
from recollect.stores.readings import MEND, MISLEADING, MISREAD, UNREADABLE, UNSTATED, is_read
from recollect.stores.rows import STATE
from recollect.stores.sqlite.mentions import remove_concepts, settle_edge, withdraw_concepts
from recollect.stores.sqlite.queue import queue_reading
from recollect.stores.sqlite.rows import from_row

# What was read in what must not be: forgotten, sensitive or gone; or by somebody who is gone, or of what is. What a
# forgotten memory stated in the past stays known. What waits and must not is looked for with the vectors' queues.
_UNREADABLE: Final = """
SELECT x.space, x.memory FROM memory_concepts AS x
LEFT JOIN memories AS m ON m.key = x.memory AND m.space = x.space
LEFT JOIN concepts AS c ON c.key = x.concept AND c.space = x.space
WHERE m.key IS NULL OR m.deleted_at IS NOT NULL OR m.sensitive OR c.key IS NULL
OR x.extractor NOT IN (SELECT key FROM extractors)
UNION
SELECT v.space, v.memory FROM edge_evidence AS v LEFT JOIN memories AS m ON m.key = v.memory AND m.space = v.space
WHERE m.key IS NULL OR m.sensitive OR (m.deleted_at IS NOT NULL AND v.valid_to IS NULL)
OR v.extractor NOT IN (SELECT key FROM extractors)
"""
_MISLEADING: Final = """
SELECT n.space, n.concept FROM concept_names AS n
LEFT JOIN concepts AS c ON c.key = n.concept AND c.space = n.space WHERE c.key IS NULL
"""
_UNSTATED: Final = """
SELECT e.space, e.key FROM concept_edges AS e WHERE e.valid_to IS NULL AND NOT EXISTS (
    SELECT 1 FROM edge_evidence AS v WHERE v.space = e.space AND v.edge = e.key AND v.valid_to IS NULL
)
"""
_RULES: Final = "SELECT key FROM extractors WHERE name = ? AND reads"
_READ: Final = f"""
SELECT {STATE}, key, change FROM memories AS m
WHERE space = ?1 AND deleted_at IS NULL AND NOT sensitive AND NOT EXISTS (
    SELECT 1 FROM outbox AS o WHERE o.space = ?1 AND o.work = 'concepts ' || ?2 AND o.memory = m.key
)
"""
_MENTIONED: Final = "SELECT memory, concept FROM memory_concepts WHERE space = ? AND extractor = ? ORDER BY memory"


def examine_concepts(connection: sqlite3.Connection) -> Iterator[Problem]:
    for statement, what in ((_UNREADABLE, UNREADABLE), (_MISLEADING, MISLEADING), (_UNSTATED, UNSTATED)):
        (found,) = connection.execute(f"SELECT COUNT(*) FROM ({statement})").fetchone()
        if found:
            yield Problem(what.format(found), MEND)
    misread = sum(1 for _ in _misread(connection))
    if misread:
        yield Problem(MISREAD.format(misread), MEND)


def mend_concepts(connection: sqlite3.Connection) -> None:
    for space, memory in connection.execute(_UNREADABLE).fetchall():
        remove_concepts(connection, space, memory)
    connection.execute(f"DELETE FROM concept_names WHERE (space, concept) IN ({_MISLEADING})")
    for space, edge in connection.execute(_UNSTATED).fetchall():
        settle_edge(connection, space, edge)
    for space, memory, change, rules in list(_misread(connection)):
        withdraw_concepts(connection, space, memory, rules)
        queue_reading(connection, space, memory, change)


def _misread(connection: sqlite3.Connection) -> Iterator[tuple[int, int, int, int]]:
    """Give the memories that the rules would read otherwise."""
    row = connection.execute(_RULES, (RULES,)).fetchone()
    if row is None:
        return
    (rules,) = row
    for space, name in connection.execute("SELECT key, id FROM spaces").fetchall():
        names = connection.execute("SELECT folded, concept FROM concept_names WHERE space = ?", (space,))
        concepts: dict[str, int] = dict(names.fetchall())
        rows = connection.execute(_MENTIONED, (space, rules)).fetchall()
        mentioned = {memory: {row[1] for row in some} for memory, some in groupby(rows, key=lambda row: int(row[0]))}
        for row in connection.execute(_READ, (space, rules)).fetchall():
            memory, change = row[-2:]
            if not is_read(from_row(name, row), concepts, mentioned.get(memory, ())):
                yield space, memory, change, rules
