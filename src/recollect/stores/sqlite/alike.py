"""Names that begin as a given one does, to be compared with it: found by the index of names, however many there are."""

import sqlite3
from typing import Final

from recollect.core.resolution import MOST_ALIKE, beginnings

# Only of concepts that a memory mentions now: what is known from a memory that has since become sensitive is no
# longer anybody's to compare.
_ALIKE: Final = """
SELECT n.folded FROM spaces AS s JOIN concept_names AS n ON n.space = s.key
WHERE s.id = ? AND n.folded >= ? AND n.folded < ?
AND EXISTS (SELECT 1 FROM memory_concepts AS m WHERE m.space = n.space AND m.concept = n.concept)
ORDER BY n.folded LIMIT ?
"""
_LAST: Final = "\U0010ffff"


def find_alike(connection: sqlite3.Connection, space: str, name: str) -> list[str]:
    return [
        folded
        for beginning in beginnings(name)
        for (folded,) in connection.execute(_ALIKE, (space, beginning, beginning + _LAST, MOST_ALIKE))
    ]
