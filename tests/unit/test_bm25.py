import pytest

from making import about
from recollect.core.bm25 import Statistics, idf, is_rare


def test_idf_by_hand() -> None:
    """Lucene's idf: ln(1 + (N - n + 0.5) / (n + 0.5)), above zero even for a term that every memory has."""
    assert idf(10, 1) == about(1.9924301646902063)  # ln(1 + 9.5 / 1.5)
    assert idf(10, 10) == about(0.0465200156348928)  # ln(1 + 0.5 / 10.5)
    assert idf(1, 1) == about(0.2876820724517809)  # ln(4 / 3)


def test_saturation_by_hand() -> None:
    """With k1 1.2 and b 0.75 a memory of average length damps a term's frequency by exactly 1.2."""
    base, slope = Statistics(memories=4, length=40).saturation
    assert (base, slope) == (about(0.3), about(0.09))
    assert base + slope * 10 == about(1.2)


@pytest.mark.parametrize("statistics", [Statistics(0, 0), Statistics(3, 0), Statistics(0, 5)])
def test_an_empty_space_divides_by_nothing(statistics: Statistics) -> None:
    """Without memories or words the average length is taken as 1."""
    assert statistics.saturation == (about(0.3), about(0.9))


def test_what_is_rare() -> None:
    """A term is rare in two memories or fewer, or in three of a thousand."""
    assert is_rare(10, 2)
    assert not is_rare(10, 3)
    assert is_rare(1000, 3)
    assert not is_rare(1000, 4)
