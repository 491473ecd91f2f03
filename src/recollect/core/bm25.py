"""The words' score: BM25 (Robertson and Zaragoza 2009), with the idf that never goes negative (Lucene's).

The sums run in SQL, next to the postings; the formula's constants and the idf are here, so that every store
scores alike.
"""

import math
from typing import Final

from recollect.values import value

K1: Final = 1.2
B: Final = 0.75


@value
class Statistics:
    """How many memories a space has, and how many weighted terms they have together."""

    memories: int
    length: float

    @property
    def saturation(self) -> tuple[float, float]:
        """Give `base` and `slope` so that a term scores idf * tf * (K1 + 1) / (tf + base + slope * length)."""
        average = self.length / self.memories if self.memories and self.length else 1.0
        return K1 * (1 - B), K1 * B / average


def idf(memories: int, containing: int) -> float:
    return math.log(1 + (memories - containing + 0.5) / (containing + 0.5))


def is_rare(memories: int, containing: int) -> bool:
    """Whether a term is rare enough that its presence alone is telling: in 0.3 % of memories, or in two."""
    return containing <= max(2, 0.003 * memories)
