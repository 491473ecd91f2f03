from making import ref_of
from recollect.core.hits import Hit, merge_hits, scale


def test_merging_goes_by_raw_score_then_by_id() -> None:
    """Hits of several spaces stand by score; equal ones by id, whichever space came first; then the list is cut."""
    mine = [Hit(ref_of(1, "mine"), 3.0, 1.0), Hit(ref_of(4, "mine"), 1.0, 1.0)]
    ours = [Hit(ref_of(3, "ours"), 5.0, 1.0), Hit(ref_of(2, "ours"), 1.0, 1.0)]
    merged = [hit.ref for hit in merge_hits([mine, ours], 3)]
    assert merged == [ref_of(3, "ours"), ref_of(1, "mine"), ref_of(2, "ours")]
    assert merge_hits([ours, mine], 3) == merge_hits([mine, ours], 3)


def test_the_same_id_in_two_spaces_is_two_memories() -> None:
    """Merging tells memories apart by space, and orders equal ones by it."""
    both = [[Hit(ref_of(1, "b"), 1.0, 1.0)], [Hit(ref_of(1, "a"), 1.0, 1.0)]]
    assert [hit.ref.space for hit in merge_hits(both, 10)] == ["a", "b"]


def test_scale_places_a_value_between_two_others() -> None:
    """A value is placed from 0 to 1, held inside these bounds, and at the top where the bounds coincide."""
    assert [scale(value, 2, 6) for value in (1, 2, 3, 6, 7)] == [0, 0, 0.25, 1, 1]
    assert scale(3, 3, 3) == 1
    assert scale(2, 3, 3) == 0


def test_scale_survives_a_span_that_is_no_number() -> None:
    """Bounds so far apart that their distance overflows still give the best value 1, and none more."""
    assert [scale(value, -1e308, 1e308) for value in (1e308, 0.0, -1e308)] == [1, 0, 0]
