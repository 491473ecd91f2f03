"""Several legs in, one scored list out: the step after `context` and before `spread`.

Each function is pure and independent of the order of the legs. A leg of weight 0 adds nothing and admits
nothing; a leg that lacks a memory adds 0 to it. Equal scores stand in the order of their best rank, then by
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


def reciprocal_rank(answers: Sequence[LegAnswer], weights: Mapping[str, float]) -> tuple[Scored, ...]:
    """Add up weight / (60 + rank), ranks from 1.

    Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning
    Methods", SIGIR 2009. Two legs of weight 1 that rank a memory 1st and 3rd give 1/61 + 1/63.
    """
    return _fuse(answers, _weights_of(answers, weights), lambda _answer, rank, _score: 1 / (RRF_K + rank))


def convex(
    answers: Sequence[LegAnswer],
    weights: Mapping[str, float],
    normaliser: Normaliser = "theoretical-minimum",
) -> tuple[Scored, ...]:
    """Add up the legs' scores, each brought to 0..1, by weights that sum to 1.

    Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid Retrieval", TOIS 2023. A leg's best hit
    is 1; 0 is its lowest hit under `min-max` and the lowest score it could give at all under
    `theoretical-minimum`. BM25 of 6 and 3 become 1 and .5 under the latter, 1 and 0 under the former.
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
    return _fuse(answers, shares, lambda answer, _rank, score: scale(score, *bounds[answer.leg]))


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
) -> tuple[Scored, ...]:
    shares: dict[Ref, list[float]] = {}
    best: dict[Ref, int] = {}
    for answer in answers:
        weight = weights[answer.leg]
        if not weight:
            continue
        for rank, hit in enumerate(answer.hits, start=1):
            shares.setdefault(hit.ref, []).append(weight * value(answer, rank, hit.score))
            best[hit.ref] = min(rank, best.get(hit.ref, rank))
    # fsum is exact, so the order in which the legs came cannot show in the last digit.
    scored = [Scored(ref, math.fsum(parts)) for ref, parts in shares.items()]
    scored.sort(key=lambda item: (-item.score, best[item.ref], item.ref))
    return tuple(scored)
