"""What is known of a memory before the question: its importance and its age. After `rerank`, before `links`."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from recollect.core.analysis import analyse, analyse_query
from recollect.core.hits import Ref, Scored
from recollect.core.memory import Memory
from recollect.core.query import Sort
from recollect.core.rerank import quotes

NEWEST_AMONG: Final = 20
"""How many of the best are looked through for statements that replace each other."""
_COMMON: Final = 0.5
"""What part of the longer of two statements must be the same."""
_MULTIPLIERS: Final[dict[Sort, tuple[float, float]]] = {"relevance": (0.7, 0.3), "importance": (0.4, 0.6)}
"""What a score has above the weakest x (base + slope x importance): no further leg, it lifts what was found."""
_WORD: Final = re.compile(r"\w+")


def apply_prior(ranking: Sequence[Scored], memories: Mapping[Ref, Memory], sort: Sort) -> tuple[Scored, ...]:
    """Weigh each score by importance, or order by time alone; whatever is equal keeps its order.

    What is weighed is how far a score stands above the weakest candidate's. Fused scores lie close together, and a
    multiplier on them as they are would let importance decide alone (decision 6).
    """
    known = [item for item in ranking if item.ref in memories]
    if sort == "recency":
        return tuple(sorted(known, key=lambda item: memories[item.ref].created_at, reverse=True))
    base, slope = _MULTIPLIERS[sort]
    scores = {item.score for item in known}
    # Among equals there is no weakest: importance alone tells them apart.
    weakest = min(scores) if len(scores) > 1 else 0.0
    weighed = [
        Scored(item.ref, weakest + (item.score - weakest) * (base + slope * memories[item.ref].importance))
        for item in known
    ]
    return tuple(sorted(weighed, key=lambda item: -item.score))


def put_newest_first(ranking: Sequence[Scored], memories: Mapping[Ref, Memory], query: str) -> tuple[Scored, ...]:
    """Put, among the best, a statement before the older ones that say the same but for one thing not asked about."""
    asked = frozenset(analyse_query(query).terms)
    words = {item.ref: _WORD.findall(memories[item.ref].content.lower()) for item in ranking[:NEWEST_AMONG]}
    # Who asks in the older one's very words asks for it.
    quoting = {ref for ref in words if quotes(memories[ref].content, query)}
    ordered: list[Scored] = []
    for item in ranking[:NEWEST_AMONG]:
        made = memories[item.ref].created_at
        for place, other in enumerate(ordered):
            if other.ref in quoting and item.ref not in quoting:
                continue
            if made > memories[other.ref].created_at and _replaces(words[item.ref], words[other.ref], asked):
                ordered.insert(place, Scored(item.ref, other.score))
                break
        else:
            ordered.append(item)
    return (*ordered, *ranking[NEWEST_AMONG:])


def _replaces(one: Sequence[str], other: Sequence[str], asked: frozenset[str]) -> bool:
    """Whether two texts are alike but for one span, and all that they say of what was asked stands in the rest.

    "The capital of Malta is Valletta" and "... is Mdina" are, when the capital of Malta is asked for; not when
    Valletta is.
    """
    longer = max(len(one), len(other))
    shorter = min(len(one), len(other))
    if one == other or shorter < _COMMON * longer or (one[0] != other[0] and one[-1] != other[-1]):
        return False
    start = _common(one, other, shorter)
    end = _common(one[::-1], other[::-1], shorter - start)
    if start + end < _COMMON * longer:
        return False
    shared = asked & _terms([*one[:start], *one[len(one) - end :]])
    differing = _terms(one[start : len(one) - end]) | _terms(other[start : len(other) - end])
    return bool(shared) and not (asked & differing) - shared


def _common(one: Sequence[str], other: Sequence[str], most: int) -> int:
    """Count the words that two texts begin with alike."""
    return next((place for place in range(most) if one[place] != other[place]), most)


def _terms(words: Sequence[str]) -> frozenset[str]:
    return frozenset(analyse(" ".join(words)))
