from dataclasses import replace

import pytest

from making import about, at, make_memory, ref_of
from recollect.core.hits import Ref, Scored
from recollect.core.memory import Memory
from recollect.core.prior import NEWEST_AMONG, apply_prior, put_newest_first

MEMORIES = {
    ref_of(1): make_memory(1, importance=0.0),
    ref_of(2): make_memory(2, importance=1.0),
    ref_of(3): make_memory(3, importance=0.5),
}
RANKING = [Scored(ref_of(1), 1.0), Scored(ref_of(2), 0.9), Scored(ref_of(3), 0.5)]


def test_relevance_weighs_importance_a_little() -> None:
    """Sorting by relevance multiplies what a score has above the weakest by 0.7 + 0.3 x importance."""
    assert apply_prior(RANKING, MEMORIES, "relevance") == (
        Scored(ref_of(2), about(0.9)),
        Scored(ref_of(1), about(0.5 + 0.5 * 0.7)),
        Scored(ref_of(3), 0.5),
    )


def test_importance_weighs_it_more() -> None:
    """Sorting by importance multiplies it by 0.4 + 0.6 x importance."""
    assert apply_prior(RANKING, MEMORIES, "importance") == (
        Scored(ref_of(2), about(0.9)),
        Scored(ref_of(1), about(0.5 + 0.5 * 0.4)),
        Scored(ref_of(3), 0.5),
    )


def test_importance_tells_equals_apart() -> None:
    """Where all score alike, the important one comes first."""
    tied = [Scored(item.ref, 0.5) for item in RANKING]
    assert [item.ref for item in apply_prior(tied, MEMORIES, "relevance")] == [ref_of(2), ref_of(3), ref_of(1)]


def test_importance_does_not_depend_on_the_scale_of_scores() -> None:
    """Scores that lie close together, as cosines do, leave importance no more to say than others."""
    close = [Scored(item.ref, 0.9 + item.score / 100) for item in RANKING]
    assert apply_prior(close, MEMORIES, "relevance") == tuple(
        Scored(item.ref, about(0.9 + item.score / 100)) for item in apply_prior(RANKING, MEMORIES, "relevance")
    )


def _statements(*texts: str) -> tuple[list[Scored], dict[Ref, Memory]]:
    """Give texts in the order found, each made later than the one before it."""
    memories = {ref_of(n): make_memory(n, content=text, created_at=at(n)) for n, text in enumerate(texts, 1)}
    return [Scored(ref, 1 - n / 100) for n, ref in enumerate(memories)], memories


@pytest.mark.parametrize(
    ("query", "swapped"),
    [
        ("What is the capital of Malta?", True),
        # Then the older one is what was asked about.
        ("Is Valletta the capital of Malta?", False),
        # In its very words, though they are so common that no index has them.
        ("capital of Malta is a", False),
        # Nothing that they share was asked about.
        ("Which city has the best port?", False),
    ],
)
def test_the_newer_of_two_statements_comes_first(query: str, swapped: bool) -> None:
    """Of two texts alike but for one span that was not asked about, the newer takes the older one's place and score."""
    ranking, memories = _statements(
        "The capital of Malta is a city, Valletta.", "The capital of Malta is the city Mdina."
    )
    ordered = put_newest_first(ranking, memories, query)
    assert [item.ref for item in ordered] == [ref_of(2), ref_of(1)] if swapped else [ref_of(1), ref_of(2)]
    assert [item.score for item in ordered] == ([1.0, 1.0] if swapped else [1.0, 0.99])


def test_what_merely_begins_alike_is_left_alone() -> None:
    """Two texts that share less than half of their words are two things worth knowing."""
    ranking, memories = _statements("Malta is an island.", "Malta is known for its harbours, its sun and its knights.")
    assert put_newest_first(ranking, memories, "Malta") == tuple(ranking)


def test_a_newer_statement_stays_where_it_is_already_first() -> None:
    """Nothing moves when the newest is the best, and what was made at the same moment replaces nothing."""
    ranking, memories = _statements("The capital of Malta is Valletta.", "The capital of Malta is Mdina.")
    assert put_newest_first(ranking[::-1], memories, "capital of Malta") == tuple(ranking[::-1])
    same = {ref: replace(memory, created_at=at(0)) for ref, memory in memories.items()}
    assert put_newest_first(ranking, same, "capital of Malta") == tuple(ranking)


def test_only_the_best_are_looked_through() -> None:
    """A replacement far down stays there: it was found by accident."""
    texts = ["The capital of Malta is Valletta.", *(f"Number {n} is something else." for n in range(NEWEST_AMONG))]
    ranking, memories = _statements(*texts, "The capital of Malta is Mdina.")
    assert put_newest_first(ranking, memories, "capital of Malta") == tuple(ranking)


def test_recency_goes_by_time_alone() -> None:
    """Sorting by recency puts the newest first and leaves the scores as they are."""
    assert apply_prior(RANKING, MEMORIES, "recency") == (RANKING[2], RANKING[1], RANKING[0])


def test_equals_keep_their_order() -> None:
    """Memories of equal score, or of the same time, stay as they came."""
    same = {ref_of(n): make_memory(n, created_at=at(0)) for n in (1, 2, 3)}
    tied = [Scored(ref_of(n), 0.5) for n in (3, 1, 2)]
    for sort in ("relevance", "importance", "recency"):
        assert [item.ref for item in apply_prior(tied, same, sort)] == [ref_of(3), ref_of(1), ref_of(2)]


def test_what_is_gone_is_dropped() -> None:
    """A memory that was found and purged meanwhile is not ranked."""
    assert [item.ref for item in apply_prior(RANKING, {ref_of(3): MEMORIES[ref_of(3)]}, "relevance")] == [ref_of(3)]
