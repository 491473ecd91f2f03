"""Several legs in, one scored list out: the step after `context` and before `spread`.

Each function is pure and independent of the order of the legs. A leg of weight 0 adds nothing and admits
nothing. Equal scores stand in the order of their best rank, then by
reference, so fusing a single leg keeps its order exactly.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

from recollect.core.errors import BadQuery
from recollect.core.hits import LegAnswer, Ref, Scored, scale

RRF_K: Final = 60
"""The constant of the paper."""
LARGEST_WEIGHT: Final = 5.0

Normaliser = Literal["min-max", "theoretical-minimum"]


def reciprocal_rank(answers: Sequence[LegAnswer], weights: Mapping[str, float], k: float = RRF_K) -> tuple[Scored, ...]:
    """Add up weight / (k + rank), ranks from 1.

    Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning
    Methods", SIGIR 2009. Two legs of weight 1 that rank a memory 1st and 3rd give 1/61 + 1/63 at k = 60.
    """
    return _fuse(answers, _weights_of(answers, weights), lambda _answer, rank, _score: 1 / (k + rank))


def convex(
    answers: Sequence[LegAnswer],
    weights: Mapping[str, float],
    normaliser: Normaliser = "theoretical-minimum",
) -> tuple[Scored, ...]:
    """Add up the legs' scores, each brought to 0..1, by weights that sum to 1.

    Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval", TOIS 2023. A leg's best hit
    is 1; 0 is its lowest hit under `min-max` and the lowest score it could give at all under
    `theoretical-minimum`. BM25 of 6 and 3 become 1 and .5 under the latter, 1 and 0 under the former. What a leg
    lacks counts 0, or as much as its last hit where the leg was cut there: just behind it is where it may stand.
    """
    weights = _weights_of(answers, weights)
    total = math.fsum(weights.values())
    shares = {leg: weight / total for leg, weight in weights.items()}
    bounds = {
        answer.leg: (
            min(hit.score for hit in answer.hits) if normaliser == "min-max" else answer.least,
            max(hit.score for hit in answer.hits),
        )
        for answer in answers
        if answer.hits
    }

    def value(answer: LegAnswer, _rank: int, score: float) -> float:
        return scale(score, *bounds[answer.leg])

    def lacking(answer: LegAnswer) -> float:
        return value(answer, 0, answer.hits[-1].score) if answer.cut and answer.hits else 0.0

    return _fuse(answers, shares, value, lacking)


def check_weights(weights: Mapping[str, float]) -> None:
    for leg, weight in weights.items():
        if not (math.isfinite(weight) and 0 <= weight <= LARGEST_WEIGHT):
            raise BadQuery(f"The weight of {leg} is a number from 0 to {LARGEST_WEIGHT:g}, not {weight}.")
    if not any(weights.values()):
        raise BadQuery("Every leg has weight 0, so nothing can be found: give at least one of them a weight.")


def _weights_of(answers: Sequence[LegAnswer], weights: Mapping[str, float]) -> dict[str, float]:
    """Give the weights of the legs that answered; without any there is nothing to weigh."""
    taking_part = {answer.leg: weights.get(answer.leg, 0.0) for answer in answers}
    if taking_part:
        check_weights(taking_part)
    return taking_part


def _fuse(
    answers: Sequence[LegAnswer],
    weights: Mapping[str, float],
    value: Callable[[LegAnswer, int, float], float],
    lacking: Callable[[LegAnswer], float] = lambda _answer: 0.0,
) -> tuple[Scored, ...]:
    taking_part = [answer for answer in answers if weights[answer.leg]]
    shares: dict[Ref, list[float]] = {hit.ref: [] for answer in taking_part for hit in answer.hits}
    best: dict[Ref, int] = {}
    for answer in taking_part:
        weight = weights[answer.leg]
        found = set()
        for rank, hit in enumerate(answer.hits, start=1):
            found.add(hit.ref)
            shares[hit.ref].append(weight * value(answer, rank, hit.score))
            best[hit.ref] = min(rank, best.get(hit.ref, rank))
        if behind := weight * lacking(answer):
            for ref in shares.keys() - found:
                shares[ref].append(behind)
    # fsum is exact, so the order in which the legs came cannot show in the last digit.
    scored = [Scored(ref, math.fsum(parts)) for ref, parts in shares.items()]
    scored.sort(key=lambda item: (-item.score, best[item.ref], item.ref))
    return tuple(scored)
