"""The OpenAPI document: what FastAPI reads from the endpoints, and what holds for all of them."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel

from recollect import __version__
from recollect.api.problems import MEDIA_TYPE
from recollect.api.schemas.fields import Answer, Body
from recollect.api.schemas.operation import Problem

Responses = dict[int | str, dict[str, Any]]

TAGS: Final = (
    {"name": "memories", "description": "What is kept: one self-contained thing worth knowing each."},
    {"name": "recall", "description": "Finding it again, by word, by meaning and by connection."},
    {"name": "links", "description": "How memories hang together."},
    {"name": "spaces", "description": "Who a memory belongs to: a person or a team. Members, and the log."},
    {"name": "people", "description": "Who there is, and what they may."},
    {"name": "keys", "description": "What programs act with on a person's behalf."},
    {"name": "settings", "description": "How recalls weigh what they find. A change holds from the next request on."},
    {"name": "transfer", "description": "Whole spaces in and out, as lines of JSON."},
    {"name": "vectors", "description": "The embedding models that memories are found by meaning with."},
    {"name": "health", "description": "For whoever runs the server."},
)
DESCRIPTION: Final = """\
Memory for AI agents, for many people: what they and their agents learned, kept behind walls and found again.

**Keys.** Every request under `/v1` carries `Authorization: Bearer rk_...`. A key acts for one person, reaches that \
person's spaces (or those it was made for), and does no more than its scope (`read`, `write`, `admin`) and the \
person's role in the space (`reader`, `writer`, `admin`) both allow. What a key may not see is answered as if it were \
not there.

**Idempotency.** Storing a memory with an `id` of your own is safe to repeat: the same id and body again is answered \
with 200 and the memory that is there, another body under the same id with 409. Changing with a `version` (or \
`If-Match`) is refused with 409 if somebody else changed the memory meanwhile. Making a link, an import and a \
member's role can be repeated without harm.

**Sensitive memories.** Answers hold a placeholder in place of their text, since an agent may be reading. \
`GET /v1/memories/{id}?reveal=true` shows it to who may write in the space, and the log says so.

**Problems.** Whatever is refused is answered as problem details (RFC 9457, `application/problem+json`). 429 and 503 \
say in `Retry-After` when to try again.
"""

_MEANINGS: Final[Mapping[int, str]] = {
    400: "The body cannot be read.",
    401: "There is no key, or not one that holds.",
    403: "You may see it, but not do that.",
    404: "It is not there, or not yours to see.",
    408: "The body did not arrive in time.",
    409: "It is not as you expect it to be: it was changed meanwhile, or the id or name is taken.",
    413: "The body is too large.",
    422: "The request does not fit, or cannot be kept or asked as given.",
    429: "More than the key is let through at a time.",
    503: "The database cannot be reached now, or is held by others.",
}
_ALWAYS: Final = (401, 404, 422, 429, 503)
"""404 too: any request may name a space that is not there."""
_WITH_BODY: Final = (400, 408, 413)


def refusals(*statuses: int) -> Responses:
    """Document that an operation may be refused so; what can be refused everywhere needs no mention."""
    return {status: {"description": _MEANINGS[status]} for status in statuses}


def describe(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        document = get_openapi(
            title="Recollect",
            version=__version__,
            summary="Memory for AI agents, for many people.",
            description=DESCRIPTION,
            routes=app.routes,
            tags=list(TAGS),
        )
        schemas = document["components"]["schemas"]
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        problem = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas |= problem.pop("$defs")
        schemas["Problem"] = problem
        # FastAPI leaves out what is null, also in examples.
        for model in (*_below(Body), *_below(Answer)):
            shown = model.model_json_schema().get("examples")
            if shown and model.__name__ in schemas:
                schemas[model.__name__]["examples"] = shown
        document["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        for path, operations in document["paths"].items():
            for operation in operations.values():
                _finish(path, operation)
        app.openapi_schema = document
    return app.openapi_schema


def _below(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for each in model.__subclasses__():
        yield each
        yield from _below(each)


def _finish(path: str, operation: dict[str, Any]) -> None:
    responses: dict[str, Any] = operation["responses"]
    if path.startswith("/v1/"):
        operation["security"] = [{"key": []}]
        expected = (*_ALWAYS, *(_WITH_BODY if "requestBody" in operation else ()))
        for status in expected:
            responses[str(status)] = {"description": _MEANINGS[status]}
    for status, response in responses.items():
        if int(status) in _MEANINGS and "content" not in response:
            response["content"] = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
        if status == "401":
            response["headers"] = {"WWW-Authenticate": {"schema": {"type": "string"}}}
        if status in {"429", "503"}:
            response["headers"] = {"Retry-After": {"schema": {"type": "string"}, "description": "Seconds."}}
    operation["responses"] = dict(sorted(responses.items()))
