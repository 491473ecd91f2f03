"""Score flows from the best to what shares something with them; expectations are computed by hand."""

import math
from collections.abc import Mapping, Sequence
from random import Random

import pytest

from making import about, ref_of
from recollect.core.hits import Ref, Scored
from recollect.core.spread import MOST_TIES, TIE_KINDS, Limits, Tie, TieKind, Way, limits_of, rarest, spread

EVEN: dict[TieKind, float] = dict.fromkeys(TIE_KINDS, 1.0)
RANKING = tuple(Scored(ref_of(number), score) for number, score in ((1, 1.0), (2, 0.5), (3, 0.4)))


def tie(name: str, *members: int, kind: TieKind = "names") -> Tie:
    return Tie(kind, name, tuple(map(ref_of, members)))


def ties_of(ties: Mapping[int, Sequence[Tie]]) -> dict[Ref, Sequence[Tie]]:
    return {ref_of(number): each for number, each in ties.items()}


def order_of(ranking: Sequence[Scored]) -> list[Ref]:
    return [item.ref for item in ranking]


@pytest.mark.parametrize(
    ("weights", "strength"),
    [(EVEN, 0.0), (dict.fromkeys(TIE_KINDS, 0.0), 0.5), ({**EVEN, "names": 0.0}, 0.5)],
)
def test_without_weight_or_strength_nothing_changes(weights: dict[TieKind, float], strength: float) -> None:
    """Switched off as a whole or for the kind of tie there is, the ranking that comes out is the one that went in."""
    flow = spread(RANKING, ties_of({1: [tie("Rex", 1, 3)]}), weights, strength)
    assert (flow.ranking, flow.ways) == (RANKING, {})


@pytest.mark.parametrize("ranking", [(), RANKING])
def test_without_ties_nothing_changes(ranking: tuple[Scored, ...]) -> None:
    """Where nothing is shared, or nothing was found, there is nothing to do."""
    assert spread(ranking, {}, EVEN, 0.5).ranking == ranking
    assert spread(ranking, ties_of({1: [tie("alone", 1)]}), EVEN, 0.5).ranking == ranking


def test_how_score_flows() -> None:
    """The best two hand on half a unit each; a tie divides its part among all who share it, and the root is added."""
    flow = spread(RANKING, ties_of({1: [tie("Rex", 1, 3), tie("Huyton", 1, 3, 4, 5)]}), EVEN, 0.5)
    by_rex, by_huyton = 1 / 2 / 2 / 2, 1 / 2 / 2 / 4
    assert flow.ways[ref_of(3)] == (
        Way(ref_of(1), "names", "Rex", about(by_rex)),
        Way(ref_of(1), "names", "Huyton", about(by_huyton)),
    )
    scores = {item.ref: item.score for item in flow.ranking}
    assert scores == {
        ref_of(1): about(1.0 + 0.5 * math.sqrt(by_rex + by_huyton)),
        ref_of(2): 0.5,
        ref_of(3): about(0.4 + 0.5 * math.sqrt(by_rex + by_huyton)),
        ref_of(4): about(0.4 + 0.5 * math.sqrt(by_huyton)),
        ref_of(5): about(0.4 + 0.5 * math.sqrt(by_huyton)),
    }


def test_kinds_weigh_as_they_are_told_to() -> None:
    """A seed's part is divided among its ties by the weights of their kinds."""
    weights: dict[TieKind, float] = {**EVEN, "names": 3.0, "terms": 1.0}
    ties = [tie("Rex", 1, 2), tie("rex", 1, 2, kind="terms")]
    ways = spread(RANKING[:1], ties_of({1: ties}), weights, 0.5).ways[ref_of(2)]
    assert [(way.kind, way.amount) for way in ways] == [("names", about(3 / 4 / 2)), ("terms", about(1 / 4 / 2))]


