"""Names that begin as a given one does, to be compared with it: found by the index of names, however many there are."""

from typing import Final

from psycopg import Connection

from recollect.core.resolution import MOST_ALIKE, beginnings
from recollect.stores.postgres.database import Row

# Only of concepts that a memory mentions now: what is known from a memory that has since become sensitive is no
# longer anybody's to compare. The column is in the order of its bytes, so that a beginning is a range of the index.
_ALIKE: Final = """
SELECT n.folded FROM concept_names AS n
WHERE n.space = (SELECT key FROM spaces WHERE id = %s) AND n.folded >= %s AND n.folded < %s
AND EXISTS (SELECT 1 FROM memory_concepts AS m WHERE m.space = n.space AND m.concept = n.concept)
ORDER BY n.folded LIMIT %s
"""
_LAST: Final = "\U0010ffff"


def find_alike(connection: Connection[Row], space: str, name: str) -> list[str]:
    return [
        folded
        for beginning in beginnings(name)
        for (folded,) in connection.execute(_ALIKE, (space, beginning, beginning + _LAST, MOST_ALIKE)).fetchall()
    ]
