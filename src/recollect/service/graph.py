"""A memory among others: what ties it to them, in the order in which spread would follow it."""

import math
from collections.abc import Mapping, Sequence
from datetime import datetime

from recollect.core.hits import Ref
from recollect.core.memory import Memory
from recollect.core.ports import Store
from recollect.core.spread import TIE_KINDS, Tie, rarest
from recollect.values import value


@value
class Branch:
    """Other memories, the closest first, and all that leads to just these: a name and the rare words in it."""

    ties: tuple[Tie, ...]
    others: tuple[Memory, ...]


@value
class Graph:
    memory: Memory
    branches: tuple[Branch, ...]
    """Those with the rarest ties first."""
    further: int
    """How many ties there are besides, too many for any score to flow along."""


def draw_graph(store: Store, memory: Memory, as_of: datetime | None = None) -> Graph:
    ref = Ref(memory.space, memory.id)
    ties = store.concepts.ties([ref], TIE_KINDS, as_of).get(ref, [])
    followed = rarest(ties)
    others = store.memories.get({each for tie in followed for each in tie.members} - {ref}, as_of)
    closest = _order(followed, others)
    gathered: dict[tuple[Ref, ...], list[Tie]] = {}
    for tie in followed:
        gathered.setdefault(tuple(each for each in closest if each in tie.members), []).append(tie)
    branches = (Branch(tuple(ties), tuple(others[each] for each in refs)) for refs, ties in gathered.items())
    return Graph(memory, tuple(branches), len(ties) - len(followed))


def _order(ties: Sequence[Tie], others: Mapping[Ref, Memory]) -> list[Ref]:
    """Order memories by how much of the score that flows along these ties would come to them."""
    parts = {ref: math.fsum(1 / len(tie.members) for tie in ties if ref in tie.members) for ref in others}
    return sorted(parts, key=lambda ref: (-parts[ref], ref))
