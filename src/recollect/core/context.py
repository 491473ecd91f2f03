"""A hit takes part of its session neighbours' score, leg by leg: the step between the legs and `fusion`.

What was said next to something is evidence for it: a question's answer often lacks the question's words. Each
score becomes the average with those next to it, so one that the leg did not find itself can enter. What belongs to no
session is left alone.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final

from recollect.core.hits import Hit, LegAnswer, Ref, Surroundings
from recollect.core.memory import Memory
from recollect.values import replace

SHARES: Final = (0.7, 0.35)
"""What part of a neighbour's score is taken at one place's and at two places' distance."""
REACH: Final = len(SHARES)
TURNS_BEFORE: Final = 2
"""How many turns before a short one it is read together with."""
SHORT: Final = 120
"""Words up to which a turn is short: it says too little alone, and does not drown the one behind it."""


def take_context(
    answers: Sequence[LegAnswer], surroundings: Surroundings, parts: Mapping[str, float]
) -> tuple[LegAnswer, ...]:
    """Let each leg's hits share with their neighbours, as far as that leg's part goes."""
    if not surroundings.near:
        return tuple(answers)
    return tuple(_share(answer, surroundings, parts.get(answer.leg, 0.0)) for answer in answers)


def read_together(memory: Memory, before: Sequence[Memory]) -> tuple[str, ...]:
    """Give a short turn's text behind the short turns just before it, if there are any."""
    turns: list[str] = []
    for turn in (memory, *reversed(before)):
        if len(turn.content.split()) > SHORT:
            break
        turns.insert(0, turn.content)
    return ("\n".join(turns),) if len(turns) > 1 else ()


def _share(answer: LegAnswer, surroundings: Surroundings, part: float) -> LegAnswer:
    """Hand each hit's score on to those next to it; who got something weighs it against all that they stand next to."""
    if not (part and answer.hits):
        return answer
    weights = (1.0, *(part * share for share in SHARES))
    points: dict[Ref, list[float]] = {}
    evidence: dict[Ref, float] = {}
    for hit in answer.hits:
        for ref, distance in ((hit.ref, 0), *surroundings.near.get(hit.ref, ())):
            weight = weights[distance]
            points.setdefault(ref, []).append(weight * hit.score)
            # Not averaged: what speaks for the best of them speaks for their surroundings.
            if hit.evidence * weight > evidence.get(ref, 0.0):
                evidence[ref] = hit.evidence * weight
    totals = _Totals(weights)
    # fsum is exact, so the order in which neighbours came cannot show in the last digit.
    scored = [
        (-math.fsum(parts) / totals[surroundings.counts.get(ref, ())], ref.id, ref.space, ref)
        for ref, parts in points.items()
    ]
    scored.sort()
    # A leg that was cut brings no more than it was asked for.
    kept = scored[: len(answer.hits)] if answer.cut else scored
    return replace(answer, hits=tuple(Hit(ref, -score, evidence.get(ref, 0.0)) for score, _, _, ref in kept))


class _Totals(dict[tuple[int, ...], float]):
    """The weights of a memory and of all that stand next to it, added up, by how many those are at each distance."""

    def __init__(self, weights: Sequence[float]) -> None:
        self._weights = weights[1:]

    def __missing__(self, counts: tuple[int, ...]) -> float:
        self[counts] = 1.0 + sum(count * weight for count, weight in zip(counts, self._weights, strict=False))
        return self[counts]
