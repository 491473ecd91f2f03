"""`/v1/vector-sets`: the embedding models, each with the vectors made so far. Workers make the rest."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from recollect.api import examples
from recollect.api.answers import nothing, respond
from recollect.api.caller import Call, enter
from recollect.api.openapi import refusals
from recollect.api.schemas.operation import ActiveModel, ModelName, VectorSetAnswer, VectorSetsAnswer
from recollect.core.errors import NotFound
from recollect.core.ports import Vectors, VectorSet

router = APIRouter(prefix="/v1/vector-sets", tags=["vectors"])

ModelQuery = Annotated[str, Query(min_length=1, max_length=1000, examples=[examples.OTHER_MODEL])]


@router.get("", summary="List vector sets", response_model=VectorSetsAnswer)
def list_sets(request: Request) -> Response:
    """How far each is, as far as you may see."""
    call = enter(request)
    return respond({"vector_sets": [asdict(each) for each in call.server.open_store(call.caller).vectors.sets()]})


@router.post("", summary="Begin a vector set", response_model=VectorSetAnswer, responses=refusals(403))
def begin(request: Request, body: ModelName) -> Response:
    """Every memory that is not sensitive is queued for a vector of this model. For who runs the server.

    Recalls go on with the set in use until they are switched over. One that was begun goes on where it stood.
    """
    call = enter(request)
    vectors = _vectors(call)
    model = call.server.gates.open(body.model).model
    vectors.begin(model)
    return respond(asdict(_find(vectors, model)))


@router.put(
    "/active", summary="Choose the set that recalls use", response_model=VectorSetsAnswer, responses=refusals(403)
)
def switch(request: Request, body: ActiveModel) -> Response:
    """From the next request on. For who runs the server."""
    call = enter(request)
    vectors = _vectors(call)
    if body.model is not None:
        _find(vectors, body.model)
    vectors.switch(body.model)
    return respond({"vector_sets": [asdict(each) for each in vectors.sets()]})


@router.delete("", summary="Drop a vector set", status_code=204, responses=refusals(403, 409))
def drop(request: Request, model: ModelQuery) -> Response:
    """With all its vectors; not the one in use. For who runs the server."""
    call = enter(request)
    vectors = _vectors(call)
    _find(vectors, model)
    vectors.drop(model)
    return nothing()


def _vectors(call: Call) -> Vectors:
    return call.operator_store().vectors


def _find(vectors: Vectors, model: str) -> VectorSet:
    found = next((each for each in vectors.sets() if each.model == model), None)
    if found is None:
        raise NotFound("There is no vector set of this model: `GET /v1/vector-sets` lists those there are.")
    return found
