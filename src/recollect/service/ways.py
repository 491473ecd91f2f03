"""How score came to a memory of an answer: from which others, and by what they share."""

from recollect.core.hits import Ref
from recollect.core.memory import Memory
from recollect.core.ports import Store
from recollect.core.spread import Way
from recollect.core.trace import ways_to
from recollect.service.recall import Recall
from recollect.values import value


@value
class Came:
    """Score that came from one memory, and the ways it took, the widest first."""

    source: Memory
    ways: tuple[Way, ...]


def find_ways(store: Store, answer: Recall, ref: Ref) -> tuple[Came, ...]:
    """Give the memories that score came from to this one, as they were at the time that was asked about."""
    sources = ways_to(answer.trace, ref)
    if not sources:
        return ()
    read = store.memories.get(sources, answer.query.scope.as_of)
    return tuple(Came(read[source], ways) for source, ways in sources.items() if source in read)
