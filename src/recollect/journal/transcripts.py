"""How far into each transcript the hooks have read."""

from typing import Final

from recollect.journal.file import Journal

_POSITION: Final = "SELECT position FROM transcripts WHERE path = ?"
_KEEP: Final = """
INSERT INTO transcripts (path, position, at) VALUES (?, ?, ?)
ON CONFLICT (path) DO UPDATE SET position = excluded.position, at = excluded.at
"""


def position_in(journal: Journal, path: str) -> int:
    with journal.read() as connection:
        row = connection.execute(_POSITION, (path,)).fetchone()
    return int(row[0]) if row else 0


def keep_position(journal: Journal, path: str, position: int, at: int) -> None:
    with journal.write() as connection:
        connection.execute(_KEEP, (path, position, at))
