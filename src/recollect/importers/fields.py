"""Makes what other systems put into a field into what a memory can have in it. Nothing here raises."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from recollect.core.errors import Refused
from recollect.core.memory import LABEL_LIMIT, LABELS_LIMIT, LAST_YEAR, is_label
from recollect.core.record import parse_time

_MILLISECONDS: Final = 1e11
"""No time in seconds is that large before the year 5000; JavaScript counts milliseconds."""


def text_of(value: object) -> str:
    """Give a value that is to be text, or nothing."""
    return value.strip() if isinstance(value, str) else ""


def number_in(value: object, most: float = 1.0) -> float | None:
    """Give a number from 0 to the most it can be as one from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        return None
    return value / most


def time_of(value: object) -> datetime | None:
    """Read a time, in ISO 8601 or in seconds or milliseconds since 1970; anything else is none."""
    try:
        if isinstance(value, int | float) and not isinstance(value, bool):
            moment = datetime.fromtimestamp(value / 1000 if value > _MILLISECONDS else value, UTC)
        else:
            moment = parse_time(text_of(value))
    except (Refused, ValueError, OverflowError, OSError):
        return None
    return moment if moment.year < LAST_YEAR else None


def labels_of(*values: object) -> tuple[str, ...]:
    """Give tags or keywords out of lists of them, or of text with commas in between."""
    words: dict[str, None] = {}
    for value in values:
        listed = value.split(",") if isinstance(value, str) else value if isinstance(value, Iterable) else ()
        for each in listed:
            if isinstance(each, str | int | float) and (word := " ".join(str(each).split())):
                words.update(dict.fromkeys(_cut(word)))
    return _pack(tuple(words)) if len(words) > LABELS_LIMIT else tuple(words)


def described(record: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Give the simple fields of a record as keywords, `name: value`, and the names of those that are not."""
    keywords: list[str] = []
    others: list[str] = []
    for name, value in record.items():
        keyword = f"{name}: {value}" if isinstance(value, str | int | float) else ""
        if is_label(keyword) and len(keywords) < LABELS_LIMIT:
            keywords += [keyword] if value != "" else []
        elif value:
            others.append(str(name))
    return tuple(keywords), tuple(others)


def category_of(value: object, known: Mapping[str, str]) -> str:
    """Give a kind of another system as a category; one that is not known here is a category of the user's own."""
    kind = " ".join(text_of(value).lower().split())
    category = known.get(kind, kind)
    return category if is_label(category) else "facts"


def _cut(word: str) -> list[str]:
    if len(word) <= LABEL_LIMIT:
        return [word]
    return list(_pack(tuple(word[at : at + LABEL_LIMIT] for at in range(0, len(word), LABEL_LIMIT))))


def _pack(words: tuple[str, ...]) -> tuple[str, ...]:
    """Put several words into each label, so that more of them than there may be labels are kept."""
    packed = [""]
    for word in words:
        joined = f"{packed[-1]} {word}".strip()
        if len(joined) <= LABEL_LIMIT:
            packed[-1] = joined
        else:
            packed.append(word)
    return tuple(packed)
