"""How old a memory is, as roughly as it matters to whoever reads it."""

from datetime import datetime
from typing import Final

_DAYS_IN: Final = {"year": 365, "month": 30, "week": 7, "day": 1}


def word_age(then: datetime, now: datetime) -> str:
    days = (now - then).days
    for unit, length in _DAYS_IN.items():
        if count := max(0, days) // length:
            return f"{count} {unit}{'s' * (count > 1)} ago"
    return "today"
