"""`/v1/links`: how memories hang together."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from recollect.api import examples
from recollect.api.answers import respond
from recollect.api.caller import enter
from recollect.api.openapi import refusals
from recollect.api.schemas.fields import AsOfQuery, Handle, SpaceQuery
from recollect.api.schemas.memories import Kind, LinkAnswer, LinksAnswer, NewLink
from recollect.core.record import to_link_record

router = APIRouter(prefix="/v1/links", tags=["links"])

Touched = Annotated[Handle, Query(description="The memory whose links are wanted.", examples=[examples.TUESDAYS])]
Source = Annotated[Handle, Query(examples=[examples.TUESDAYS])]
KindQuery = Annotated[Kind, Query(examples=["supersedes"])]
Target = Annotated[Handle, Query(examples=[examples.FRIDAYS])]


@router.post("", summary="Link two memories", response_model=LinkAnswer, responses=refusals(403, 409))
def make(request: Request, body: NewLink) -> Response:
    """Both are of one space. Linking them again changes nothing."""
    recollect = enter(request).recollect("write", body.space)
    return respond(to_link_record(recollect.link(body.source, body.kind, body.target)))


@router.get("", summary="List a memory's links", response_model=LinksAnswer, responses=refusals(409))
def touching(request: Request, memory: Touched, space: SpaceQuery = None, as_of: AsOfQuery = None) -> Response:
    """Those that hold, or held at a time, from it and to it."""
    call = enter(request)
    recollect = call.recollect("read", space)
    found = recollect.get(memory)
    call.note("read", [found])
    links = recollect.links([found], as_of)
    return respond({"links": [to_link_record(link) for link in links if found.id in {link.source, link.target}]})


@router.delete("", summary="End a link", response_model=LinkAnswer, responses=refusals(403, 409))
def end(request: Request, source: Source, kind: KindQuery, target: Target, space: SpaceQuery = None) -> Response:
    """It stays visible to whoever looks back to before."""
    recollect = enter(request).recollect("write", space)
    return respond(to_link_record(recollect.unlink(source, kind, target)))
