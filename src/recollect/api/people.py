"""`/v1/people` and `/v1/me`: who there is, and who I am."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response

from recollect.api import examples
from recollect.api.answers import nothing, respond
from recollect.api.caller import enter
from recollect.api.openapi import refusals
from recollect.api.schemas.directory import MeAnswer, NewPerson, PeopleAnswer, PersonAnswer
from recollect.core.access import DEEDS, Person
from recollect.core.record import format_time

router = APIRouter(prefix="/v1", tags=["people"])

Leaver = Annotated[str, Path(pattern=r"^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$", max_length=64, examples=[examples.BEN])]


@router.get("/me", summary="Who am I?", response_model=MeAnswer)
def me(request: Request) -> Response:
    """The person your key acts for, and what it may do where."""
    call = enter(request)
    caller = call.caller
    return respond(
        {
            "person": caller.person,
            "key": caller.key,
            "scope": caller.scope,
            "runs_server": caller.runs_server,
            "own": caller.own,
            "spaces": [
                {"id": space, "role": role, "may": [deed for deed in DEEDS if call.server.allows(caller, deed, space)]}
                for space, role in sorted(caller.spaces.items())
            ],
        }
    )


@router.get("/people", summary="List people", response_model=PeopleAnswer)
def people(request: Request) -> Response:
    """Yourself and those you share a space with; all of them if you run the server."""
    return respond({"people": [_show(person) for person in enter(request).directory().people()]})


@router.post(
    "/people", summary="Add a person", status_code=201, response_model=PersonAnswer, responses=refusals(403, 409)
)
def add(request: Request, body: NewPerson) -> Response:
    """With a space of their own by the same name. For who runs the server; make them a key next."""
    call = enter(request)
    call.check_runs_server()
    return respond(_show(call.directory().make_person(body.id, admin=body.admin)), 201)


@router.delete("/people/{person}", summary="Remove a person", status_code=204, responses=refusals(403, 409))
def remove(request: Request, person: Leaver) -> Response:
    """With their keys, their own space and all that is in it, for good. For who runs the server."""
    call = enter(request)
    call.check_runs_server()
    call.directory().remove_person(person)
    return nothing()


def _show(person: Person) -> dict[str, Any]:
    return {"id": person.id, "admin": person.admin, "created_at": format_time(person.created_at)}
