"""One store of each kind, new for every test. The tests beside this know the port and nothing else."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from callers import open_walled
from fakes import ToyEmbedder
from recollect.core.ports import Store
from recollect.service.gate import Gates

SPACES: Final = ("personal", "ours", "theirs", "another")
"""Every space that the tests write to: on a server a caller's writes make none."""


def _open_sqlite(where: str) -> Store:
    from recollect.stores.sqlite.store import SqliteStore

    return SqliteStore(where, embed_query=Gates(ToyEmbedder).embed_query)


def _open_postgres(where: str) -> Store:
    """Open it as one caller has it: if everything works behind the walls, it does for the operator."""
    return open_walled(where, SPACES, embed_query=Gates(ToyEmbedder).embed_query)


OPENERS: Final[dict[str, Callable[[str], Store]]] = {"sqlite": _open_sqlite, "postgres": _open_postgres}


@pytest.fixture(params=OPENERS)
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Give where a store is: a file, or a database."""
    if request.param == "sqlite":
        return str(tmp_path / "memory.db")
    return str(request.getfixturevalue("empty_store_database"))


@pytest.fixture
def store(request: pytest.FixtureRequest, where: str) -> Iterator[Store]:
    opened = OPENERS[request.node.callspec.params["where"]](where)
    yield opened
    opened.close()


@pytest.fixture
def other(request: pytest.FixtureRequest, store: Store, where: str) -> Iterator[Store]:  # noqa: ARG001 - made first
    """Give the same store once more, as another process has it."""
    opened = OPENERS[request.node.callspec.params["where"]](where)
    yield opened
    opened.close()
