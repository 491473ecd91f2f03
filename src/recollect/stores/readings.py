"""Whether a memory's mentions are those that the rules find in it: what `doctor` holds a store's concepts against."""

from collections.abc import Collection, Mapping
from typing import Final

from recollect.core.concepts import read_concepts
from recollect.core.memory import Memory
from recollect.stores.extractions import sift

MEND: Final = "Run `recollect doctor --mend`: what is missing is then read again."
MISREAD: Final = "Memories whose concepts are not those in their text, and which wait for nobody: {:,}."
UNREADABLE: Final = "Memories that nobody may read, or that are gone, whose concepts are there: {:,}."
MISLEADING: Final = "Names that lead to no concept: {:,}."
UNSTATED: Final = "Relations that hold and that no memory states: {:,}."
STRAY: Final = "Entries of the queue that belong to no memory which may be read: {:,}."


def is_read(memory: Memory, concepts: Mapping[str, int], mentioned: Collection[int]) -> bool:
    """Say whether a memory mentions what it should, given the concept that each folded name leads to."""
    return {concepts.get(folded) for folded in sift(read_concepts(memory)).mentions} == set(mentioned)
