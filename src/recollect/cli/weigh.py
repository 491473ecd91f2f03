"""What an explanation of an answer needs of the store: asked while that is open, shown in whatever form afterwards."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recollect.core.hits import Evidence, Ref
from recollect.service.recall import Recall
from recollect.service.recollect import Recollect
from recollect.service.ways import Came


@dataclass(frozen=True, slots=True)
class Weighed:
    """What speaks for one memory."""

    evidence: Mapping[str, Evidence]
    """What each leg says about it."""
    came: Sequence[Came]
    """From which memories score came to it, and by what."""


def weigh(memory: Recollect, answer: Recall) -> dict[Ref, Weighed]:
    """Ask about every result, and about what it is served in place of."""
    weighed = {}
    for result in answer.results:
        olds = [memory.get(old.id, answer.query.scope.as_of) for old in result.instead_of]
        for each in (result.memory, *olds):
            ref = Ref(each.space, each.id)
            weighed[ref] = Weighed(memory.evidence(answer, each), memory.ways(answer, ref))
    return weighed
