"""Times as they are kept: whole microseconds since 1970, UTC."""

from datetime import UTC, datetime, timedelta
from typing import Final

END_OF_TIME: Final = (1 << 63) - 1
"""Later than any time: what is valid then is valid now."""
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def to_micros(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    return _EPOCH + micros * _MICROSECOND


def moment_of(as_of: datetime | None) -> int:
    return END_OF_TIME if as_of is None else to_micros(as_of)
