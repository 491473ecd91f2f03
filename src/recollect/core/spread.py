"""Score flows through concepts, relations and links to other memories: the step between `fusion` and `rerank`.

Nothing flows yet: there are no concepts for it to flow through.
"""

from collections.abc import Sequence

from recollect.core.hits import Scored


def spread(ranking: Sequence[Scored]) -> tuple[Scored, ...]:
    return tuple(ranking)
