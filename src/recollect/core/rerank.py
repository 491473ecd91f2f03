"""Where the query and a memory's text are read together: between `spread` and `prior`.

What holds the query word for word comes first. A cross-encoder, off unless asked for, may order the top anew. The
scores stay where they were, so what follows needs no other scale.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from recollect.core.hits import Ref, Scored
from recollect.core.memory import Memory
from recollect.values import value

SHORTEST_QUOTE: Final = 4
"""Words from which on a query that stands in a text is a quotation and no accident."""
_WORD: Final = re.compile(r"\w+")


def put_quoted_first(ranking: Sequence[Scored], memories: Mapping[Ref, Memory], query: str) -> tuple[Scored, ...]:
    """Move up what holds all words of the query in a row, in the order in which it stood."""
    quoted = read_quote(query)
    if quoted is None:
        return tuple(ranking)
    quoting = [item.ref for item in ranking if item.ref in memories and quoted.stands_in(memories[item.ref].content)]
    if not quoting:
        return tuple(ranking)
    ahead = set(quoting)
    order = (*quoting, *(item.ref for item in ranking if item.ref not in ahead))
    return tuple(Scored(ref, item.score) for ref, item in zip(order, ranking, strict=True))


def rerank(ranking: Sequence[Scored], opinions: Mapping[Ref, float]) -> tuple[Scored, ...]:
    """Order those that have an opinion by it, among the places that they hold; all others stay in theirs."""
    places = [place for place, item in enumerate(ranking) if item.ref in opinions]
    best = sorted((ranking[place].ref for place in places), key=lambda ref: -opinions[ref])
    ordered = list(ranking)
    for place, ref in zip(places, best, strict=True):
        ordered[place] = Scored(ref, ranking[place].score)
    return tuple(ordered)


@value
class Quote:
    """The words of a query, to be looked for in a row."""

    row: str
    telling: str
    """The longest of them: most texts lack it, which is quickly seen."""

    def stands_in(self, text: str) -> bool:
        text = text.lower()
        # Each between blanks, so that one is not found inside another.
        return self.telling in text and self.row in f" {' '.join(_WORD.findall(text))} "


def read_quote(query: str) -> Quote | None:
    """Read a query as a quotation; of too few words it would be an accident."""
    words = _WORD.findall(query.lower())
    return Quote(f" {' '.join(words)} ", max(words, key=len)) if len(words) >= SHORTEST_QUOTE else None


def quotes(text: str, query: str) -> bool:
    """Whether a text has the words of a query in a row, and enough of them to be no accident."""
    quoted = read_quote(query)
    return quoted is not None and quoted.stands_in(text)
