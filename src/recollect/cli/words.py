"""Numbers, times and scopes in a person's words."""

from datetime import UTC, datetime
from typing import Final

from recollect.core.memory import Memory
from recollect.core.query import Scope

_MINUTE: Final = 60
_DAY: Final = 24 * 60 * _MINUTE
_UNITS: Final = (
    ("year", 365 * _DAY),
    ("month", 30 * _DAY),
    ("week", 7 * _DAY),
    ("day", _DAY),
    ("hour", 60 * _MINUTE),
    ("min", _MINUTE),
)
_KILO: Final = 1000

SENSITIVE: Final = "sensitive"
"""What stands in a list for the text of a sensitive memory."""


def ago(moment: datetime, now: datetime) -> str:
    """Say how long ago something was: `just now`, `yesterday`, `3 weeks ago`."""
    seconds = int((now - moment).total_seconds())
    for unit, length in _UNITS:
        many = abs(seconds) // length
        if many:
            if (unit, many) == ("day", 1):
                return "yesterday" if seconds > 0 else "tomorrow"
            length_of_time = count(many, unit, "min" if unit == "min" else "")
            return f"{length_of_time} ago" if seconds > 0 else f"in {length_of_time}"
    return "just now"


def when(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def count(many: int, one: str, more: str = "") -> str:
    return f"{many:,} {one if many == 1 else more or one + 's'}"


def size(octets: int) -> str:
    if octets < _KILO:
        return count(octets, "byte")
    value, units = octets / _KILO, iter(("KB", "MB", "GB"))
    unit = next(units)
    while value >= _KILO and (larger := next(units, None)):
        value, unit = value / _KILO, larger
    return f"{value:.1f} {unit}"


def heading(memory: Memory) -> str:
    """Give what stands for a memory where it was not asked for itself."""
    return SENSITIVE if memory.sensitive else memory.heading


def project_name(project: str) -> str:
    """Give a project's name as its people call it: without the host, or the folder it lies in."""
    head, _, rest = project.partition("/")
    is_folder = not head or head.endswith(":")
    return project.rpartition("/")[2] or project if is_folder else rest or project


def where(scope: Scope) -> str:
    """Say what a scope looks at."""
    parts = [f"in {scope.project} or in what belongs to no project" if scope.project else "in every project"]
    if scope.categories:
        parts.append(f"of category {_either(scope.categories)}")
    if scope.sessions:
        parts.append(f"of session {_either(scope.sessions)}")
    if scope.before is not None:
        parts.append(f"before place {scope.before}")
    if scope.as_of is not None:
        parts.append(f"as of {when(scope.as_of)}")
    return ", ".join(parts)


def _either(names: frozenset[str]) -> str:
    return " or ".join(sorted(names))
