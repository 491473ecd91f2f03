"""`/v1/settings`: how recalls weigh what they find, for the server and for single spaces.

Every recall reads them anew, so a change holds from the next request on, whichever process answers it.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Request, Response

from recollect.api.answers import respond
from recollect.api.caller import enter
from recollect.api.openapi import refusals
from recollect.api.schemas.fields import SpaceQuery
from recollect.api.schemas.operation import SettingsAnswer, SettingsChange
from recollect.core.settings import SETTINGS, Settings, Value, parse_setting

router = APIRouter(prefix="/v1/settings", tags=["settings"])


@router.get("", summary="Read the settings", response_model=SettingsAnswer)
def read(request: Request, space: SpaceQuery = None) -> Response:
    """Those in force on the server or, where a space is named, in it."""
    call = enter(request)
    if space is not None:
        call.server.check(call.caller, "read", space)
    return respond(_show(space, call.server.open_store(call.caller).settings.read(space)))


@router.patch("", summary="Change settings", response_model=SettingsAnswer, responses=refusals(403))
def change(request: Request, body: Annotated[SettingsChange, Body()], space: SpaceQuery = None) -> Response:
    """For the server, by who runs it; for a space, over the server's, by who administers the space.

    Each name is one of those that `GET` lists; `null` goes back to the default, in a space to the server's.
    """
    call = enter(request)
    if space is None:
        call.check_runs_server()
    else:
        call.server.check(call.caller, "administer", space)
    changes: dict[str, Value | None] = {
        name: None if value is None else parse_setting(name, str(value))
        for name, value in body.model_dump(by_alias=True, exclude_unset=True).items()
    }
    keeper = call.server.open_store(call.caller).settings
    for name, value in changes.items():
        keeper.set(name, value, space)
    return respond(_show(space, keeper.read(space)))


def _show(space: str | None, settings: Settings) -> dict[str, Any]:
    shown = {}
    for name, setting in SETTINGS.items():
        bounded = not setting.choices
        shown[name] = {
            "value": settings.values.get(name, setting.default),
            "default": setting.default,
            "about": setting.about,
            "least": setting.least if bounded else None,
            "most": setting.most if bounded else None,
            "choices": None if bounded else list(setting.choices),
        }
    return {"space": space, "settings": shown}
