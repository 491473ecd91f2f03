"""The place of a cross-encoder over the top of the ranking: between `spread` and `prior`.

There is none yet, and when there is, it will be off unless asked for.
"""

from collections.abc import Sequence

from recollect.core.hits import Scored


def rerank(ranking: Sequence[Scored]) -> tuple[Scored, ...]:
    return tuple(ranking)
