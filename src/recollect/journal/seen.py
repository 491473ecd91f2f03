"""Which memories prompts were given at all, once the journal is old enough to tell."""

from typing import Final

from recollect.journal.file import Journal

LEAST_DAYS: Final = 60
"""For how long hooks must have been at work for it to mean something that they gave a memory to no one."""
_DAY: Final = 86_400_000_000

_FIRST: Final = "SELECT MIN(at) FROM injections"
_GIVEN: Final = "SELECT DISTINCT memory FROM given"


def ever_given(journal: Journal, now: int) -> frozenset[str] | None:
    """Give the ids of all that was given, or `None` if that says nothing yet."""
    with journal.read() as connection:
        (first,) = connection.execute(_FIRST).fetchone()
        if first is None or now - first < LEAST_DAYS * _DAY:
            return None
        return frozenset(memory for (memory,) in connection.execute(_GIVEN))
