"""How much speaks for a memory that nobody asked for, computed by hand."""

import pytest

from making import about
from recollect.core.relevance import ENOUGH_MEANING, ENOUGH_WORDS, ENOUGH_WORDS_BESIDE_MEANING, PART, stand, weigh


def test_words_count_against_the_root_of_how_many_there_are() -> None:
    """Two of four words are as much as three of nine, and twice as much as one of four."""
    weights = [weigh(held, asked, None) * ENOUGH_WORDS for held, asked in ((2, 4), (3, 9), (1, 4), (0, 0))]
    assert weights == [about(1.0), about(1.0), about(0.5), 0.0]


def test_beside_meaning_words_must_say_more() -> None:
    """Where meaning was looked at too, the same words weigh less."""
    assert weigh(2, 4, 0.0) == about(1 / ENOUGH_WORDS_BESIDE_MEANING)


def test_the_stronger_of_words_and_meaning_counts() -> None:
    """A memory needs one of the two, not both."""
    assert weigh(0, 3, ENOUGH_MEANING) == about(1.0)
    assert weigh(4, 4, ENOUGH_MEANING / 2) == about(2 / ENOUGH_WORDS_BESIDE_MEANING)


@pytest.mark.parametrize(
    ("weights", "floor", "expected"),
    [
        ([], 1.0, []),
        ([0.9, 0.9], 1.0, [False, False]),
        ([1.0, PART, PART - 0.01], 1.0, [True, True, False]),
        ([0.0, 0.0], 0.0, [True, True]),
        ([1.5, 0.7], 2.0, [False, False]),
        ([2.5, 0.7, 0.9], 2.0, [True, False, True]),
    ],
)
def test_one_must_have_enough_and_each_a_part(weights: list[float], floor: float, expected: list[bool]) -> None:
    """Nothing is brought up unless one memory has enough; then those come along that have a part of it."""
    assert stand(weights, floor) == expected
