"""What a recall has to know before it begins, looked up in one statement: each one sent costs as much as its work."""

from collections.abc import Sequence
from typing import Final

from recollect.core.bm25 import Statistics
from recollect.stores.moments import END_OF_TIME
from recollect.stores.postgres.database import Reading
from recollect.stores.words import SpaceWords

# One row for each space, or one without a space where there is none.
_SURVEY: Final = """
SELECT a.key, a.model, a.dimension, s.id, s.key, s.change, s.memories, s.length, s.links,
       EXISTS (SELECT FROM vector_indexes AS i WHERE i.space = s.key AND i.vector_set = a.key),
       (SELECT COUNT(*) FROM outbox AS o WHERE o.space = s.key AND o.vector_set = a.key),
       (SELECT array_agg(ARRAY[g.name, g.value] ORDER BY g.space) FROM settings AS g WHERE g.space IN (0, s.key))
FROM (SELECT 1) AS once
LEFT JOIN vector_sets AS a ON a.active
LEFT JOIN spaces AS s ON s.id = ANY (%s)
"""


def survey(reading: Reading, spaces: Sequence[str]) -> None:
    """Note what the parts of the store would ask for one by one."""
    noted = reading.noted
    noted["keys of spaces"] = dict.fromkeys(spaces)
    noted["spaces"] = {(space, END_OF_TIME): None for space in spaces}
    noted |= {"indexed": {}, "links": {}, "waiting": {}, "settings": {}}
    for row in reading.connection.execute(_SURVEY, (list(spaces),)).fetchall():
        vector_set, model, dimension, space, key, change, memories, length, links, indexed, waiting, settings = row
        noted["active set"] = None if vector_set is None else (vector_set, model, dimension)
        if space is None:
            continue
        noted["keys of spaces"][space] = key
        noted["spaces"][space, END_OF_TIME] = SpaceWords(space, key, change, END_OF_TIME, Statistics(memories, length))
        if indexed:
            noted["indexed"][key, vector_set] = memories
        noted["links"][space] = links
        noted["waiting"][space] = waiting
        noted["settings"][space] = settings or []
