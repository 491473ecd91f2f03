"""Vectors as they are kept: of length 1, in halves."""

import math
import random

import pytest

from making import about
from recollect.core.errors import EmbedderError
from recollect.core.vectors import mean, pack, to_unit, unpack


def test_a_vector_is_brought_to_length_one() -> None:
    """Direction stays, length becomes 1."""
    assert to_unit([3, 4]) == [about(0.6), about(0.8)]
    assert to_unit([0.0, -2.0]) == [0.0, -1.0]


@pytest.mark.parametrize("vector", [[], [0.0, 0.0], [math.nan, 1.0], [math.inf, 1.0], [-math.inf, 0.0]])
def test_what_has_no_direction_is_refused(vector: list[float]) -> None:
    """Zeros, infinities and what is no number say nothing, and the message says what to do."""
    with pytest.raises(EmbedderError, match="no direction: try another model"):
        to_unit(vector)


def test_the_mean_lies_between() -> None:
    """Each vector counts alike, whatever its length; one alone is its own mean."""
    half = math.sqrt(0.5)
    assert mean([[5.0, 0.0], [0.0, 0.1]]) == [about(half), about(half)]
    assert mean([[3.0, 4.0]]) == [about(0.6), about(0.8)]


def test_vectors_of_different_lengths_have_no_mean() -> None:
    """Nothing is cut off to make them fit."""
    with pytest.raises(ValueError, match="shorter"):
        mean([[1.0, 0.0], [1.0]])


def test_opposites_have_no_direction_between_them() -> None:
    """Two that cancel out are refused, as any vector without direction."""
    with pytest.raises(EmbedderError):
        mean([[1.0, 0.0], [-1.0, 0.0]])


def test_halves_come_back_as_they_went() -> None:
    """Two bytes a number, the least significant first; what a half can hold is kept exactly."""
    assert pack([1.0, -0.5]) == bytes([0x00, 0x3C, 0x00, 0xB8])
    assert unpack(pack([1.0, -0.5, 0.25, 0.0])) == (1.0, -0.5, 0.25, 0.0)
    assert unpack(b"") == ()


def test_halves_change_a_cosine_by_little() -> None:
    """What rounding costs is far below what tells two memories apart."""
    chance = random.Random(7)
    vector = to_unit([chance.gauss(0, 1) for _ in range(384)])
    kept = unpack(pack(vector))
    assert math.fsum(a * b for a, b in zip(vector, kept, strict=True)) == about(1.0, 2e-4)
