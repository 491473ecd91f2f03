"""A database of its own for each test, open as a worker has it."""

from collections.abc import Iterator

import pytest

from working import Shop, open_shop


@pytest.fixture
def shop(empty_store_database: str) -> Iterator[Shop]:
    with open_shop(empty_store_database) as opened:
        yield opened
