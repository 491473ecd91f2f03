"""`/v1/memories`: keep, read, list, change, forget, bring back."""

import base64
import re
import uuid
from dataclasses import replace
from http import HTTPStatus
from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, Query, Request, Response

from recollect.api.answers import nothing, respond, versioned
from recollect.api.caller import enter
from recollect.api.openapi import refusals
from recollect.api.schemas.fields import AsOfQuery, ForgottenPath, Label, MemoryPath, Place, SpaceQuery
from recollect.api.schemas.memories import Change, HistoryAnswer, MemoryAnswer, NewMemory, PageAnswer
from recollect.core.errors import NotFound, Refused
from recollect.core.memory import Memory
from recollect.core.query import LARGEST_LIMIT
from recollect.core.record import format_time, to_record
from recollect.core.sensitivity import may_leave

PAGE: Final = 50
_VERSION: Final = re.compile(r'(?:W/)?"?(\d{1,9})"?')

router = APIRouter(prefix="/v1/memories", tags=["memories"])

Cursor = Annotated[
    str | None,
    Query(pattern=r"^[A-Za-z0-9_-]{22}$", description="Where to go on: the `next` of the page before."),
]
IfMatch = Annotated[str | None, Header(description="The version that is to be changed, as its `ETag` has it.")]
Purge = Annotated[
    bool, Query(description="Remove it and its whole past for good; needs a role and a key that may administer.")
]
Reveal = Annotated[
    bool, Query(description="Show the text of a sensitive memory, to who may write in the space. It is logged.")
]


@router.post(
    "",
    summary="Keep a memory",
    status_code=201,
    response_model=MemoryAnswer,
    responses={200: {"model": MemoryAnswer, "description": "It was kept before."}, **refusals(403, 409)},
)
def create(request: Request, body: NewMemory) -> Response:
    """Once this answers, the memory is on disk and found by its words; by meaning it is found soon after."""
    call = enter(request)
    recollect = call.recollect("write", body.space)
    now = recollect.clock()
    fields = body.model_dump(exclude={"id", "space", "tags", "keywords"})
    memory = Memory(
        id=body.id or recollect.make_id(now),
        space=recollect.space,
        created_at=now,
        updated_at=now,
        tags=tuple(body.tags),
        keywords=tuple(body.keywords),
        **fields,
    )
    kept, is_new = recollect.keep(memory)
    if is_new:
        call.desk.metrics.stored()
    return versioned(to_record(recollect.redact(kept)), HTTPStatus.CREATED if is_new else HTTPStatus.OK)


@router.get("", summary="List memories", response_model=PageAnswer)
def page(
    request: Request,
    *,
    space: SpaceQuery = None,
    project: Annotated[Place | None, Query(description="This project, and what belongs to none.")] = None,
    category: Annotated[list[Label] | None, Query(description="Only these categories.")] = None,
    session: Annotated[list[Place] | None, Query(description="Only these sessions.")] = None,
    limit: Annotated[int, Query(ge=1, le=LARGEST_LIMIT)] = PAGE,
    cursor: Cursor = None,
) -> Response:
    """Newest first. To find something, recall is better."""
    call = enter(request)
    recollect = call.recollect("read", space)
    scope = recollect.scope(project=project, sessions=session or (), categories=category or ())
    try:
        found = recollect.page(scope, limit + 1, None if cursor is None else _read_cursor(cursor))
    except NotFound:
        raise Refused("This cursor no longer holds: begin anew without one.") from None
    shown = found[:limit]
    call.note("list", shown)
    return respond(
        {
            "memories": [to_record(recollect.redact(memory)) for memory in shown],
            "next": _write_cursor(shown[-1].id) if len(found) > limit else None,
        }
    )


@router.get("/{memory_id}", summary="Read a memory", response_model=MemoryAnswer, responses=refusals(403, 409))
def read(
    request: Request, memory_id: MemoryPath, space: SpaceQuery = None, as_of: AsOfQuery = None, reveal: Reveal = False
) -> Response:
    """Forgotten or not, as it is or as it was."""
    call = enter(request)
    recollect = call.recollect("read", space)
    if reveal:
        call.server.check(call.caller, "write", recollect.space)
    memory = recollect.get(memory_id, as_of)
    seen = recollect.redact(memory, as_of)
    revealing = reveal and seen.sensitive
    call.note("reveal" if revealing else "read", [memory])
    return versioned(to_record(memory if revealing else seen))


@router.patch("/{memory_id}", summary="Change a memory", response_model=MemoryAnswer, responses=refusals(403, 409))
def change(
    request: Request, memory_id: MemoryPath, body: Change, space: SpaceQuery = None, if_match: IfMatch = None
) -> Response:
    """Only what is given changes; what it was before stays in its history."""
    call = enter(request)
    recollect = call.recollect("write", space)
    changes: dict[str, Any] = body.model_dump(exclude_unset=True, exclude={"version"})
    changed = recollect.edit(memory_id, version=_version(body.version, if_match), **changes)
    return versioned(to_record(recollect.redact(changed)))


@router.delete(
    "/{memory_id}",
    summary="Forget a memory",
    response_model=MemoryAnswer,
    responses={204: {"description": "It was removed for good."}, **refusals(403, 409)},
)
def forget(request: Request, memory_id: MemoryPath, space: SpaceQuery = None, purge: Purge = False) -> Response:
    """No recall finds it again. It can be brought back, unless it was purged."""
    call = enter(request)
    recollect = call.recollect("administer" if purge else "write", space)
    if purge:
        recollect.purge(memory_id)
        return nothing()
    return versioned(to_record(recollect.redact(recollect.forget(memory_id))))


@router.post(
    "/{memory_id}/restore",
    summary="Bring back a forgotten memory",
    response_model=MemoryAnswer,
    responses=refusals(403, 409),
)
def restore(request: Request, memory_id: ForgottenPath, space: SpaceQuery = None) -> Response:
    call = enter(request)
    recollect = call.recollect("write", space)
    return versioned(to_record(recollect.redact(recollect.restore(memory_id))))


@router.get(
    "/{memory_id}/history", summary="Read a memory's past", response_model=HistoryAnswer, responses=refusals(409)
)
def history(request: Request, memory_id: MemoryPath, space: SpaceQuery = None) -> Response:
    """Every state it was in. What was sensitive at any time is hidden in all of them."""
    call = enter(request)
    recollect = call.recollect("read", space)
    past = recollect.history(memory_id)
    is_sensitive = not all(may_leave(revision.memory) for revision in past)
    call.note("history", [past[-1].memory])
    states = []
    for revision in past:
        memory = recollect.redact(replace(revision.memory, sensitive=is_sensitive))
        until = None if revision.until is None else format_time(revision.until)
        states.append({**to_record(memory), "until": until})
    return respond({"states": states})


def _version(given: int | None, if_match: str | None) -> int | None:
    """Give the version that is expected to be there; either way to say it will do."""
    if if_match is None or if_match.strip() == "*":
        return given
    read = _VERSION.fullmatch(if_match.strip())
    if read is None:
        raise Refused('If-Match is a version as `ETag` gives it, such as "3".')
    if given is not None and given != int(read[1]):
        raise Refused("If-Match and `version` name different versions: give one of them.")
    return int(read[1])


def _write_cursor(memory_id: str) -> str:
    return base64.urlsafe_b64encode(uuid.UUID(memory_id).bytes).decode().rstrip("=")


def _read_cursor(cursor: str) -> str:
    return str(uuid.UUID(bytes=base64.urlsafe_b64decode(f"{cursor}==")))
