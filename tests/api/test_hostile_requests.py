"""Whatever is sent, by the document or against it: no fault of ours, and no answer that the document does not know.

For each operation one request is made up for every hundred that `RECOLLECT_FUZZ_EXAMPLES` asks for, besides the
document's own examples and those at the bounds of each parameter.
"""

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import schemathesis
from hypothesis import settings
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
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

EXAMPLES = max(1, int(os.environ.get("RECOLLECT_FUZZ_EXAMPLES", "1000")) // 100)
CHECKS = [
    schemathesis.checks.not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    response_headers_conformance,
    unsupported_method,
]
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)


@schemathesis.serializer("application/x-ndjson")
def as_it_is(_context: Any, value: Any) -> bytes:  # noqa: ANN401 - schemathesis's
    return value if isinstance(value, bytes) else str(value).encode(errors="replace")


@dataclass
class Served:
    address: str
    headers: dict[str, str]
    answered: Counter[int] = field(default_factory=Counter)
    """How many requests were answered with each status."""


@pytest.fixture(scope="module")
def served(postgres_url: str, template_database: str) -> Iterator[Served]:
    """Serve the world of the examples; give the address, and what the requests of somebody who may everything carry."""
    with made_database(postgres_url, f"TEMPLATE {template_database} STRATEGY FILE_COPY") as url:
        server = with_toys(open_test_server(url))
        world = World(server)
        populate(world)
        with in_process(server) as http:
            populate_memories(Client(http, world.headers(examples.ADA)))
        with over_network(server) as address:
            made = Served(address, world.headers(examples.ADA))
            yield made
        server.close()
    # Shown by `pytest -s`, or with a failure.
    print(f"\n{made.answered.total()} requests, answered with {dict(sorted(made.answered.items()))}")  # noqa: T201


@SCHEMA.parametrize()
@settings(max_examples=EXAMPLES)
def test_every_answer_is_a_documented_one(case: "schemathesis.Case[Any]", served: Served) -> None:
    """Requests made from the document, and spoilt ones, are answered in a way that the document describes."""
    response = case.call(base_url=served.address, headers=served.headers)
    served.answered[response.status_code] += 1
    case.validate_response(response, checks=CHECKS, headers=served.headers)
