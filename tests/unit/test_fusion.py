"""Fusion by hand: small lists, numbers worked out on paper."""

import pytest

from making import about, make_answer, ref_of
from recollect.core.errors import BadQuery
from recollect.core.fusion import check_weights, convex, reciprocal_rank
from recollect.core.hits import LegAnswer, Scored

WORDS = make_answer("lexical", {1: 6.0, 2: 3.0})
RARE = make_answer("exact", {2: 4.0, 3: 2.0})


def test_reciprocal_rank_adds_up_weight_over_sixty_plus_rank() -> None:
    """The second of one leg and first of the other has 1/62 + 1/61; the others have one share each."""
    fused = reciprocal_rank([WORDS, RARE], {"lexical": 1, "exact": 1})
    assert fused == (
        Scored(ref_of(2), about(1 / 62 + 1 / 61)),
        Scored(ref_of(1), about(1 / 61)),
        Scored(ref_of(3), about(1 / 62)),
    )


def test_reciprocal_rank_multiplies_by_weights() -> None:
    """A leg of weight 3 counts three times."""
    fused = {item.ref: item.score for item in reciprocal_rank([WORDS, RARE], {"lexical": 3, "exact": 0.5})}
    assert fused[ref_of(1)] == about(3 / 61)
    assert fused[ref_of(2)] == about(3 / 62 + 0.5 / 61)


def test_convex_by_theoretical_minimum() -> None:
    """Scores are divided by the leg's best from the least it could give, and the weights brought to 1."""
    fused = convex([WORDS, RARE], {"lexical": 3, "exact": 1})
    # 1: 3/4 x 1; 2: 3/4 x 3/6 + 1/4 x 1; 3: 1/4 x 2/4.
    assert [(item.ref, item.score) for item in fused] == [
        (ref_of(1), about(0.75)),
        (ref_of(2), about(0.625)),
        (ref_of(3), about(0.125)),
    ]


def test_convex_by_min_max() -> None:
    """The lowest hit of a leg is worth nothing under min-max, and still admitted."""
    fused = convex([WORDS, RARE], {"lexical": 1, "exact": 1}, "min-max")
    assert [(item.ref, item.score) for item in fused] == [(ref_of(1), 0.5), (ref_of(2), 0.5), (ref_of(3), 0.0)]


def test_convex_counts_from_the_least_a_leg_could_give() -> None:
    """A cosine of 0 stands in the middle between -1 and the best."""
    dense = make_answer("dense", {1: 1.0, 2: 0.0}, least=-1.0)
    assert [item.score for item in convex([dense], {"dense": 2})] == [1.0, 0.5]


def test_ties_stand_by_best_rank_then_by_reference() -> None:
    """Equal scores are ordered by the best rank any leg gave, then by id."""
    one = make_answer("lexical", {5: 1.0, 4: 1.0})
    other = make_answer("exact", {4: 1.0, 5: 1.0})
    assert [item.ref for item in convex([one, other], {"lexical": 1, "exact": 1})] == [ref_of(4), ref_of(5)]
    assert [item.ref for item in convex([one], {"lexical": 1})] == [ref_of(5), ref_of(4)]


@pytest.mark.parametrize("fuse", [reciprocal_rank, convex])
def test_a_leg_of_weight_zero_adds_and_admits_nothing(fuse: type[object]) -> None:
    """What only a weightless leg found is not in the list, and the rest is scored as without it."""
    weights = {"lexical": 1.0, "exact": 0.0}
    assert fuse([WORDS, RARE], weights) == fuse([WORDS], weights)  # type: ignore[call-arg]


def test_tiny_weights_are_weights() -> None:
    """However small the weight of the only leg, its best hit is worth 1."""
    for weight in (1e-300, 1e-310, 5e-324):
        scores = [item.score for item in convex([WORDS], {"lexical": weight})]
        assert scores == [about(1.0), about(0.5)]


def test_nothing_fused_is_nothing() -> None:
    """Legs without hits give an empty list."""
    assert reciprocal_rank([LegAnswer("lexical")], {"lexical": 1}) == ()
    assert convex([LegAnswer("lexical")], {"lexical": 1}) == ()
    assert convex([], {"lexical": 1}) == ()


def test_all_weights_zero_is_an_error_that_says_so() -> None:
    """Fusing with nothing but zeros is refused, with what to do."""
    with pytest.raises(BadQuery, match=r"Every leg has weight 0.*give at least one"):
        convex([WORDS], {"lexical": 0, "exact": 1})
    with pytest.raises(BadQuery, match="Every leg has weight 0"):
        check_weights({})


@pytest.mark.parametrize("weight", [-0.1, 5.01, float("nan"), float("inf")])
def test_weights_outside_zero_to_five_are_refused(weight: float) -> None:
    """A weight is a number from 0 to 5, and the message names the leg."""
    with pytest.raises(BadQuery, match="weight of lexical is a number from 0 to 5"):
        check_weights({"lexical": weight, "exact": 1})
    check_weights({"lexical": 5, "exact": 0})
