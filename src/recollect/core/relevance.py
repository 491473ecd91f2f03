"""How much speaks for a memory that nobody asked for, on a scale where 1 is enough to bring it up (decision 15).

Raw evidence is read, since fused scores only compare the candidates with each other: the cosine to the prompt, and the
share of the prompt's idf that the memory holds, times the root of how many terms those are: half of ten words is more
than half of two. The scale was set on the tune split of locomo and beam_100k, against prompts about something else.
"""

import math
from collections.abc import Mapping
from typing import Final

ENOUGH_WORDS: Final = 0.65
"""Where words are all there is: seven of ten unrelated prompts stay under it."""
ENOUGH_WORDS_BESIDE_MEANING: Final = 1.2
"""Where meaning was asked too, words alone bring up only what they say clearly, such as an error's code."""
ENOUGH_MEANING: Final = 0.3
"""For all-MiniLM-L6-v2: nine of ten unrelated prompts stay under this cosine."""
PART: Final = 0.4
"""What part of that each memory must have, once one of them has enough."""


def weigh(evidence: Mapping[str, float], terms: int, *, by_meaning: bool) -> float:
    """Say how much speaks for a memory by what the legs found, for a prompt of so many distinct terms."""
    enough = ENOUGH_WORDS_BESIDE_MEANING if by_meaning else ENOUGH_WORDS
    words = evidence.get("lexical", 0.0) * math.sqrt(terms) / enough
    return max(words, evidence.get("dense", 0.0) / ENOUGH_MEANING)
