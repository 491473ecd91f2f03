"""A hit takes part of its session neighbours' score, leg by leg: the step between the legs and `fusion`.

Nothing takes part yet: the share is decided by measurement when there is a second leg to measure with.
"""

from collections.abc import Sequence

from recollect.core.hits import LegAnswer


def take_context(answers: Sequence[LegAnswer]) -> tuple[LegAnswer, ...]:
    return tuple(answers)
