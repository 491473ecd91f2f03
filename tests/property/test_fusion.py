"""Fusion, whatever the legs bring."""

import math
from collections.abc import Callable
from dataclasses import replace

from hypothesis import assume, example, given
from hypothesis import strategies as st

from making import make_answer
from recollect.core.fusion import Normaliser, convex, reciprocal_rank
from recollect.core.hits import Hit, LegAnswer, Ref, Scored

LEGS = ("lexical", "exact", "dense")
LARGE = 1.7e308
Fuse = Callable[[list[LegAnswer], dict[str, float]], tuple[Scored, ...]]


def _convex_by(normaliser: Normaliser) -> Fuse:
    return lambda answers, weights: convex(answers, weights, normaliser)


FUSIONS: dict[str, Fuse] = {
    "reciprocal-rank": reciprocal_rank,
    "theoretical-minimum": _convex_by("theoretical-minimum"),
    "min-max": _convex_by("min-max"),
}
fusions = st.sampled_from(sorted(FUSIONS)).map(FUSIONS.__getitem__)
normalisers: st.SearchStrategy[Normaliser] = st.sampled_from(("min-max", "theoretical-minimum"))
scores = st.floats(-LARGE, LARGE)
weight = st.just(0.0) | st.floats(1e-300, 5)


@st.composite
def answers(draw: st.DrawFn, leg: str = "lexical", values: st.SearchStrategy[float] = scores) -> LegAnswer:
    """Give one leg's answer: each memory once, best first."""
    found = draw(st.dictionaries(st.integers(1, 12), values, max_size=8))
    best_first = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    lowest = min(found.values(), default=0.0)
    least = draw(st.sampled_from([lowest, min(lowest, 0.0), -LARGE]))
    return make_answer(leg, dict(best_first), least=least)


several = st.tuples(*(answers(leg) for leg in LEGS)).map(list)
weights = st.fixed_dictionaries(dict.fromkeys(LEGS, weight)).filter(lambda each: any(each.values()))


@given(fusions, several, weights, st.permutations(range(3)))
def test_the_order_of_the_legs_does_not_matter(
    fuse: Fuse, legs: list[LegAnswer], by: dict[str, float], order: list[int]
) -> None:
    """Legs asked in another order give the same list to the last digit."""
    assert fuse(legs, by) == fuse([legs[n] for n in order], by)


@given(fusions, several, weights)
@example(FUSIONS["min-max"], [make_answer("lexical", {1: 2.0, 2: 1.0})], {"lexical": 5e-324})
@example(FUSIONS["theoretical-minimum"], [make_answer("lexical", {1: 2.0, 2: 1.0})], {"lexical": 1e-310})
@example(FUSIONS["min-max"], [make_answer("lexical", {1: LARGE, 2: 0.0, 3: -LARGE})], {"lexical": 5.0})
def test_scores_are_finite_ordered_and_bounded(fuse: Fuse, legs: list[LegAnswer], by: dict[str, float]) -> None:
    """Every memory comes once, with a number from 0 to the most its legs could give, best first."""
    fused = fuse(legs, by)
    assert all(math.isfinite(item.score) for item in fused)
    most = sum(by.values()) / 61 if fuse is reciprocal_rank else 1.0
    assert all(0 <= item.score <= most * (1 + 1e-12) for item in fused)
    assert [item.score for item in fused] == sorted((item.score for item in fused), reverse=True)
    admitted = [hit.ref for leg in legs if by[leg.leg] for hit in leg.hits]
    assert sorted(item.ref for item in fused) == sorted(set(admitted))


@given(fusions, answers(), weight.filter(bool))
@example(FUSIONS["theoretical-minimum"], make_answer("lexical", {1: LARGE, 2: 1.0, 3: 0.0}, least=-LARGE), 1.0)
@example(FUSIONS["min-max"], make_answer("lexical", {9: 1e-320, 8: 5e-324, 7: 0.0}), 5e-324)
@example(FUSIONS["min-max"], make_answer("lexical", {9: 1.0000000000000002, 1: 1.0}), 3.0)
def test_one_leg_keeps_its_order(fuse: Fuse, leg: LegAnswer, of: float) -> None:
    """Fusing a single leg gives its list in its order exactly, however extreme its numbers."""
    assert [item.ref for item in fuse([leg], {"lexical": of})] == [hit.ref for hit in leg.hits]


