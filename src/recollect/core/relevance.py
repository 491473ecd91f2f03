"""How much speaks for a memory that nobody asked for, on a scale where 1 is enough to bring it up (decision 15).

Raw evidence is read, since fused scores only compare the candidates with each other: how far the cosine stands above
what is ordinary, and how many of the prompt's telling words the memory holds, against the root of how many there are.
Neither depends on the model or on the size of the store. The scale was set on the tune
split of locomo and beam_100k, against prompts about something else.
"""

import math
from collections.abc import Sequence
from typing import Final

ENOUGH_WORDS: Final = 0.85
"""Where words are all there is: two of five, three of nine."""
ENOUGH_WORDS_BESIDE_MEANING: Final = 1.5
"""Where meaning was asked too, words alone bring up only what they say clearly."""
ENOUGH_MEANING: Final = 0.25
"""More than eight of ten unrelated prompts stay under it, with either of two models."""
PART: Final = 0.4
"""What part of that each memory must have, once one of them has enough."""


def weigh(held: int, asked: int, meaning: float | None) -> float:
    """Say how much speaks for a memory that holds so many of the words asked for; `None`: meaning was not looked at."""
    words = held / math.sqrt(asked) if asked else 0.0
    if meaning is None:
        return words / ENOUGH_WORDS
    return max(words / ENOUGH_WORDS_BESIDE_MEANING, meaning / ENOUGH_MEANING)


def stand(weights: Sequence[float], floor: float) -> list[bool]:
    """Say which of several memories are worth bringing up: those with a part of enough, if one of them has enough."""
    speaks = bool(weights) and max(weights) >= floor
    return [speaks and weight >= floor * PART for weight in weights]
