"""Which of the memories that an agent was given it named afterwards: by their id, whole or as it was shown."""

import re
from collections.abc import Collection, Sequence
from typing import Final

from recollect.core.learning import Turn
from recollect.core.prose import without_injected

_ID: Final = re.compile(
    r"(?<![0-9a-z-])(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{8})(?![0-9a-z-])", re.IGNORECASE
)
_SHORT: Final = 8


def find_cited(turns: Sequence[Turn], given: Collection[str]) -> tuple[str, ...]:
    """Give those of the ids given that the agent wrote itself, in the order in which they were given."""
    written = {
        each.group().lower()
        for turn in turns
        if turn.role == "assistant"
        for each in _ID.finditer(without_injected(turn.text))
    }
    return tuple(each for each in dict.fromkeys(given) if each in written or each[-_SHORT:] in written)
