"""What memories share becomes ties, in every store by the same rule: each is of those that may be led to."""

from collections.abc import Collection, Iterable, Mapping
from operator import attrgetter
from typing import Final

from recollect.core.hits import Ref
from recollect.core.spread import Tie, TieKind
from recollect.values import value

MOST_RELATED: Final = 50
"""Relations of one concept that are followed."""
BY_MENTIONS: Final[frozenset[TieKind]] = frozenset({"names", "relations"})


@value
class Member:
    """A memory that may be led to at the moment asked about: there, not forgotten, not sensitive."""

    ref: Ref
    is_unchanged: bool
    """Since that moment. A mention is of the present text: what has changed since had others then."""


@value
class Shared:
    kind: TieKind
    name: str
    members: Collection[int]
    """The numbers of those that share it, at least of the others."""


def tie_up(seed: int, shared: Iterable[Shared], members: Mapping[int, Member]) -> list[Tie]:
    """Give the ties of a memory, of which it is a member itself; what is left to itself ties it to nobody."""
    ties = []
    for each in shared:
        found = (members[key] for key in {seed, *each.members} if key in members)
        refs = [member.ref for member in found if member.is_unchanged or each.kind not in BY_MENTIONS]
        if len(refs) > 1:
            # All of one space. To compare ids alone is several times faster, and there may be thousands.
            ties.append(Tie(each.kind, each.name, tuple(sorted(refs, key=attrgetter("id")))))
    return sorted(ties, key=lambda tie: (tie.kind, tie.name, tie.members[-1]))
