"""What holds the query word for word comes first; a cross-encoder's opinions order the places they are about."""

import random

import pytest

from making import make_memory, ref_of
from recollect.core.hits import Scored
from recollect.core.rerank import put_quoted_first, rerank

RANKING = tuple(Scored(ref_of(n), 1.0 - n / 10) for n in (1, 2, 3, 4, 5))


def _order(ranking: tuple[Scored, ...]) -> list[int]:
    return [int(item.ref.id[-12:], 16) for item in ranking]


def test_without_opinions_nothing_moves() -> None:
    """No opinion, or one about what is not there, leaves the ranking as it was."""
    assert rerank(RANKING, {}) == RANKING
    assert rerank(RANKING, {ref_of(9): 5.0}) == RANKING
    assert rerank((), {ref_of(1): 1.0}) == ()


def test_those_with_an_opinion_trade_places() -> None:
    """The best liked takes the first of their places; who has no opinion stays where it is."""
    assert _order(rerank(RANKING, {ref_of(1): 0.1, ref_of(3): 0.9, ref_of(4): 0.5})) == [3, 2, 4, 1, 5]


def test_the_scores_stay_in_their_places() -> None:
    """Whoever comes to a place has its score: what follows needs no other scale."""
    reranked = rerank(RANKING, {ref_of(1): -7.0, ref_of(2): 11.0})
    assert [item.score for item in reranked] == [item.score for item in RANKING]
    assert _order(reranked)[:2] == [2, 1]


def test_equal_opinions_keep_the_order() -> None:
    """Where the cross-encoder has no preference, the fused order stands."""
    assert rerank(RANKING, {item.ref: 0.5 for item in RANKING}) == RANKING


def test_nobody_is_lost_or_doubled() -> None:
    """Any opinions about any of them give the same memories, each once."""
    chance = random.Random(3)
    for _ in range(50):
        some = chance.sample(RANKING, chance.randint(0, 5))
        reranked = rerank(RANKING, {item.ref: chance.choice((-1.0, 0.0, 2.5)) for item in some})
        assert sorted(_order(reranked)) == [1, 2, 3, 4, 5]


QUOTED = {
    ref_of(1): make_memory(1, "We deploy on Tuesdays."),
    ref_of(2): make_memory(2, "Never on a Friday: who deploys then works on Saturday."),
    ref_of(3): make_memory(3, "Ana says: never on a Friday, who deploys then works on Saturday!"),
}


@pytest.mark.parametrize(
    ("query", "order"),
    [
        ("who deploys then works", [2, 3, 1, 4, 5]),
        ("WHO DEPLOYS, then works", [2, 3, 1, 4, 5]),
        ("Friday, who deploys then", [2, 3, 1, 4, 5]),
        ("says: never on a", [3, 1, 2, 4, 5]),
        # Three words in a row are no quotation yet; others stand in another order, or inside a longer word.
        ("who deploys then", [1, 2, 3, 4, 5]),
        ("works then deploys who", [1, 2, 3, 4, 5]),
        ("never on a Fri", [1, 2, 3, 4, 5]),
        ("", [1, 2, 3, 4, 5]),
    ],
)
def test_a_quotation_comes_first(query: str, order: list[int]) -> None:
    """What has four words of the query or more, all of them in a row, moves up in the order in which it stood."""
    quoted = put_quoted_first(RANKING, QUOTED, query)
    assert _order(quoted) == order
    assert [item.score for item in quoted] == [item.score for item in RANKING]
