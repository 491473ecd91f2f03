"""What another memory system knew, as its importer read it; `service/take_in` makes memories of it.

Its id is laid out from where it stood in its source, so that importing it again finds what it became the first time.
"""

from collections.abc import Callable
from datetime import datetime
from hashlib import sha256

from recollect.core.memory import LinkKind, write_id
from recollect.values import value


@value
class Foreign:
    """One thing worth knowing, of any length."""

    key: str
    """What it is known by in its source: it stays when the text changes."""
    where: str
    """Where it stood, for a person to find it."""
    content: str
    category: str = "facts"
    tags: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    importance: float = 0.5
    project: str | None = None
    needs_project: bool = False
    """It belongs to a project, but the source does not tell which: whoever imports it must."""
    session: str | None = None
    sensitive: bool = False
    created_at: datetime | None = None
    updated_at: datetime | None = None


@value
class Tie:
    """Two things of one source, by their keys, are to be linked if both are there."""

    source: str
    kind: LinkKind
    target: str
    where: str


@value
class Left:
    """Something was left where it was: on purpose, or because it is `wrong`."""

    where: str
    why: str
    wrong: bool = False


Found = Foreign | Tie | Left


@value
class Location:
    """What a folder belongs to: a project, and the folder that project begins in."""

    project: str | None = None
    root: str | None = None


Locate = Callable[[str], Location]


def derive_id(source: str, key: str, part: int = 0) -> str:
    """Lay out a UUIDv8 (RFC 9562) from what something is known by: the same things always get the same id."""
    digest = sha256("\0".join((source, key, str(part))).encode("utf-8", "surrogatepass")).digest()
    value = int.from_bytes(digest[:16], "big")
    value = value & ~(0xF << 76) | 0x8 << 76
    value = value & ~(0b11 << 62) | 0b10 << 62
    return write_id(f"{value:032x}")
