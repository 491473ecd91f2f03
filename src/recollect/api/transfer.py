"""`/v1/export` and `/v1/import`: a whole space as lines of JSON, streamed, however large it is."""

from collections.abc import AsyncIterator, Iterable, Iterator
from functools import partial
from typing import Annotated, Any, Final

import anyio.from_thread
import anyio.to_thread
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect

from recollect.api.answers import respond
from recollect.api.caller import Call, enter
from recollect.api.openapi import refusals
from recollect.api.schemas.fields import SpaceQuery
from recollect.api.schemas.operation import ImportedAnswer
from recollect.core.errors import Refused
from recollect.core.hits import Ref
from recollect.service.recollect import Recollect
from recollect.service.transfer import Imported, export_lines, import_lines

MEDIA_TYPE: Final = "application/x-ndjson"
MOST_PROBLEMS: Final = 100
IMPORT_PATH: Final = "/v1/import"
_PIECE: Final = 1 << 16
"""Characters in one piece of an export: each costs a change of threads."""
_LONGEST_PROBLEM: Final = 500

router = APIRouter(prefix="/v1", tags=["transfer"])

_HEADER_LINE: Final = '{"recollect":"export","format":1}\n'
_STREAM: Final[dict[str, Any]] = {
    "schema": {"type": "string", "description": "One JSON object a line; the first says what the file is."},
    "example": _HEADER_LINE,
}


@router.get(
    "/export",
    summary="Export a space",
    response_class=StreamingResponse,
    responses={200: {"description": "The space, line by line.", "content": {MEDIA_TYPE: _STREAM}}, **refusals(403)},
)
def export(request: Request, space: SpaceQuery = None) -> Response:
    """Every memory with its past, and every link.

    Sensitive memories are in it as plain text, so this is for who administers the space. An export that breaks off
    ends without its last chunk: take it again.
    """
    call = enter(request)
    recollect = call.recollect("administer", space)
    return StreamingResponse(_pieces(call, recollect), media_type=MEDIA_TYPE)


@router.post(
    "/import",
    summary="Import into a space",
    response_model=ImportedAnswer,
    responses=refusals(403),
    openapi_extra={"requestBody": {"required": True, "content": {MEDIA_TYPE: _STREAM}}},
)
async def take_in(
    request: Request,
    space: SpaceQuery = None,
    dry_run: Annotated[bool, Query(description="Only say what would be taken in.")] = False,
) -> Response:
    """Everything goes into the one space, whatever space its lines name. Doing it twice changes nothing.

    What cannot be taken in is reported by its line, and the rest is taken in, some hundred memories at a time: if it
    breaks off, send it again.
    """
    call = await run_in_threadpool(enter, request)
    with call.desk.imports.take(call.caller.key):
        work = partial(_import, call, aiter(request.stream()), space, dry_run=dry_run)
        return await anyio.to_thread.run_sync(work, limiter=call.desk.import_threads)


def _pieces(call: Call, recollect: Recollect) -> Iterator[str]:
    """Put the lines of an export into pieces worth sending; what a piece holds is in the log before it goes."""
    lines: list[str] = []
    refs: list[Ref] = []
    size = 0
    for line in export_lines(recollect.store, recollect.spaces, carry=refs.append):
        lines.append(line)
        size += len(line)
        if size >= _PIECE:
            yield _piece(call, lines, refs)
            size = 0
    yield _piece(call, lines, refs)


def _piece(call: Call, lines: list[str], refs: list[Ref]) -> str:
    if refs:
        call.server.log.note(call.caller, "export", tuple(refs))
    piece = "".join(f"{line}\n" for line in lines)
    lines.clear()
    refs.clear()
    return piece


def _import(call: Call, pieces: AsyncIterator[bytes], space: str | None, *, dry_run: bool) -> Response:
    recollect = call.recollect("write", space)
    lines = split_lines(_fetch(pieces), call.desk.limits.line_bytes)
    outcome = import_lines(recollect.store, lines, into=recollect.space, dry_run=dry_run)
    if not dry_run:
        call.desk.metrics.stored(outcome.added)
    return respond(_show(outcome, dry_run=dry_run))


def _fetch(pieces: AsyncIterator[bytes]) -> Iterator[bytes]:
    """Fetch the pieces of a body, which arrive in the event loop's thread, into this one."""
    while True:
        try:
            piece = anyio.from_thread.run(anext, pieces, None)
        except ClientDisconnect:
            raise Refused("The import broke off before its end: send it again.") from None
        if piece is None:
            return
        yield piece


def split_lines(pieces: Iterable[bytes], longest: int) -> Iterator[str]:
    """Cut pieces of any size into lines. One that is too long is an error, before it is held in memory."""
    begun: list[bytes] = []
    size = 0
    for piece in pieces:
        *ended, rest = piece.split(b"\n")
        for end in ended:
            line = b"".join((*begun, end))
            _check_length(len(line), longest)
            yield _decode(line)
            begun, size = [], 0
        begun.append(rest)
        size += len(rest)
        _check_length(size, longest)
    if size:
        yield _decode(b"".join(begun))


def _check_length(size: int, longest: int) -> None:
    if size > longest:
        raise Refused(
            f"A line of an import has at most {longest:,} bytes. Leave it out and send the rest again: what is taken "
            "in already stays as it is."
        )


def _decode(line: bytes) -> str:
    # Bytes that are no UTF-8 become what no memory may hold, so that their line is reported like any other.
    return line.decode(errors="surrogateescape")


def _show(outcome: Imported, *, dry_run: bool) -> dict[str, Any]:
    return {
        "dry_run": dry_run,
        "added": outcome.added,
        "updated": outcome.updated,
        "unchanged": outcome.unchanged,
        "links": outcome.links,
        "problems": [_shorten(problem) for problem in outcome.problems[:MOST_PROBLEMS]],
        "more_problems": max(0, len(outcome.problems) - MOST_PROBLEMS),
    }


def _shorten(problem: str) -> str:
    """Give a problem as it can be sent: it may quote what is not even text."""
    return problem[:_LONGEST_PROBLEM].encode(errors="replace").decode()
