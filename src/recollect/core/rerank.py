"""Where the query and a memory's text are read together: between `spread` and `prior`.

What holds the query word for word comes first. A cross-encoder, off unless asked for, may order the top anew. The
scores stay where they were, so what follows needs no other scale.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from recollect.core.hits import Ref, Scored
from recollect.core.memory import Memory

SHORTEST_QUOTE: Final = 4
"""Words from which on a query that stands in a text is a quotation and no accident."""
_WORD: Final = re.compile(r"\w+")


def put_quoted_first(ranking: Sequence[Scored], memories: Mapping[Ref, Memory], query: str) -> tuple[Scored, ...]:
    """Move up what holds all words of the query in a row, in the order in which it stood."""
    quoting = [item.ref for item in ranking if item.ref in memories and quotes(memories[item.ref].content, query)]
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


def quotes(text: str, query: str) -> bool:
    """Whether a text has the words of a query in a row, and enough of them to be no accident."""
    text, words = text.lower(), _WORD.findall(query.lower())
    if len(words) < SHORTEST_QUOTE:
        return False
    # Most texts lack the query's longest word, which is quickly seen.
    if max(words, key=len) not in text:
        return False
    # Each between blanks, so that one is not found inside another.
    return f" {' '.join(words)} " in f" {' '.join(_WORD.findall(text))} "
