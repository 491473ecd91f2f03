"""Score flows from the best candidates to what shares something with them: the step between `fusion` and `rerank`.

The best two hand on a unit of score. Each divides it among what it mentions, the rarest first: names, rare words,
relations, links. Each of those divides its part among all memories that share it, so that what few share carries much
and what many share carries nothing. Whoever gets something moves up, and one that no leg found can enter.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

from recollect.core.hits import Ref, Scored
from recollect.values import value

TieKind = Literal["names", "terms", "relations", "links"]
TIE_KINDS: Final[tuple[TieKind, ...]] = ("names", "terms", "relations", "links")

SEEDS: Final = 2
"""From how many of the best score flows: further down it flows from what is wrong."""
MOST_TIES: Final = 20
"""How many of the rarest ties of a memory carry score."""


@value
class Tie:
    """What one memory shares with others."""

    kind: TieKind
    name: str
    members: tuple[Ref, ...]
    """All that share it, the memory itself included."""


@value
class Way:
    """How score came to a memory: from which one, by what they share, and how much."""

    source: Ref
    kind: TieKind
    name: str
    amount: float


@value
class Limits:
    """How many memories may share something for it to tell anything."""

    names: int
    terms: int


@value
class Spread:
    ranking: tuple[Scored, ...]
    ways: Mapping[Ref, tuple[Way, ...]]
    """For each memory that score came to, the ways it took, the widest first."""
    failure: str | None = None
    """Why nothing could flow."""


def limits_of(memories: int) -> Limits:
    """Say how common a name or a term may be in a space of so many memories; both grow slower than the space."""
    root = math.sqrt(memories)
    return Limits(round(min(200, max(10, 1.4 * root))), round(min(50, max(3, 0.15 * root))))


def rarest(ties: Iterable[Tie]) -> list[Tie]:
    """Give the ties of one memory that carry score, the rarest first."""
    return sorted(ties, key=lambda tie: (len(tie.members), tie.kind, tie.name))[:MOST_TIES]


def spread(
    ranking: Sequence[Scored], ties: Mapping[Ref, Sequence[Tie]], weights: Mapping[TieKind, float], strength: float
) -> Spread:
    """Let score flow; `strength` is how much of the best score a whole unit of it would add."""
    ways = _flow([item.ref for item in ranking[:SEEDS]], ties, weights) if strength else {}
    if not ways:
        return Spread(tuple(ranking), {})
    best = max(item.score for item in ranking)
    least = min(item.score for item in ranking)
    scores = {item.ref: item.score for item in ranking}
    for ref, taken in ways.items():
        flow = math.fsum(way.amount for way in taken)
        # The root lets a small part count: a bridge is one tie among twenty.
        scores[ref] = scores.get(ref, least) + best * strength * math.sqrt(flow)
    # What answers the question itself is not overtaken by what it leads to.
    first = ranking[0].ref
    scores[first] = max(scores.values())
    ordered = sorted(scores, key=lambda ref: (-scores[ref], ref != first, ref.id, ref.space))
    return Spread(tuple(Scored(ref, scores[ref]) for ref in ordered), ways)


def _flow(
    seeds: Sequence[Ref], ties: Mapping[Ref, Sequence[Tie]], weights: Mapping[TieKind, float]
) -> dict[Ref, tuple[Way, ...]]:
    ways: dict[Ref, list[Way]] = {}
    for seed in seeds:
        shared = rarest(tie for tie in ties.get(seed, ()) if weights[tie.kind] and len(tie.members) > 1)
        total = math.fsum(weights[tie.kind] for tie in shared)
        for tie in shared:
            amount = weights[tie.kind] / total / len(seeds) / len(tie.members)
            for member in tie.members:
                ways.setdefault(member, []).append(Way(seed, tie.kind, tie.name, amount))
    return {ref: tuple(sorted(taken, key=lambda way: (-way.amount, way.name))) for ref, taken in ways.items()}
