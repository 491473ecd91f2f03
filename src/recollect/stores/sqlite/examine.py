"""What `doctor` looks at and mends: whether the words index, the counts and the past agree with the rows."""

import sqlite3
from collections.abc import Callable, Iterator
from itertools import count, groupby
from typing import Final

from recollect.core.ports import Problem
from recollect.stores.lives import Life, Noted, Posting, check_lives, trace_life
from recollect.stores.rows import STATE
from recollect.stores.sqlite.rows import from_row

_RESTORE: Final = "Keep a copy of the file, then import your last export into a new store."

# Every state that each memory of a space was in, one after the other.
_STATES: Final = f"""
SELECT {STATE}, key, valid_to FROM (
    SELECT {STATE}, space, memory AS key, valid_to FROM revisions
    UNION ALL
    SELECT {STATE}, space, key, NULL FROM memories
) AS states WHERE space = ? ORDER BY key, version
"""
_POSTINGS_OF: Final = """
SELECT term, valid_from, valid_to, tf, length FROM postings WHERE space = ? AND term = ? AND memory = ?
"""
_INSERT: Final = """
INSERT INTO postings (space, memory, term, valid_from, valid_to, tf, length) VALUES (?, ?, ?, ?, ?, ?, ?)
"""


def examine(connection: sqlite3.Connection, language: str, progress: Callable[[int, int], None]) -> Iterator[Problem]:
    for (verdict,) in connection.execute("PRAGMA integrity_check(5)").fetchall():
        if verdict != "ok":
            yield Problem(f"SQLite finds the file damaged: {verdict}.", _RESTORE)
            return
    total = connection.execute("SELECT COUNT(*) FROM memories").fetchone()[0]
    done = count(1)
    for space, name, memories, length in connection.execute("SELECT key, id, memories, length FROM spaces").fetchall():
        entries = connection.execute("SELECT COUNT(*) FROM postings WHERE space = ?", (space,)).fetchone()[0]
        noted = Noted(name, memories, length, entries)
        lives = ((life, _indexed(connection, space, life)) for life in _lives(connection, space, language))
        yield from check_lives(noted, lives, _RESTORE, lambda: progress(next(done), total))


def rebuild(connection: sqlite3.Connection, language: str) -> None:
    """Build postings, lengths and counts anew from the rows."""
    connection.execute("DELETE FROM postings")
    for (space,) in connection.execute("SELECT key FROM spaces").fetchall():
        present: list[tuple[float, int, int]] = []
        past: list[tuple[float, int, int, int]] = []
        live, live_length = 0, 0.0
        for life in _lives(connection, space, language):
            connection.executemany(
                _INSERT, [(space, life.key, *entry) for entry in sorted(life.postings, key=_by_term)]
            )
            present.append((life.lengths[-1], life.indexed_at, life.key))
            past += [
                (length, space, life.key, state.version)
                for length, state in zip(life.lengths[:-1], life.states, strict=False)
            ]
            if life.is_live:
                live, live_length = live + 1, live_length + life.lengths[-1]
        connection.executemany("UPDATE memories SET length = ?, indexed_at = ? WHERE key = ?", present)
        connection.executemany("UPDATE revisions SET length = ? WHERE space = ? AND memory = ? AND version = ?", past)
        connection.execute("UPDATE spaces SET memories = ?, length = ? WHERE key = ?", (live, live_length, space))


def _by_term(entry: Posting) -> tuple[str, int]:
    return entry[:2]


def _lives(connection: sqlite3.Connection, space: int, language: str) -> Iterator[Life]:
    name = connection.execute("SELECT id FROM spaces WHERE key = ?", (space,)).fetchone()[0]
    rows = connection.execute(_STATES, (space,))
    for key, group in groupby(rows, key=lambda row: int(row[-2])):
        states = list(group)
        yield trace_life(key, [from_row(name, row) for row in states], [row[-1] for row in states], language)


def _indexed(connection: sqlite3.Connection, space: int, life: Life) -> frozenset[Posting]:
    terms = {entry[0] for entry in life.postings}
    return frozenset(row for term in terms for row in connection.execute(_POSTINGS_OF, (space, term, life.key)))