@given(fusions, several, weights, st.sampled_from(LEGS))
def test_an_absent_leg_counts_zero(fuse: Fuse, legs: list[LegAnswer], by: dict[str, float], absent: str) -> None:
    """A leg without hits leaves the order and the ratio of scores as they are without it."""
    assume(any(by[leg] for leg in LEGS if leg != absent))
    emptied = [replace(leg, hits=()) if leg.leg == absent else leg for leg in legs]
    without = [leg for leg in legs if leg.leg != absent]
    with_it, apart = fuse(emptied, by), fuse(without, by)
    total, rest = sum(by.values()), sum(by[leg] for leg in LEGS if leg != absent)
    factor = 1.0 if fuse is reciprocal_rank else rest / total
    given_scores = {item.ref: item.score for item in with_it}
    for item in apart:
        assert math.isclose(given_scores[item.ref], item.score * factor, rel_tol=1e-9, abs_tol=1e-300)
    assert given_scores.keys() == {item.ref for item in apart}


@given(fusions, several, weights, st.sampled_from(LEGS))
def test_a_leg_of_weight_zero_admits_nothing(fuse: Fuse, legs: list[LegAnswer], by: dict[str, float], off: str) -> None:
    """A leg that is switched off gives the same list as one that is not there."""
    by = {**by, off: 0.0}
    assume(any(by.values()))
    assert fuse(legs, by) == fuse([leg for leg in legs if leg.leg != off], by)


@given(several, weights, st.sampled_from(LEGS), st.integers(0, 7))
def test_a_better_rank_never_lowers_a_score(legs: list[LegAnswer], by: dict[str, float], leg: str, place: int) -> None:
    """Under reciprocal rank, a memory that moves up in one leg scores no less than before."""
    chosen = next(each for each in legs if each.leg == leg)
    assume(len(chosen.hits) > 1)
    place = 1 + place % (len(chosen.hits) - 1)
    hits = list(chosen.hits)
    moved = hits[place].ref
    hits[place - 1], hits[place] = hits[place], hits[place - 1]
    better = [replace(each, hits=tuple(hits)) if each.leg == leg else each for each in legs]
    assert _score(reciprocal_rank(better, by), moved) >= _score(reciprocal_rank(legs, by), moved)


@given(several, weights, st.sampled_from(LEGS), st.integers(0, 7), scores, normalisers)
def test_a_better_raw_score_never_lowers_a_score(  # noqa: PLR0917 - Hypothesis hands them over in this order
    legs: list[LegAnswer], by: dict[str, float], leg: str, place: int, better: float, normaliser: Normaliser
) -> None:
    """Under either normaliser, a memory that one leg scores higher has no lower score than before."""
    chosen = next(each for each in legs if each.leg == leg)
    assume(chosen.hits)
    hit = chosen.hits[place % len(chosen.hits)]
    raised = [Hit(hit.ref, max(better, hit.score), 1.0), *(each for each in chosen.hits if each is not hit)]
    raised.sort(key=lambda each: -each.score)
    changed = [replace(each, hits=tuple(raised)) if each.leg == leg else each for each in legs]
    before = _score(convex(legs, by, normaliser), hit.ref)
    assert _score(convex(changed, by, normaliser), hit.ref) >= before


@given(fusions, answers(), weight.filter(bool))
def test_a_memory_found_by_two_legs_is_not_behind_itself_found_by_one(fuse: Fuse, leg: LegAnswer, of: float) -> None:
    """A second leg that agrees leaves the order of the first as it is."""
    again = replace(leg, leg="exact")
    by = {"lexical": of, "exact": of}
    assert [item.ref for item in fuse([leg, again], by)] == [hit.ref for hit in leg.hits]


def _score(fused: tuple[Scored, ...], ref: Ref) -> float:
    return next((item.score for item in fused if item.ref == ref), 0.0)
