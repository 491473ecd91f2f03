from collections.abc import Iterator
from contextlib import closing

import pytest

from recollect.stores.postgres.database import Database
from world import World


@pytest.fixture
def world(empty_store_database: str) -> Iterator[World]:
    with closing(Database.open(empty_store_database, size=4)) as database:
        world = World(database)
        world.populate()
        yield world
