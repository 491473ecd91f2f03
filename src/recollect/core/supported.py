"""Whether what a model says that a conversation says is in it: its words must be, and all its numbers and names."""

from collections.abc import Sequence
from typing import Final

from recollect.core.analysis import analyse
from recollect.core.learning import Turn
from recollect.core.prose import without_injected
from recollect.core.statements import read_statement

LEAST_SUPPORTED: Final = 0.85
"""The part of a statement's terms that one turn must have: a model may join words, not bring its own."""


def is_supported(content: str, turns: Sequence[Turn]) -> bool:
    """Whether one turn, without what was injected there, holds what is stated."""
    stated = read_statement(content)
    terms = stated.terms | stated.rejected
    for turn in turns:
        if turn.role == "injected":
            continue
        said = frozenset(analyse(without_injected(turn.text)))
        if terms and stated.telling <= said and len(terms & said) >= LEAST_SUPPORTED * len(terms):
            return True
    return False
