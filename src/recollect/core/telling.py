"""What score flows along, in words: of many ties between two memories, those that say something of their own."""

from collections.abc import Sequence
from typing import Final, TypeVar

from recollect.core.analysis import analyse
from recollect.core.spread import Tie, Way

MOST_NAMED: Final = 3
"""How many of the ways from one memory to another are told; the rest are counted."""

Shared = TypeVar("Shared", Tie, Way)


def telling(shared: Sequence[Shared]) -> list[Shared]:
    """Leave out what another one says too: the words of a name, the parts of a path."""
    said = [{each.name} if each.kind == "terms" else set(analyse(each.name)) for each in shared]
    return [
        each
        for place, each in enumerate(shared)
        if each.kind == "links"
        or not any(
            said[place] < other or (said[place] == other and earlier < place)
            for earlier, other in enumerate(said)
            if earlier != place and shared[earlier].kind != "links"
        )
    ]


def describe_ways(ways: Sequence[Way]) -> str:
    """Say by what score came from one memory to another."""
    told = telling(ways)
    named = [f"the link {way.name}" if way.kind == "links" else f"'{way.name}'" for way in told[:MOST_NAMED]]
    if more := len(told) - len(named):
        named.append(f"{more} more")
    return " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))
