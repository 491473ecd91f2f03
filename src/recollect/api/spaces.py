"""`/v1/spaces`: the spaces that one may see, who is in them, and what was done there."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Path, Query, Request, Response

from recollect.api import examples
from recollect.api.answers import nothing, respond
from recollect.api.caller import Call, enter
from recollect.api.openapi import refusals
from recollect.api.schemas.directory import (
    AuditAnswer,
    MemberAnswer,
    MembersAnswer,
    NewRole,
    NewSpace,
    SpaceAnswer,
    SpacesAnswer,
)
from recollect.api.schemas.fields import Moment, PersonPath, SpacePath
from recollect.core.access import SpaceInfo
from recollect.core.errors import NotAllowed, NotFound
from recollect.core.record import format_time

MOST_ENTRIES: Final = 1000

router = APIRouter(prefix="/v1/spaces", tags=["spaces"])

Before = Annotated[Moment | None, Query(description="Only what was done before this time.")]
Entries = Annotated[int, Query(ge=1, le=MOST_ENTRIES)]
Gone = Annotated[str, Path(pattern=r"^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$", max_length=64, examples=[examples.OLD_TEAM])]


@router.get("", summary="List spaces", response_model=SpacesAnswer)
def list_spaces(request: Request) -> Response:
    """Those that you may see."""
    return respond({"spaces": [_show(space) for space in enter(request).directory().spaces()]})


@router.post(
    "", summary="Make a team's space", status_code=201, response_model=SpaceAnswer, responses=refusals(403, 409)
)
def make(request: Request, body: NewSpace) -> Response:
    """Whoever makes it administers it. Needs a key of scope admin."""
    call = enter(request)
    if call.caller.scope != "admin":
        raise NotAllowed("Making a space needs a key of scope admin.")
    return respond(_show(call.directory().make_space(body.id, call.caller.person)), 201)


@router.get("/{space}", summary="Look at a space", response_model=SpaceAnswer)
def look(request: Request, space: SpacePath) -> Response:
    return respond(_show(_find(enter(request), space)))


@router.delete("/{space}", summary="Remove a team's space", status_code=204, responses=refusals(403, 409))
def remove(request: Request, space: Gone) -> Response:
    """All that is in it is gone for good."""
    call = enter(request)
    call.server.check(call.caller, "administer", space)
    call.directory().remove_space(space)
    return nothing()


@router.get("/{space}/members", summary="List a space's members", response_model=MembersAnswer)
def members(request: Request, space: SpacePath) -> Response:
    call = enter(request)
    call.server.check(call.caller, "read", space)
    found = call.directory().members(space)
    return respond({"members": [{"person": member.person, "role": member.role} for member in found]})


@router.put(
    "/{space}/members/{person}",
    summary="Let somebody in, or change their role",
    response_model=MemberAnswer,
    responses=refusals(403, 409),
)
def set_member(request: Request, space: SpacePath, person: PersonPath, body: NewRole) -> Response:
    """A space keeps at least one admin."""
    call = enter(request)
    call.server.check(call.caller, "administer", space)
    member = call.directory().set_member(space, person, body.role)
    return respond({"person": member.person, "role": member.role})


@router.delete(
    "/{space}/members/{person}",
    summary="Remove a member",
    status_code=204,
    responses=refusals(403, 409),
)
def remove_member(request: Request, space: SpacePath, person: PersonPath) -> Response:
    """Who administers the space removes others; everybody may leave."""
    call = enter(request)
    leaves = person == call.caller.person
    call.server.check(call.caller, "read" if leaves else "administer", space)
    call.directory().remove_member(space, person)
    return nothing()


@router.get("/{space}/audit", summary="Read a space's log", response_model=AuditAnswer, responses=refusals(403))
def audit(request: Request, space: SpacePath, limit: Entries = 100, before: Before = None) -> Response:
    """Who read, wrote and deleted what, newest first; for who administers the space."""
    call = enter(request)
    call.server.check(call.caller, "administer", space)
    entries = call.directory().audit(space, limit, before)
    return respond(
        {
            "entries": [
                {
                    "at": format_time(entry.at),
                    "key": entry.key,
                    "person": entry.person,
                    "deed": entry.deed,
                    "memories": list(entry.memories),
                }
                for entry in entries
            ]
        }
    )


def _find(call: Call, space: str) -> SpaceInfo:
    found = next((each for each in call.directory().spaces() if each.id == space), None)
    if found is None:
        raise NotFound(f"There is no space {space!r} that you may see.")
    return found


def _show(space: SpaceInfo) -> dict[str, Any]:
    return {
        "id": space.id,
        "owner": space.owner,
        "created_at": format_time(space.created_at),
        "memories": space.memories,
        "role": space.role,
    }
