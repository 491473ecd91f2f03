"""`/v1/recall` and `/v1/why-not`: ask, and ask why something was not answered."""

from fastapi import APIRouter, Request, Response

from recollect.api.answers import respond
from recollect.api.caller import enter
from recollect.api.openapi import refusals
from recollect.api.schemas.recall import Question, RecallAnswer, RecallQuestion, WhyNotAnswer, WhyNotQuestion
from recollect.api.showing import show_recall, show_why_not
from recollect.core.query import Query
from recollect.service.recollect import Recollect

router = APIRouter(prefix="/v1", tags=["recall"])


@router.post("/recall", summary="Recall", response_model=RecallAnswer)
def recall(request: Request, body: RecallQuestion) -> Response:
    """Whole memories, best first. A superseded one is replaced by what supersedes it; answers come attached."""
    call = enter(request)
    recollect = call.recollect("read", *dict.fromkeys(body.spaces))
    answer = call.recall(lambda: recollect.answer(_query(recollect, body)))
    return respond(show_recall(recollect, answer, explained=body.explain))


@router.post("/why-not", summary="Why not?", response_model=WhyNotAnswer, responses=refusals(409))
def why_not(request: Request, body: WhyNotQuestion) -> Response:
    """Say which stage of a recall lost a memory. Ask just as in that recall."""
    call = enter(request)
    recollect = call.recollect("read", *dict.fromkeys(body.spaces))
    memory = recollect.get(body.id)
    call.note("why-not", [memory])
    with call.desk.recalls.take(call.caller.key):
        why = recollect.why_not(_query(recollect, body), body.id, agent=True)
    return respond(show_why_not(recollect.redact(memory, body.as_of), why))


def _query(recollect: Recollect, body: Question) -> Query:
    return recollect.query(
        body.query,
        project=body.project,
        sessions=body.sessions,
        categories=body.categories,
        before=body.before,
        as_of=body.as_of,
        sort=body.sort,
        limit=body.limit,
        budget=body.budget,
        exclude=body.exclude,
    )
