"""What a recall has to know before it begins, looked up in one statement: each one sent costs as much as its work."""

from typing import Final

from recollect.core.bm25 import Statistics
from recollect.core.concepts import fold_all, names_in
from recollect.core.moments import END_OF_TIME
from recollect.core.query import Query
from recollect.stores.postgres.database import Reading
from recollect.stores.words import SpaceWords

# One row for each space, or one without a space where there is none.
_SURVEY: Final = """
SELECT a.key, a.model, a.dimension, s.id, s.key, s.change, s.memories, s.length, s.links,
       EXISTS (SELECT FROM vector_indexes AS i WHERE i.space = s.key AND i.vector_set = a.key),
       (SELECT COUNT(*) FROM outbox AS o WHERE o.space = s.key AND o.vector_set = a.key),
       (SELECT array_agg(ARRAY[g.name, g.value] ORDER BY g.space) FROM settings AS g WHERE g.space IN (0, s.key)),
       {known}
FROM (SELECT 1) AS once
LEFT JOIN vector_sets AS a ON a.active
LEFT JOIN spaces AS s ON s.id = ANY (%(spaces)s)
"""
_KNOWN: Final = "EXISTS (SELECT FROM concept_names AS n WHERE n.space = s.key AND n.folded = ANY (%(names)s))"
_WITH_NAMES: Final = _SURVEY.format(known=_KNOWN)
_WITHOUT_NAMES: Final = _SURVEY.format(known="false")


def survey(reading: Reading, query: Query) -> None:
    """Note what the parts of the store would ask for one by one."""
    noted, spaces = reading.noted, query.scope.spaces
    names = fold_all(names_in(query.text))
    noted["known names"] = (names, set())
    noted["keys of spaces"] = dict.fromkeys(spaces)
    noted["spaces"] = {(space, END_OF_TIME): None for space in spaces}
    noted |= {"indexed": {}, "links": {}, "waiting": {}, "settings": {}}
    statement = _WITH_NAMES if names else _WITHOUT_NAMES
    for row in reading.connection.execute(statement, {"spaces": list(spaces), "names": names}).fetchall():
        vector_set, model, dimension, space, key, *rest = row
        noted["active set"] = None if vector_set is None else (vector_set, model, dimension)
        if space is None:
            continue
        change, memories, length, links, indexed, waiting, settings, known = rest
        noted["keys of spaces"][space] = key
        noted["spaces"][space, END_OF_TIME] = SpaceWords(space, key, change, END_OF_TIME, Statistics(memories, length))
        if indexed:
            noted["indexed"][key, vector_set] = memories
        noted["links"][space] = links
        noted["waiting"][space] = waiting
        noted["settings"][space] = settings or []
        if known:
            noted["known names"][1].add(space)
