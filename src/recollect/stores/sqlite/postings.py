"""The words index: which memory holds which term, since and until when.

Always written in the transaction that writes the row. A memory's postings are found again by analysing the
state they were made from, so no second index has to be kept.
"""

import sqlite3
from typing import Final

from recollect.stores.lives import Terms, length_of

# REPLACE, for a memory that was changed twice within a microsecond or whose clock went back.
_OPEN: Final = """
INSERT OR REPLACE INTO postings (space, term, memory, valid_from, tf, length) VALUES (?, ?, ?, ?, ?, ?)
"""
_CLOSE: Final = """
UPDATE postings SET valid_to = ? WHERE space = ? AND term = ? AND memory = ? AND valid_from = ?
"""
_PURGE: Final = "DELETE FROM postings WHERE space = ? AND term = ? AND memory = ?"


def open_postings(connection: sqlite3.Connection, space: int, memory: int, terms: Terms, since: int) -> None:
    length = length_of(terms)
    connection.executemany(_OPEN, [(space, term, memory, since, tf, length) for term, tf in sorted(terms.items())])


def close_postings(
    connection: sqlite3.Connection, space: int, memory: int, terms: Terms, *, since: int, until: int
) -> None:
    connection.executemany(_CLOSE, [(until, space, term, memory, since) for term in terms])


def purge_postings(connection: sqlite3.Connection, space: int, memory: int, terms: Terms) -> None:
    connection.executemany(_PURGE, [(space, term, memory) for term in terms])
