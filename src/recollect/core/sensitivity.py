"""What may happen to the text of a sensitive memory.

Its owner finds it by words and reads it in the terminal. Whatever leads out of the process never gets its
text: no embedder, no extractor, and no agent, whose context goes to a hosted model. An agent is shown a
placeholder that it can point its user to.
"""

from recollect.core.memory import Memory
from recollect.values import replace


def placeholder(memory: Memory) -> str:
    return f"[sensitive memory {memory.id}: its text is kept from agents; its owner can read it in a terminal]"


def redact(memory: Memory) -> Memory:
    """Give the memory as an agent may see it: all that was written into it is gone, its frame is left."""
    if not memory.sensitive:
        return memory
    return replace(memory, content=placeholder(memory), tags=(), keywords=())


def may_leave(memory: Memory) -> bool:
    """Whether the text may be handed to a port that leads out of the process."""
    return not memory.sensitive
