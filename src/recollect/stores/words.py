"""The two legs over a words index: `lexical` (BM25) and `exact` (the query's rare terms and identifiers).

Both ask the space how many memories hold each term, now or at the moment asked for, and then have the store add up
the terms of each memory in one statement. No statistics cross spaces. A store brings the statements (`Words`); what
is looked for, and what it is worth, is decided here for every store alike.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Final, Protocol

from recollect.core.analysis import QueryTerms, analyse_query, share_common
from recollect.core.bm25 import K1, Statistics, idf, is_rare
from recollect.core.hits import Evidence, Hit, Ref, merge_hits
from recollect.core.query import Query, Scope
from recollect.values import value

MOST_TERMS: Final = 512
"""Distinct terms of a query that are searched for; only a pasted document has more."""
MOST_READ: Final = 5000
"""Texts that a query of stop words alone reads: a tenth of a second, and all that most people have."""
ALL: Final = (1 << 31) - 1
TIES: Final = 50
"""What is asked for beyond the cut, to see whether a tie runs across it: short texts tie often, and a second search
costs as much as the first."""
_ROUNDING: Final = 0.000001


@value
class SpaceWords:
    """A space as a query finds it: its key, its statistics, and the moment they are of."""

    id: str
    key: int
    change: int
    moment: int
    statistics: Statistics


Found = tuple[str, float, float]
"""The id of a memory, its score rounded to six digits, and the idf of the terms that it holds."""


class Words(Protocol):
    """One consistent state of a words index."""

    def space(self, space: str, scope: Scope) -> SpaceWords | None: ...

    def count(self, space: SpaceWords, terms: tuple[str, ...]) -> dict[str, int]:
        """Give how many memories hold each term."""

    def best(
        self, space: SpaceWords, weights: Mapping[str, float], scope: Scope, *, bm25: bool, least: float, most: int
    ) -> list[Found]:
        """Give the memories with the most points, ties by id, down to a score, and so many at most."""

    def newest(self, space: SpaceWords, scope: Scope, most: int) -> Iterable[tuple[str, str]]:
        """Give the newest memories of a scope: id and text."""

    def of_one(self, space: SpaceWords, terms: Sequence[str], memory: str) -> list[tuple[str, float, float]]:
        """Give the terms that one memory holds, how often, and how long it is."""


class WordsIndex(Protocol):
    def read(self, seconds: float | None = None) -> AbstractContextManager[Words]:
        """Read one state of the index; past its time it stops with `LegTimeout`."""


class LexicalLeg:
    """Words, by BM25."""

    name = "lexical"
    least = 0.0

    def __init__(self, index: WordsIndex, language: str) -> None:
        self._index = index
        self._language = language

    def search(self, query: Query, depth: int, seconds: float) -> Sequence[Hit]:
        terms = analyse_query(query.text, self._language)
        with self._index.read(seconds) as words:
            return merge_hits(
                [self._search_space(words, query, terms, space, depth) for space in query.scope.spaces],
                depth,
            )

    def weigh(self, query: Query, ref: Ref) -> Evidence:
        terms = analyse_query(query.text, self._language)
        if terms.common:
            return Evidence("the query has only common words, which were looked for in the text as it stands")
        nothing = Evidence("it holds none of the query's words")
        with self._index.read() as words:
            space = words.space(ref.space, query.scope)
            if space is None:
                return nothing
            weights = self._weights(words, space, terms)
            rows = words.of_one(space, tuple(weights), ref.id) if weights else []
        if not rows:
            return nothing
        base, slope = space.statistics.saturation
        parts = tuple((term, self._points(weights[term], tf, base + slope * length)) for term, tf, length in rows)
        share = sum(weights[term] for term, _, _ in rows) / sum(weights.values())
        return Evidence(
            f"it holds {len(rows)} of the query's {len(weights)} words, {share:.0%} of their weight",
            tuple(sorted(parts, key=lambda part: -part[1])),
        )

    def _search_space(self, words: Words, query: Query, terms: QueryTerms, space_id: str, depth: int) -> list[Hit]:
        space = words.space(space_id, query.scope)
        if space is None:
            return []
        if terms.common:
            return self._search_literally(words, query, terms.common, space, depth)
        weights = self._weights(words, space, terms)
        if not weights:
            return []
        # There is room for what the query excludes, so that excluding never starves the result. Where a tie runs
        # across the cut, all that tie have to show their ids.
        room = depth + len(query.exclude)
        most, scope, bm25 = room + TIES, query.scope, self.bm25
        rows = words.best(space, weights, scope, bm25=bm25, least=0.0, most=most)
        if len(rows) == most and rows[-1][1] == rows[room - 1][1]:
            rows = words.best(space, weights, scope, bm25=bm25, least=rows[-1][1] - _ROUNDING, most=ALL)
        total = sum(weights.values())
        hits = [Hit(Ref(space_id, memory), score, min(1.0, matched / total)) for memory, score, matched in rows]
        return _without(query.exclude, hits)[:depth]

    def _search_literally(
        self, words: Words, query: Query, common: Sequence[str], space: SpaceWords, depth: int
    ) -> list[Hit]:
        rows = words.newest(space, query.scope, MOST_READ + len(query.exclude))
        shares = ((memory, share_common(common, content)) for memory, content in rows)
        hits = [Hit(Ref(space.id, memory), share, share) for memory, share in shares if share]
        return merge_hits([_without(query.exclude, hits)], depth)

    def _weights(self, words: Words, space: SpaceWords, terms: QueryTerms) -> dict[str, float]:
        """Give the terms to look for and their idf; one that no memory holds was asked for all the same."""
        wanted = terms.terms[:MOST_TERMS]
        if not wanted:
            return {}
        return self._choose(words.count(space, wanted), terms, space.statistics.memories)

    bm25 = True
    """Whether a term counts by how often it occurs, or by being there at all."""

    def _choose(self, containing: Mapping[str, int], terms: QueryTerms, memories: int) -> dict[str, float]:  # noqa: ARG002
        return {term: idf(memories, count) for term, count in containing.items()}

    def _points(self, weight: float, tf: float, damping: float) -> float:
        return weight * tf * (K1 + 1) / (tf + damping)


class ExactLeg(LexicalLeg):
    """The query's rare terms and identifiers, by whether they are there at all."""

    name = "exact"
    bm25 = False

    def _search_literally(self, *_: object) -> list[Hit]:
        return []

    def _choose(self, containing: Mapping[str, int], terms: QueryTerms, memories: int) -> dict[str, float]:
        return {
            term: idf(memories, count)
            for term, count in containing.items()
            if term in terms.identifiers or is_rare(memories, count)
        }

    def _points(self, weight: float, tf: float, damping: float) -> float:  # noqa: ARG002
        return weight


def _without(exclude: frozenset[str], hits: list[Hit]) -> list[Hit]:
    return [hit for hit in hits if hit.ref.id not in exclude]
