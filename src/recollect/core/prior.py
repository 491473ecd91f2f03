"""What is known of a memory before the question: its importance and its age. After `rerank`, before `links`."""

from collections.abc import Mapping, Sequence
from typing import Final

from recollect.core.hits import Ref, Scored
from recollect.core.memory import Memory
from recollect.core.query import Sort

_MULTIPLIERS: Final[dict[Sort, tuple[float, float]]] = {"relevance": (0.7, 0.3), "importance": (0.4, 0.6)}
"""Score x (base + slope x importance). Importance is a prior, not a further leg: it lifts what was found."""


def apply_prior(ranking: Sequence[Scored], memories: Mapping[Ref, Memory], sort: Sort) -> tuple[Scored, ...]:
    """Weigh each score by importance, or order by time alone; whatever is equal keeps its order."""
    known = [item for item in ranking if item.ref in memories]
    if sort == "recency":
        return tuple(sorted(known, key=lambda item: memories[item.ref].created_at, reverse=True))
    base, slope = _MULTIPLIERS[sort]
    weighed = [Scored(item.ref, item.score * (base + slope * memories[item.ref].importance)) for item in known]
    return tuple(sorted(weighed, key=lambda item: -item.score))
