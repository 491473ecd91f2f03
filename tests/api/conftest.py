"""One server for all tests of the API, over a database that each of them finds empty."""

from collections.abc import Callable, Iterator

import pytest
from fastapi.testclient import TestClient

from recollect.api import examples
from recollect.service.server import Server
from serving import Client, World, in_process, open_test_server, populate


@pytest.fixture(scope="session")
def server(database_url: str) -> Iterator[Server]:
    opened = open_test_server(database_url)
    yield opened
    opened.close()


@pytest.fixture
def world(server: Server, empty_store_database: str) -> Iterator[World]:  # noqa: ARG001 - it is emptied afterwards
    made = World(server)
    populate(made)
    yield made
    # What was read is not to be noted in the next test's database.
    made.flush_log()


@pytest.fixture(scope="session")
def http(server: Server) -> Iterator[TestClient]:
    with in_process(server) as client:
        yield client


Connect = Callable[[str], Client]


@pytest.fixture
def connect(world: World, http: TestClient) -> Connect:
    """Give the way to the server of whoever is named."""
    return lambda name: Client(http, world.headers(name))


@pytest.fixture
def ada(connect: Connect) -> Client:
    return connect(examples.ADA)


@pytest.fixture
def ben(connect: Connect) -> Client:
    return connect(examples.BEN)
