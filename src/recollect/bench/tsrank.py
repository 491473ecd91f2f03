"""A common words leg on Postgres, for comparison: its own full-text search in English, ranked by `ts_rank`.

All words are required; if that leaves room, any word will do for the rest, unless a rank is so low that it says
nothing. It stands in for the product's words leg in the arm `seeds-postgres`, the recipe that the project started from.
"""

from collections.abc import Sequence
from typing import Any, Final, LiteralString

import psycopg

from recollect.core.hits import Evidence, Hit, Ref, merge_hits
from recollect.core.ports import Store
from recollect.core.query import Query

_BATCH: Final = 500
_LEAST: Final = 0.01
"""Ranks up to this are of a word that is there by chance, says the recipe."""
_ABOVE: Final = 1.0
"""No rank reaches this: added, it keeps what has all the words before what has only some."""

# As the recipe has it: the text counts as the heaviest of four fields, of which the sets have no other.
_SCHEMA: Final = """
CREATE TABLE memories (
    space text NOT NULL, id uuid NOT NULL, place bigint, content text NOT NULL,
    search tsvector GENERATED ALWAYS AS (setweight(to_tsvector('english', content), 'A')) STORED,
    PRIMARY KEY (space, id)
)
"""
_INDEX: Final = "CREATE INDEX memories_search ON memories USING gin (search)"
_ALL_WORDS: Final = "plainto_tsquery('english', %(text)s)"
# The same words, whatever marks stand between them in the question.
_ANY_WORD: Final = f"replace({_ALL_WORDS}::text, ' & ', ' | ')::tsquery"
_FIND: Final = """
SELECT m.id::text, ts_rank(m.search, q.words) AS points
FROM memories AS m, (SELECT {words} AS words) AS q
WHERE m.space = %(space)s AND (%(before)s::bigint IS NULL OR m.place < %(before)s) AND m.search @@ q.words
AND ts_rank(m.search, q.words) > %(least)s
ORDER BY points DESC, m.id LIMIT %(most)s
"""
_FIND_ALL_WORDS: Final = _FIND.format(words=_ALL_WORDS)
_FIND_ANY_WORD: Final = _FIND.format(words=_ANY_WORD)


class TsRankLeg:
    """Stands under the name of the words leg, whose weight and floor it takes."""

    name = "lexical"
    least = 0.0

    def __init__(self, store: Store, url: str) -> None:
        """Copy the texts of a store into an empty database."""
        self._connection = psycopg.connect(url, autocommit=True)
        self._connection.execute(_SCHEMA)
        for count in store.count():
            self._copy(store, count.space)
        self._connection.execute(_INDEX)
        self._connection.execute("ANALYZE memories")

    def search(self, query: Query, depth: int, seconds: float) -> Sequence[Hit]:  # noqa: ARG002 - fast enough
        room = depth + len(query.exclude)
        found = merge_hits([self._search_space(space, query, room) for space in query.scope.spaces], room)
        return [hit for hit in found if hit.ref.id not in query.exclude][:depth]

    def weigh(self, query: Query, ref: Ref) -> Evidence:  # noqa: ARG002 - nobody asks an arm to explain itself
        return Evidence("found by ts_rank")

    def close(self) -> None:
        self._connection.close()

    def _search_space(self, space: str, query: Query, most: int) -> list[Hit]:
        asked = {"text": query.text, "space": space, "before": query.scope.before, "most": most}
        with_all = self._find(_FIND_ALL_WORDS, {**asked, "least": -1.0})
        hits = [Hit(Ref(space, each), _ABOVE + points, 1.0) for each, points in with_all]
        if len(hits) < most:
            there = {each for each, _ in with_all}
            with_some = self._find(_FIND_ANY_WORD, {**asked, "least": _LEAST})
            hits += [Hit(Ref(space, each), points, 1.0) for each, points in with_some if each not in there]
        return hits[:most]

    def _find(self, statement: LiteralString, asked: dict[str, Any]) -> list[tuple[Any, ...]]:
        return self._connection.execute(statement, asked).fetchall()

    def _copy(self, store: Store, space: str) -> None:
        refs = list(store.memories.walk([space]))
        with (
            self._connection.cursor() as cursor,
            cursor.copy("COPY memories (space, id, place, content) FROM STDIN") as copy,
        ):
            for start in range(0, len(refs), _BATCH):
                found = store.memories.get(refs[start : start + _BATCH])
                for ref in refs[start : start + _BATCH]:
                    copy.write_row((space, ref.id, found[ref].place, found[ref].content))