def test_the_first_stays_first() -> None:
    """What answers the question itself is not overtaken, however much flows to what it leads to."""
    close = (Scored(ref_of(9), 0.50), Scored(ref_of(1), 0.49))
    ties = ties_of({9: [tie("Rex", 9, 1)], 1: [tie("Rex", 9, 1), tie("Huyton", 1, 2)]})
    flow = spread(close, ties, EVEN, 5.0)
    assert order_of(flow.ranking)[0] == ref_of(9)
    assert flow.ranking[0].score == max(item.score for item in flow.ranking)


def test_a_memory_that_no_leg_found_enters() -> None:
    """One that shares a rare name with the best comes to stand before what the legs found."""
    flow = spread(RANKING, ties_of({1: [tie("Huyton", 1, 7)]}), EVEN, 0.5)
    assert order_of(flow.ranking) == [ref_of(1), ref_of(7), ref_of(2), ref_of(3)]


def test_score_flows_from_the_best_two_alone() -> None:
    """Ties of what stands further down carry nothing."""
    assert spread(RANKING, ties_of({3: [tie("Huyton", 3, 7)]}), EVEN, 0.5).ranking == RANKING


def test_only_the_rarest_ties_carry() -> None:
    """Of many ties of a memory those that fewest share count; one more that many share changes nothing."""
    rare = [tie(f"rare {number:02}", 1, 10 + number) for number in range(MOST_TIES)]
    common = tie("common", 1, 100, 101)
    assert rarest([common, *reversed(rare)]) == rare
    assert spread(RANKING, ties_of({1: [common, *rare]}), EVEN, 0.5) == spread(RANKING, ties_of({1: rare}), EVEN, 0.5)


def test_the_order_of_ties_makes_no_difference() -> None:
    """Stores may give ties in any order: ranking and ways come out the same."""
    generator = Random(5)
    ties = {
        seed: [tie(f"name {n}", seed, *(generator.randrange(3, 40) for _ in range(n % 5 + 1))) for n in range(30)]
        for seed in (1, 2)
    }
    expected = spread(RANKING, ties_of(ties), EVEN, 0.5)
    for _ in range(20):
        for each in ties.values():
            generator.shuffle(each)
        assert spread(RANKING, ties_of(ties), EVEN, 0.5) == expected


def test_ways_add_up() -> None:
    """All that flows is a unit, and what a memory is given above what it had is the root of what came to it."""
    ties = ties_of({1: [tie("Rex", 1, 3), tie("see-also", 1, 8, kind="links")], 2: [tie("Huyton", 2, 3, 9)]})
    flow = spread(RANKING, ties, EVEN, 0.5)
    assert math.fsum(way.amount for ways in flow.ways.values() for way in ways) == about(1.0)
    assert {way.source for way in flow.ways[ref_of(3)]} == {ref_of(1), ref_of(2)}
    scores = {item.ref: item.score for item in flow.ranking}
    for ref in (ref_of(8), ref_of(9)):
        came = math.fsum(way.amount for way in flow.ways[ref])
        assert scores[ref] == about(0.4 + 0.5 * math.sqrt(came))


def test_ties_of_equal_score_stand_by_id() -> None:
    """What got the same stands in the order of ids, the same on every store."""
    flow = spread(RANKING[:1], ties_of({1: [tie("Rex", 6, 1, 5, 4)]}), EVEN, 0.5)
    assert order_of(flow.ranking) == [ref_of(number) for number in (1, 4, 5, 6)]


@pytest.mark.parametrize(
    ("memories", "limits"),
    [(0, Limits(10, 3)), (100, Limits(14, 3)), (20_000, Limits(198, 21)), (10_000_000, Limits(200, 50))],
)
def test_how_common_a_tie_may_be_follows_the_space(memories: int, limits: Limits) -> None:
    """The limits grow slower than the space, never below what a handful of memories need, nor beyond a bound."""
    assert limits_of(memories) == limits
