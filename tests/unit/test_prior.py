from making import about, at, make_memory, ref_of
from recollect.core.hits import Scored
from recollect.core.prior import apply_prior

MEMORIES = {
    ref_of(1): make_memory(1, importance=0.0),
    ref_of(2): make_memory(2, importance=1.0),
    ref_of(3): make_memory(3, importance=0.5),
}
RANKING = [Scored(ref_of(1), 1.0), Scored(ref_of(2), 0.9), Scored(ref_of(3), 0.5)]


def test_relevance_weighs_importance_a_little() -> None:
    """Sorting by relevance multiplies by 0.7 + 0.3 x importance."""
    assert apply_prior(RANKING, MEMORIES, "relevance") == (
        Scored(ref_of(2), about(0.9)),
        Scored(ref_of(1), about(0.7)),
        Scored(ref_of(3), about(0.5 * 0.85)),
    )


def test_importance_weighs_it_more() -> None:
    """Sorting by importance multiplies by 0.4 + 0.6 x importance."""
    assert apply_prior(RANKING, MEMORIES, "importance") == (
        Scored(ref_of(2), about(0.9)),
        Scored(ref_of(1), about(0.4)),
        Scored(ref_of(3), about(0.5 * 0.7)),
    )


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
