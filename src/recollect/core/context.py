"""A hit takes part of its session neighbours' score, leg by leg: the step between the legs and `fusion`.

What was said next to something is evidence for it: a question's answer often lacks the question's words. Each
score becomes the average with those next to it, so one that the leg did not find itself can enter. What belongs to no
session is left alone.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from recollect.core.hits import Hit, LegAnswer, Ref
from recollect.core.memory import Memory

SHARES: Final = (0.7, 0.35)
"""What part of a neighbour's score is taken at one place's and at two places' distance."""
REACH: Final = len(SHARES)
TURNS_BEFORE: Final = 2
"""How many turns before a short one it is read together with."""
SHORT: Final = 120
"""Words up to which a turn is short: it says too little alone, and does not drown the one behind it."""

Neighbours = Mapping[Ref, Sequence[tuple[Ref, int]]]
"""What stands next to a memory, and how many places away."""


def take_context(
    answers: Sequence[LegAnswer], neighbours: Neighbours, parts: Mapping[str, float]
) -> tuple[LegAnswer, ...]:
    """Let each leg's hits share with their neighbours, as far as that leg's part goes."""
    if not neighbours:
        return tuple(answers)
    return tuple(_share(answer, neighbours, parts.get(answer.leg, 0.0)) for answer in answers)


def read_together(memory: Memory, before: Sequence[Memory]) -> tuple[str, ...]:
    """Give a short turn's text behind the short turns just before it, if there are any."""
    turns: list[str] = []
    for turn in (memory, *reversed(before)):
        if len(turn.content.split()) > SHORT:
            break
        turns.insert(0, turn.content)
    return ("\n".join(turns),) if len(turns) > 1 else ()


def _share(answer: LegAnswer, neighbours: Neighbours, part: float) -> LegAnswer:
    if not (part and answer.hits):
        return answer
    own = {hit.ref: hit for hit in answer.hits}
    # Whoever is reached reaches back, unless it left the session while this was looked up.
    reached = {ref for ref, near in neighbours.items() if any(other in own for other, _ in near)}
    hits = [_average(ref, own, neighbours.get(ref, ()), part) for ref in own.keys() | reached]
    hits.sort(key=lambda hit: (-hit.score, hit.ref.id, hit.ref.space))
    # A leg that was cut brings no more than it was asked for.
    return replace(answer, hits=tuple(hits[: len(own)] if answer.cut else hits))


def _average(ref: Ref, own: Mapping[Ref, Hit], near: Sequence[tuple[Ref, int]], part: float) -> Hit:
    """Weigh a memory's score, 0 if the leg did not find it, with those of all that stand next to it."""
    weights = [(ref, 1.0), *((other, part * SHARES[distance - 1]) for other, distance in near)]
    total = math.fsum(weight for _, weight in weights)
    found = [(own[other], weight) for other, weight in weights if other in own]
    return Hit(
        ref,
        math.fsum(weight * hit.score for hit, weight in found) / total,
        # Not averaged: what speaks for the best of them speaks for their surroundings.
        max(min(1.0, weight) * hit.evidence for hit, weight in found),
    )
