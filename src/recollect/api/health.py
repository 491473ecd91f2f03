"""`/healthz`, `/readyz`, `/metrics`: for whoever runs the server. They ask for no key and tell nothing of anybody."""

from http import HTTPStatus

from fastapi import APIRouter, Request, Response

from recollect.api.answers import respond
from recollect.api.caller import desk_of
from recollect.api.openapi import refusals
from recollect.api.problems import NOT_READY, problem
from recollect.api.schemas.operation import HealthAnswer, ReadyAnswer
from recollect.core.errors import RecollectError, StoreAway

router = APIRouter(tags=["health"])


@router.get("/healthz", summary="Is the process alive?", response_model=HealthAnswer)
async def alive() -> Response:
    """It needs neither the database nor a free thread."""
    return respond({"status": "ok"})


@router.get("/readyz", summary="Can it serve?", response_model=ReadyAnswer, responses=refusals(503))
def ready(request: Request) -> Response:
    """Whether the database can be reached and has this program's schema, and whether it finds by meaning."""
    try:
        found = desk_of(request).server.examine()
    except StoreAway:
        return problem(NOT_READY, "The database cannot be reached.", {"Retry-After": "1"})
    except RecollectError as error:
        return problem(NOT_READY, str(error), {"Retry-After": "1"})
    finds_by = "words and meaning" if found.by_meaning else "words only"
    return respond({"status": "ready", "schema": found.schema, "finds_by": finds_by})


@router.get(
    "/metrics",
    summary="Figures for Prometheus",
    response_class=Response,
    responses={200: {"description": "The figures of this process.", "content": {"text/plain": {}}}},
)
def metrics(request: Request) -> Response:
    figures, media_type = desk_of(request).metrics.expose()
    return Response(figures, HTTPStatus.OK, media_type=media_type)
