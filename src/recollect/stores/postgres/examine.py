"""What `doctor` looks at and mends: whether the words index, the counts and the past agree with the rows.

The operator's work, space by space.
"""

from collections.abc import Callable, Iterator
from itertools import count, groupby
from typing import Any, Final

from psycopg import Connection

from recollect.core.ports import Problem
from recollect.stores.lives import MEND, Life, Noted, Posting, check_lives, trace_life
from recollect.stores.postgres.rows import STATE_AS_READ
from recollect.stores.rows import STATE, from_row

_RESTORE: Final = "Restore the database from its last backup, or import your last export into a new space."

# Every state that each memory of a space was in, one after the other.
_STATES: Final = f"""
SELECT {STATE_AS_READ}, key, valid_to FROM (
    SELECT {STATE}, space, memory AS key, valid_to FROM revisions
    UNION ALL
    SELECT {STATE}, space, key, NULL FROM memories
) AS states WHERE space = %s ORDER BY key, version
"""
_POSTINGS: Final = """
SELECT memory, term, valid_from, valid_to, tf, length FROM postings WHERE space = %s ORDER BY memory
"""
_INSERT: Final = """
INSERT INTO postings (space, memory, term, valid_from, valid_to, tf, length)
SELECT %s, %s, e.* FROM unnest(%s::text[], %s::bigint[], %s::bigint[], %s::real[], %s::real[]) AS e
"""
_SPACES: Final = "SELECT key, id, memories, length, links FROM spaces ORDER BY id"


def examine(connection: Connection[Any], language: str, progress: Callable[[int, int], None]) -> Iterator[Problem]:
    spaces = connection.execute(_SPACES).fetchall()
    total = sum(_count(connection, "memories", space) for space, *_ in spaces)
    done = count(1)
    for space, name, memories, length, links in spaces:
        indexed = _indexed(connection, space)
        noted = Noted(name, memories, length, sum(map(len, indexed.values())))
        lives = ((life, indexed.get(life.key, frozenset())) for life in _lives(connection, space, name, language))
        yield from check_lives(noted, lives, _RESTORE, lambda: progress(next(done), total))
        if _count(connection, "links", space, "AND valid_to IS NULL") != links:
            yield Problem(f"{name} has other links than its count of {links:,} says.", MEND)


def rebuild(connection: Connection[Any], language: str) -> None:
    """Build postings, lengths and counts anew from the rows."""
    for space, name, *_ in connection.execute(f"{_SPACES} FOR NO KEY UPDATE").fetchall():
        connection.execute("DELETE FROM postings WHERE space = %s", (space,))
        live, live_length = 0, 0.0
        present: list[tuple[float, int, int, int]] = []
        past: list[tuple[float, int, int, int]] = []
        lives = list(_lives(connection, space, name, language))
        for life in lives:
            entries = [list(column) for column in zip(*life.postings, strict=True)]
            if entries:
                connection.execute(_INSERT, (space, life.key, *entries))
            present.append((life.lengths[-1], life.indexed_at, space, life.key))
            past += [
                (length, space, life.key, state.version)
                for length, state in zip(life.lengths[:-1], life.states, strict=False)
            ]
            if life.is_live:
                live, live_length = live + 1, live_length + life.lengths[-1]
        with connection.cursor() as cursor:
            cursor.executemany(
                "UPDATE memories SET length = %s, indexed_at = %s WHERE space = %s AND key = %s", present
            )
            cursor.executemany(
                "UPDATE revisions SET length = %s WHERE space = %s AND memory = %s AND version = %s", past
            )
        links = _count(connection, "links", space, "AND valid_to IS NULL")
        connection.execute(
            "UPDATE spaces SET memories = %s, length = %s, links = %s WHERE key = %s", (live, live_length, links, space)
        )


def _lives(connection: Connection[Any], space: int, name: str, language: str) -> Iterator[Life]:
    rows = connection.execute(_STATES, (space,)).fetchall()
    for key, group in groupby(rows, key=lambda row: int(row[-2])):
        states = list(group)
        yield trace_life(key, [from_row(name, row) for row in states], [row[-1] for row in states], language)


def _indexed(connection: Connection[Any], space: int) -> dict[int, frozenset[Posting]]:
    rows = connection.execute(_POSTINGS, (space,)).fetchall()
    return {
        memory: frozenset(tuple(row[1:]) for row in entries)
        for memory, entries in groupby(rows, key=lambda row: int(row[0]))
    }


def _count(connection: Connection[Any], table: str, space: int, condition: str = "") -> int:
    row = connection.execute(f"SELECT COUNT(*) FROM {table} WHERE space = %s {condition}", (space,)).fetchone()
    return int(row[0]) if row else 0
