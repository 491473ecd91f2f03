"""Whatever is sent, by the document or against it: no fault of ours, and no answer that the document does not know."""

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import settings
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from postgres import made_database
from recollect.api import examples
from serving import (
    DOCUMENT,
    Client,
    World,
    in_process,
    open_test_server,
    over_network,
    populate,
    populate_memories,
    with_toys,
)

CHECKS = [
    schemathesis.checks.not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    response_headers_conformance,
]
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)


@schemathesis.serializer("application/x-ndjson")
def as_it_is(_context: Any, value: Any) -> bytes:  # noqa: ANN401 - schemathesis's
    return value if isinstance(value, bytes) else str(value).encode(errors="replace")


@pytest.fixture(scope="module")
def served(postgres_url: str, template_database: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Serve the world of the examples; give the address, and what Ada's requests carry."""
    with made_database(postgres_url, f"TEMPLATE {template_database} STRATEGY FILE_COPY") as url:
        server = with_toys(open_test_server(url))
        world = World(server)
        populate(world)
        with in_process(server) as http:
            populate_memories(Client(http, world.headers(examples.ADA)))
        with over_network(server) as address:
            yield address, world.headers(examples.ADA)
        server.close()


@SCHEMA.parametrize()
@settings(max_examples=10)
def test_every_answer_is_a_documented_one(case: "schemathesis.Case[Any]", served: tuple[str, dict[str, str]]) -> None:
    """Requests made from the document, and spoilt ones, are answered in a way that the document describes."""
    address, headers = served
    response = case.call(base_url=address, headers=headers)
    case.validate_response(response, checks=CHECKS, headers=headers)
