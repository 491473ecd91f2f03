"""What went wrong, as problem details (RFC 9457): an error in, the answer to the request out.

What was given is never repeated, a fault of ours tells nothing, and what one may not see is answered in the same
words as what is not there.
"""

import json
import logging
import math
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from recollect.api.caller import enter
from recollect.api.wording import reword
from recollect.core.errors import (
    Ambiguous,
    BadQuery,
    BadSetting,
    Conflict,
    EmbedderBusy,
    EmbedderError,
    NotAllowed,
    NotFound,
    RecollectError,
    Refused,
    StoreAway,
    StoreBusy,
    StoreTooNew,
    TooLong,
    TooMany,
    Unauthorised,
)

MEDIA_TYPE: Final = "application/problem+json"
RETRY_SECONDS: Final = 1

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Kind:
    status: int
    name: str
    title: str

    @property
    def type(self) -> str:
        return f"urn:recollect:{self.name}"


# The first that fits holds, so a kind of error stands before what it is a kind of.
KINDS: Final[tuple[tuple[type[RecollectError], Kind], ...]] = (
    (Unauthorised, Kind(401, "unauthorised", "No key, or not one that holds")),
    (NotAllowed, Kind(403, "not-allowed", "You may see it, but not do that")),
    (NotFound, Kind(404, "not-found", "Not there, or not yours to see")),
    (Conflict, Kind(409, "conflict", "It is not as you expect it to be")),
    (Ambiguous, Kind(409, "ambiguous", "The id fits several memories")),
    (TooLong, Kind(422, "too-long", "The memory is too long")),
    (Refused, Kind(422, "refused", "It cannot be kept as given")),
    (BadQuery, Kind(422, "bad-query", "This cannot be asked")),
    (BadSetting, Kind(422, "bad-setting", "The setting cannot be so")),
    (TooMany, Kind(429, "too-many", "More than is let through at a time")),
    (EmbedderBusy, Kind(503, "model-busy", "The embedding model does not answer now")),
    (EmbedderError, Kind(422, "model", "The embedding model cannot be had")),
    (StoreAway, Kind(503, "store-away", "The database cannot be reached now")),
    (StoreBusy, Kind(503, "store-busy", "The database is held by others")),
    (StoreTooNew, Kind(503, "store-too-new", "The database is of a newer Recollect")),
)
INVALID: Final = Kind(422, "invalid", "The request does not fit what is asked for")
TOO_LARGE: Final = Kind(413, "too-large", "The body is too large")
TOO_SLOW: Final = Kind(408, "too-slow", "The body did not arrive in time")
NOT_READY: Final = Kind(503, "not-ready", "It cannot serve now")
FAULT: Final = Kind(500, "fault", "A fault of Recollect's own")


def problem(kind: Kind, detail: str, headers: Mapping[str, str] | None = None, **more: Any) -> Response:  # noqa: ANN401 - JSON
    body = {"type": kind.type, "title": kind.title, "status": kind.status, "detail": detail, **more}
    return Response(json.dumps(body), kind.status, headers, MEDIA_TYPE)


def describe(error: RecollectError) -> Response:
    """Turn an error of ours into an answer."""
    kind = next((kind for fits, kind in KINDS if isinstance(error, fits)), None)
    if kind is None:
        return describe_fault(error)
    return problem(kind, _detail(error), _headers(error, kind))


def describe_fault(error: BaseException) -> Response:
    """Answer for what nobody expected; the log learns where it was, and neither learns what it was about."""
    place = traceback.extract_tb(error.__traceback__)[-1:]
    where = "".join(f" at {frame.filename}:{frame.lineno}" for frame in place)
    logger.error("a request failed: %s%s", type(error).__name__, where)
    return problem(FAULT, "Try again; if it stays so, tell whoever runs the server.")


def install(app: FastAPI) -> None:
    app.exception_handler(RecollectError)(_on_ours)
    app.exception_handler(RequestValidationError)(_on_invalid)
    app.exception_handler(HTTPException)(_on_http)


async def _on_ours(_request: Request, error: RecollectError) -> Response:
    return describe(error)


async def _on_invalid(request: Request, error: RequestValidationError) -> Response:
    """Say what does not fit, to who may ask at all."""
    try:
        await run_in_threadpool(enter, request)
    except RecollectError as refusal:
        return describe(refusal)
    wrong = [{"where": _where(each["loc"]), "what": str(each["msg"])} for each in error.errors()]
    detail = " ".join(f"{each['where']}: {each['what']}." for each in wrong[:5])
    return problem(INVALID, detail, errors=wrong)


async def _on_http(_request: Request, error: HTTPException) -> Response:
    phrase = HTTPStatus(error.status_code).phrase
    kind = Kind(error.status_code, phrase.lower().replace(" ", "-"), phrase)
    details = {
        400: "The body cannot be read as JSON in UTF-8.",
        404: "There is nothing at this address: /docs lists what there is.",
        405: "This address does not take that method: /docs lists what there is.",
    }
    return problem(kind, details.get(error.status_code, phrase), error.headers)


def _detail(error: RecollectError) -> str:
    if isinstance(error, StoreAway):
        # What it says names the database's host.
        logger.warning("the database is away: %s", error)
        return "The database cannot be reached, or has no connection to spare. Try again in a moment."
    return reword(str(error))


def _headers(error: RecollectError, kind: Kind) -> dict[str, str]:
    if kind.status == HTTPStatus.UNAUTHORIZED:
        return {"WWW-Authenticate": 'Bearer realm="recollect"'}
    if kind.status in {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE}:
        return {"Retry-After": str(math.ceil(getattr(error, "seconds", RETRY_SECONDS)))}
    return {}


def _where(parts: Iterable[object]) -> str:
    return ".".join(str(part) for part in parts)
