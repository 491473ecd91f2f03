"""The graph as one more ranked list, as the seeds had it: an arm that shows what spread does otherwise.

One hop from the ten best of words and meaning by rank fusion, along shared names, 25 neighbours each. The seeds left
out what words or meaning had found, which by the weight of 0.35 kept every neighbour out of the top ten.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from recollect.core.fusion import RRF_K, reciprocal_rank
from recollect.core.hits import Evidence, Hit, LegAnswer, Ref
from recollect.core.ports import Leg, Store
from recollect.core.query import Query

_SEEDS: Final = 10
_NEIGHBOURS: Final = 25
_BASE: Final = ("lexical", "dense")


class GraphLeg:
    name = "graph"
    least = 0.0

    def __init__(self, store: Store, legs: Sequence[Leg], *, base: bool) -> None:
        self._store = store
        self._legs = [leg for leg in legs if leg.name in _BASE]
        self._base = base
        """Whether what words or meaning found may be found again."""

    def search(self, query: Query, depth: int, seconds: float) -> Sequence[Hit]:
        answers = [LegAnswer(leg.name, tuple(leg.search(query, depth, seconds))) for leg in self._legs]
        fused = reciprocal_rank(answers, dict.fromkeys(_BASE, 1.0), RRF_K)
        known = set() if self._base else {item.ref for item in fused}
        points: Counter[Ref] = Counter()
        seeds = [item.ref for item in fused[:_SEEDS]]
        for seed, ties in self._store.concepts.ties(seeds, ["names"], query.scope.as_of).items():
            shared = Counter(member for tie in ties for member in tie.members if member != seed)
            points.update(dict(sorted(shared.items(), key=lambda each: (-each[1], each[0]))[:_NEIGHBOURS]))
        present = self._store.memories.get(points.keys() - known)
        found = [ref for ref, memory in present.items() if query.scope.admits(memory)]
        hits = [Hit(ref, float(points[ref]), 0.0) for ref in found]
        return sorted(hits, key=lambda hit: (-hit.score, hit.ref))[:depth]

    def weigh(self, query: Query, ref: Ref) -> Evidence:  # noqa: ARG002 - as a leg is asked
        return Evidence("it is found by what it shares with others")
