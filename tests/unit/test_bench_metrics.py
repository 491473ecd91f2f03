"""Measures come out as computed by hand."""

from math import log2

import pytest

from making import about
from recollect.bench.metrics import ALL_GOLD, NDCG, NEWEST, RECALL_5, RECALL_10, RECIPROCAL, measure
from recollect.bench.sources import Question
from recollect.bench.strata import MULTI_HOP


def _question(relevant: dict[str, int], *, stale: tuple[str, ...] = (), hops: int = 1, stratum: str = "x") -> Question:
    return Question("q", "?", "space", stratum, relevant, stale=frozenset(stale), hops=hops)


def _measure(question: Question, *found: str) -> dict[str, float]:
    return measure([question], {"q": found})["q"]


def test_ndcg_takes_the_grade_itself_as_gain() -> None:
    """A grade of 2 at rank 2 and of 1 at rank 3, with one of 1 missing: (2/log2 3 + 1/2) / (2 + 1/log2 3 + 1/2)."""
    found = _measure(_question({"a": 2, "b": 1, "c": 1}), "z", "a", "b")
    assert found[NDCG] == about((2 / log2(3) + 1 / 2) / (2 + 1 / log2(3) + 1 / 2))


def test_recall_counts_what_is_in_the_first_five_and_ten() -> None:
    """Of four relevant documents one is among the first five and two among the first ten."""
    ranking = ["a", *"vwxyz", "b", *"stu", "c"]
    found = _measure(_question({"a": 1, "b": 3, "c": 1, "d": 1}), *ranking)
    assert (found[RECALL_5], found[RECALL_10]) == (0.25, 0.5)


def test_the_reciprocal_rank_is_of_the_first_relevant_one() -> None:
    """The third place is a third."""
    assert _measure(_question({"a": 1, "b": 1}), "x", "y", "a", "b")[RECIPROCAL] == about(1 / 3)


def test_nothing_found_is_zero_throughout() -> None:
    """A question without an answer takes part in the mean."""
    found = _measure(_question({"a": 1}, stale=("b",), hops=2))
    assert found == dict.fromkeys((RECALL_5, RECALL_10, NDCG, RECIPROCAL, ALL_GOLD, NEWEST), 0.0)


@pytest.mark.parametrize(("found", "expected"), [(("a", "b"), 1.0), (("b", "x", "a"), 1.0), (("a", "x"), 0.0)])
def test_all_gold_wants_every_relevant_document(found: tuple[str, ...], expected: float) -> None:
    """Half of a chain is no answer."""
    assert _measure(_question({"a": 1, "b": 1}, hops=2), *found)[ALL_GOLD] == expected


def test_all_gold_is_for_questions_that_need_several() -> None:
    """By their hops or by their kind, and for no others."""
    assert ALL_GOLD in _measure(_question({"a": 1}, stratum=MULTI_HOP), "a")
    assert ALL_GOLD not in _measure(_question({"a": 1}), "a")


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (("new", "old"), 1.0),
        (("x", "new"), 1.0),
        (("old", "new"), 0.0),
        (("x", "y"), 0.0),
        (("old",), 0.0),
        (("older", "new", "old"), 0.0),
    ],
)
def test_the_newest_must_stand_above_every_stale_one(found: tuple[str, ...], expected: float) -> None:
    """A stale one that is absent counts as below, a relevant one that is absent as failed."""
    assert _measure(_question({"new": 1}, stale=("old", "older")), *found)[NEWEST] == expected


def test_the_newest_is_for_questions_with_something_stale() -> None:
    """Others do not have the measure at all."""
    assert NEWEST not in _measure(_question({"a": 1}), "a")
