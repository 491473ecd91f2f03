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
    said = [_say(each) for each in shared]
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


def _say(shared: Tie | Way) -> set[str]:
    """Give the terms of a name; a term is one already, and a name may be all of stop words."""
    return set(() if shared.kind == "terms" else analyse(shared.name)) or {shared.name}


def describe_ways(ways: Sequence[Way]) -> str:
    """Say by what score came from one memory to another."""
    told = telling(ways)
    named = [f"the link {way.name}" if way.kind == "links" else f"'{way.name}'" for way in told[:MOST_NAMED]]
    if more := len(told) - len(named):
        named.append(f"{more} more")
    return " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))
