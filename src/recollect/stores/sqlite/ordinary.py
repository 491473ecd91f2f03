"""The dense leg as hooks have it: its evidence is how far a cosine stands above what is ordinary.

What is a high cosine differs between models: with all-MiniLM-L6-v2 nine of ten unrelated prompts stay under .30, with
granite-embedding-30m under .69. Measured from the mean cosine to everything in the space, on the way to 1, it is .28
and .29 (decision 15), so one floor fits both. A space of a few memories has no mean worth the name: a handful of
sentences about this and that are counted with it.
"""

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from recollect.core.errors import LegTimeout
from recollect.core.hits import Evidence, Hit, Ref
from recollect.core.query import Query
from recollect.core.vectors import Vector, cosine
from recollect.stores.sqlite.dense import DenseLeg

if TYPE_CHECKING:
    from recollect.stores.sqlite.matrix import Near

THIS_AND_THAT: Final = (
    "The soup needs another pinch of salt.",
    "A train to the coast leaves at noon.",
    "She learned to play the cello as a child.",
    "Their team lost the final by one goal.",
    "The tax return is due at the end of May.",
    "A cold front brings rain to the north.",
    "He repaired the roof before the winter.",
    "The museum shows paintings of two centuries.",
    "My sister breeds bees on her balcony.",
    "The patient was given an antibiotic.",
    "A new bridge crosses the river since spring.",
    "The lecture was about medieval trade.",
    "Water boils at a lower temperature up there.",
    "The dentist has no appointment before Friday.",
    "They planted apple trees along the fence.",
    "The novel is told by an old sailor.",
    "Sales of bicycles rose again this year.",
    "The function returns a list of numbers.",
    "Our flight was delayed because of fog.",
    "The landlord wants to raise the rent.",
    "A comet can be seen with the naked eye.",
    "The child is afraid of thunder.",
    "Parliament votes on the budget tomorrow.",
    "The printer is out of paper again.",
)


class AboveOrdinary:
    name = DenseLeg.name
    least = DenseLeg.least

    def __init__(self, dense: DenseLeg) -> None:
        self._dense = dense
        self._references: dict[str, list[Vector]] = {}
        self._lock = threading.Lock()

    def search(self, query: Query, depth: int, seconds: float) -> Sequence[Hit]:
        end = time.monotonic() + seconds

        def judge(model: str, vector: Vector, near: "Near") -> Callable[[float], float]:
            references = [cosine(vector, each) for each in self._reference(model, end)]
            ordinary = (near.total + sum(references)) / (near.count + len(references))
            return lambda found: max(0.0, (found - ordinary) / (1 - ordinary)) if ordinary < 1 else 0.0

        return self._dense.search_by(query, depth, seconds, judge)

    def weigh(self, query: Query, ref: Ref) -> Evidence:
        return self._dense.weigh(query, ref)

    def _reference(self, model: str, end: float) -> list[Vector]:
        """Give the vectors of the sentences, made once and as far as there is time."""
        with self._lock:
            made = self._references.setdefault(model, [])
            embed = self._dense.embed_query
            assert embed is not None  # noqa: S101 - it embedded the query
            for text in THIS_AND_THAT[len(made) :]:
                if (left := end - time.monotonic()) <= 0:
                    raise LegTimeout(f"{model} is still being loaded")
                made.append(embed(model, text, left))
            return made
