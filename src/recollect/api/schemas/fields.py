"""The kinds of values that requests are made of, each with its bounds and the line that explains it."""

from datetime import UTC, datetime
from typing import Annotated, Final

from fastapi import Path, Query
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from recollect.api import examples
from recollect.core.access import NAME_LIMIT
from recollect.core.memory import LABEL_LIMIT, LABELS_LIMIT, PATH_LIMIT
from recollect.core.query import LARGEST_LIMIT

_ID: Final = r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
_HANDLE: Final = r"^[0-9A-Fa-f-]{4,36}$"
_NAME: Final = r"^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$"
# U+0000 is in no text that is kept, so asking for it is a mistake.
_TEXT: Final = r"^[^\u0000]*$"


class Body(BaseModel):
    """A request's body: nothing is converted and nothing that is not known is passed over."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Answer(BaseModel):
    """A response, for the documentation: answers are written without it."""

    model_config = ConfigDict(extra="forbid")


def _to_utc(moment: datetime) -> datetime:
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("no time that can be told in UTC") from None


def _refuse_number(value: object) -> object:
    """Let no number pass for a time: it would be taken for seconds, or for milliseconds, since 1970."""
    try:
        float(value)  # type: ignore[arg-type] # whatever it is
    except (TypeError, ValueError):
        return value
    raise ValueError("a time is written as 2026-05-31T18:00:00Z, not as a number")


Moment = Annotated[datetime, Field(strict=False), BeforeValidator(_refuse_number), AfterValidator(_to_utc)]
"""A time in ISO 8601; one without a zone is taken as UTC."""
Id = Annotated[str, Field(pattern=_ID, examples=[examples.NEW])]
Handle = Annotated[str, Field(pattern=_HANDLE, examples=[examples.TUESDAYS])]
Name = Annotated[str, Field(pattern=_NAME, max_length=NAME_LIMIT)]
Label = Annotated[str, Field(min_length=1, max_length=LABEL_LIMIT, pattern=_TEXT)]
Place = Annotated[str, Field(min_length=1, max_length=PATH_LIMIT, pattern=_TEXT)]
"""A project or a session: a folder's path can be one."""
Labels = Annotated[list[Label], Field(max_length=LABELS_LIMIT)]
Most = Annotated[int, Field(ge=1, le=LARGEST_LIMIT)]

# Parts of an address.
MemoryPath = Annotated[
    str,
    Path(pattern=_HANDLE, description="The memory's id, or its last characters.", examples=[examples.TUESDAYS]),
]
ForgottenPath = Annotated[str, Path(pattern=_HANDLE, examples=[examples.FORGOTTEN])]
SpacePath = Annotated[
    str, Path(pattern=_NAME, max_length=NAME_LIMIT, description="The space.", examples=[examples.CREW])
]
PersonPath = Annotated[
    str, Path(pattern=_NAME, max_length=NAME_LIMIT, description="The person.", examples=[examples.BEN])
]
SpaceQuery = Annotated[
    str | None,
    Query(
        pattern=_NAME,
        max_length=NAME_LIMIT,
        description="The space. Your own if you leave it out.",
        examples=[examples.CREW],
    ),
]
AsOfQuery = Annotated[
    Moment | None,
    Query(description="What was known at this time, in ISO 8601; UTC unless it says otherwise."),
]
