"""What `doctor` looks at and mends in the concepts: that they are of memories which may be read, and all of them."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any, Final

from psycopg import Connection

from recollect.core.concepts import RULES
from recollect.core.ports import Problem
from recollect.stores.postgres.mentions import remove_concepts, settle_edges, withdraw_concepts
from recollect.stores.postgres.rows import STATE_AS_READ
from recollect.stores.readings import MEND, MISLEADING, MISREAD, STRAY, UNREADABLE, UNSTATED, is_read
from recollect.stores.rows import from_row

_MAY_NOT: Final = "(m.key IS NULL OR m.deleted_at IS NOT NULL OR m.sensitive)"
# What was read in what must not be: forgotten, sensitive or gone; or by somebody who is gone, or of what is. What a
# forgotten memory stated in the past stays known.
_UNREADABLE: Final = f"""
SELECT x.space, x.memory FROM memory_concepts AS x
LEFT JOIN memories AS m ON m.space = x.space AND m.key = x.memory
LEFT JOIN concepts AS c ON c.space = x.space AND c.key = x.concept
WHERE {_MAY_NOT} OR c.key IS NULL OR x.extractor NOT IN (SELECT key FROM extractors)
UNION
SELECT v.space, v.memory FROM edge_evidence AS v
LEFT JOIN memories AS m ON m.space = v.space AND m.key = v.memory
WHERE m.key IS NULL OR m.sensitive OR (m.deleted_at IS NOT NULL AND v.valid_to IS NULL)
OR v.extractor NOT IN (SELECT key FROM extractors)
"""
_MISLEADING: Final = """
SELECT n.space, n.concept FROM concept_names AS n
LEFT JOIN concepts AS c ON c.space = n.space AND c.key = n.concept WHERE c.key IS NULL
"""
_UNSTATED: Final = """
SELECT e.space, e.key FROM concept_edges AS e WHERE e.valid_to IS NULL AND NOT EXISTS (
    SELECT FROM edge_evidence AS v WHERE v.space = e.space AND v.edge = e.key AND v.valid_to IS NULL
)
"""
_STRAY: Final = f"""
SELECT u.space, u.extractor, u.memory FROM unread AS u
LEFT JOIN memories AS m ON m.space = u.space AND m.key = u.memory
WHERE {_MAY_NOT} OR u.extractor NOT IN (SELECT key FROM extractors WHERE reads)
"""
_RULES: Final = "SELECT key, coalesce(queued_to, 2147483647) FROM extractors WHERE name = %s AND reads"
_READ: Final = f"""
SELECT {STATE_AS_READ}, key, change FROM memories AS m
WHERE space = %(space)s AND deleted_at IS NULL AND NOT sensitive AND NOT EXISTS (
    SELECT FROM unread AS u WHERE u.space = %(space)s AND u.extractor = %(rules)s AND u.memory = m.key
)
"""
_MENTIONED: Final = """
SELECT memory, concept FROM memory_concepts WHERE space = %(space)s AND extractor = %(rules)s ORDER BY memory
"""


def examine_concepts(connection: Connection[Any]) -> Iterator[Problem]:
    for statement, what in (
        (_UNREADABLE, UNREADABLE),
        (_MISLEADING, MISLEADING),
        (_UNSTATED, UNSTATED),
        (_STRAY, STRAY),
    ):
        row = connection.execute(f"SELECT COUNT(*) FROM ({statement}) AS found").fetchone()
        if row and row[0]:
            yield Problem(what.format(row[0]), MEND)
    misread = sum(1 for _ in _misread(connection))
    if misread:
        yield Problem(MISREAD.format(misread), MEND)


def mend_concepts(connection: Connection[Any]) -> None:
    for space, memory in connection.execute(_UNREADABLE).fetchall():
        remove_concepts(connection, space, memory)
    connection.execute(f"DELETE FROM concept_names WHERE (space, concept) IN ({_MISLEADING})")
    for space, edge in connection.execute(_UNSTATED).fetchall():
        settle_edges(connection, space, [edge])
    connection.execute(f"DELETE FROM unread WHERE (space, extractor, memory) IN ({_STRAY})")
    for space, memory, change, rules in list(_misread(connection)):
        withdraw_concepts(connection, space, memory, rules)
        connection.execute("SELECT recollect_queue_reading(%s, %s, %s)", (space, memory, change))


def _misread(connection: Connection[Any]) -> Iterator[tuple[int, int, int, int]]:
    """Give the memories that the rules would read otherwise, space by space as far as they have been given any."""
    row = connection.execute(_RULES, (RULES,)).fetchone()
    if row is None:
        return
    rules, queued_to = row
    spaces = connection.execute("SELECT key, id FROM spaces WHERE key <= %s ORDER BY key", (queued_to,))
    for space, name in spaces.fetchall():
        these = {"space": space, "rules": rules}
        names = connection.execute("SELECT folded, concept FROM concept_names WHERE space = %s", (space,))
        concepts: dict[str, int] = dict(names.fetchall())
        rows = connection.execute(_MENTIONED, these).fetchall()
        mentioned = {memory: {row[1] for row in some} for memory, some in groupby(rows, key=lambda row: int(row[0]))}
        for row in connection.execute(_READ, these).fetchall():
            memory, change = row[-2:]
            if not is_read(from_row(name, row), concepts, mentioned.get(memory, ())):
                yield space, memory, change, rules
