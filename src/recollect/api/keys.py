"""`/v1/keys`: what programs act with on a person's behalf."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response

from recollect.api import examples
from recollect.api.answers import respond
from recollect.api.caller import enter
from recollect.api.openapi import refusals
from recollect.api.schemas.directory import KeyAnswer, KeysAnswer, NewKey, NewKeyAnswer
from recollect.core.access import ApiKey
from recollect.core.record import format_time
from recollect.service.access import issue_key

router = APIRouter(prefix="/v1/keys", tags=["keys"])

Prefix = Annotated[str, Path(pattern=r"^[a-z2-7]{12}$", description="The key's public part.", examples=[examples.KEY])]


@router.get("", summary="List keys", response_model=KeysAnswer)
def list_keys(request: Request) -> Response:
    """Your own; everybody's if you run the server. Their secrets are nowhere."""
    directory = enter(request).directory()
    return respond({"keys": [_show(key) for key in directory.keys()]})  # noqa: SIM118 - it is no dictionary


@router.post("", summary="Make a key", status_code=201, response_model=NewKeyAnswer, responses=refusals(403, 409))
def make(request: Request, body: NewKey) -> Response:
    """The answer has its token, this once. Needs a key of scope admin, and makes none that can do more."""
    call = enter(request)
    key, token = issue_key(
        call.directory(),
        call.server.clock,
        call.caller,
        name=body.name,
        scope=body.scope,
        person=body.person,
        spaces=body.spaces,
        expires_at=body.expires_at,
    )
    return respond({**_show(key), "token": token}, 201, {"Cache-Control": "no-store"})


@router.delete("/{prefix}", summary="Revoke a key", response_model=KeyAnswer, responses=refusals(403, 409))
def revoke(request: Request, prefix: Prefix) -> Response:
    """It holds no longer, from the next request on."""
    return respond(_show(enter(request).directory().revoke_key(prefix)))


def _show(key: ApiKey) -> dict[str, Any]:
    return {
        "prefix": key.prefix,
        "person": key.person,
        "name": key.name,
        "scope": key.scope,
        "spaces": None if key.spaces is None else list(key.spaces),
        "created_at": format_time(key.created_at),
        "expires_at": _time(key.expires_at),
        "last_used_at": _time(key.last_used_at),
        "revoked_at": _time(key.revoked_at),
    }


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else format_time(moment)
