"""The values: a memory, what it was before, and how memories are linked.

A memory is stored exactly as given or refused with a reason (`check`); nothing here trims or normalises.
"""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final, Literal

from recollect.core.errors import Refused, TooLong
from recollect.values import value

CATEGORIES: Final = ("facts", "preferences", "decisions", "projects", "people")
"""The categories everyone has; a user may add any other."""

PINNED: Final = "pinned"
"""The tag of what every session should know, given whole."""

DEFAULT_LENGTH_LIMIT: Final = 1400
LABEL_LIMIT: Final = 200
"""Longest category, tag, keyword or space, in characters."""
PATH_LIMIT: Final = 4096
"""Longest project or session: a folder's path can be one."""
LABELS_LIMIT: Final = 64
"""Most tags, and most keywords, of one memory."""

_ID: Final = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"

LARGEST_PLACE: Final = (1 << 31) - 1
LAST_YEAR: Final = 9999
"""No time in it is taken: a later change must still find a later time."""

Action = Literal["remembered", "edited", "forgotten", "restored", "imported"]
LinkKind = Literal["supersedes", "resolved-by", "part-of", "see-also"]
LINK_KINDS: Final[tuple[LinkKind, ...]] = ("supersedes", "resolved-by", "part-of", "see-also")


@value
class Memory:
    """One self-contained thing worth knowing, as it stands since `updated_at`."""

    id: str
    space: str
    content: str
    created_at: datetime
    updated_at: datetime
    category: str = "facts"
    tags: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    importance: float = 0.5
    project: str | None = None
    session: str | None = None
    place: int | None = None
    sensitive: bool = False
    version: int = 1
    action: Action = "remembered"
    deleted_at: datetime | None = None

    @property
    def heading(self) -> str:
        """The first line with something on it: what stands for the memory in a list."""
        return next((line.strip() for line in self.content.splitlines() if line.strip()), "")

    @property
    def short_id(self) -> str:
        """The random end of the id: ids made close in time share their beginning."""
        return self.id[-8:]


@value
class Revision:
    """A state a memory was in from `memory.updated_at` until `until`; `None` means it still is."""

    memory: Memory
    until: datetime | None


@value
class Link:
    """`source` supersedes, is resolved by, is part of, or points to `target`, since and until when."""

    space: str
    source: str
    kind: LinkKind
    target: str
    created_at: datetime
    ended_at: datetime | None = None


def make_id(milliseconds: int, random_bits: int) -> str:
    """Lay out a UUIDv7 (RFC 9562): ids sort by the time they were made; 74 bits are random."""
    value = (milliseconds & (1 << 48) - 1) << 80 | 0x7 << 76 | (random_bits >> 62 & 0xFFF) << 64
    value |= 0b10 << 62 | random_bits & (1 << 62) - 1
    return write_id(f"{value:032x}")


def write_id(digits: str) -> str:
    """Write the 32 digits of an id as people know it."""
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def is_id(text: str) -> bool:
    return re.fullmatch(_ID, text) is not None


def check(memory: Memory, length_limit: int = DEFAULT_LENGTH_LIMIT) -> None:
    """Refuse what no store could keep or return unchanged."""
    if not is_id(memory.id):
        raise Refused(f"{memory.id!r} is not an id: give a lower-case UUID, or leave it out to get one.")
    if not memory.content.strip():
        raise Refused("A memory needs some text.")
    _check_text("content", memory.content)
    if len(memory.content) > length_limit:
        raise TooLong(
            f"This memory has {len(memory.content):,} characters and the limit is {length_limit:,}, so that a "
            "recalled memory always arrives whole. Split it into memories that each make sense alone, one fact "
            "or decision each, and link them with part-of."
        )
    check_label("category", memory.category)
    check_label("space", memory.space)
    for name, label in (("project", memory.project), ("session", memory.session)):
        if label is not None:
            check_label(name, label, PATH_LIMIT)
    _check_labels("tags", memory.tags)
    _check_labels("keywords", memory.keywords)
    if not 0 <= memory.importance <= 1:
        raise Refused(f"Importance is a number from 0 to 1, not {memory.importance!r:.40}.")
    if memory.place is not None and not 0 <= memory.place <= LARGEST_PLACE:
        raise Refused(f"The place in a session is a whole number from 0 up, not {memory.place}.")
    _check_time("created_at", memory.created_at)
    _check_time("updated_at", memory.updated_at)


def _check_time(name: str, moment: datetime) -> None:
    if moment.tzinfo is not UTC:
        raise Refused(f"{name} must be a time in UTC.")
    if moment.year >= LAST_YEAR:
        raise Refused(f"{name} lies in the year {moment.year}: there would be no time after it.")


def _check_labels(name: str, labels: Iterable[str]) -> None:
    labels = tuple(labels)
    if len(labels) > LABELS_LIMIT:
        raise Refused(f"A memory can have {LABELS_LIMIT} {name}, not {len(labels)}: keep those you would search by.")
    for label in labels:
        check_label(f"one of the {name}", label)


def is_label(text: str) -> bool:
    """Whether this can be kept, and found by an index: neither empty nor long, and nothing that no store can hold."""
    try:
        check_label("name", text)
    except Refused:
        return False
    return True


def check_label(name: str, label: str, limit: int = LABEL_LIMIT) -> None:
    if not label.strip():
        raise Refused(f"The {name.removeprefix('one of the ')} cannot be empty.")
    if len(label) > limit:
        raise Refused(f"{name.capitalize()} has {len(label):,} characters; {limit:,} is the most.")
    if label.splitlines() != [label]:
        raise Refused(f"{name.capitalize()} has a line break in it: write it on one line.")
    _check_text(name, label)


def _check_text(name: str, text: str) -> None:
    if "\0" in text:
        raise Refused(f"The {name} contains a null character (U+0000), which cannot be stored: remove it.")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Refused(
            f"The {name} contains half of a surrogate pair at position {error.start}, which is not valid text: "
            "read the source as UTF-8 and try again."
        ) from None
