"""One store of each kind, new for every test. The tests beside this know the port and nothing else."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from fakes import ToyEmbedder
from recollect.core.ports import Store
from recollect.service.gate import Gates


def _open_sqlite(folder: Path) -> Store:
    from recollect.stores.sqlite.store import SqliteStore

    return SqliteStore(str(folder / "memory.db"), embed_query=Gates(ToyEmbedder).embed_query)


OPENERS: Final[dict[str, Callable[[Path], Store]]] = {"sqlite": _open_sqlite}


@pytest.fixture(params=OPENERS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened = OPENERS[request.param](tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def other(request: pytest.FixtureRequest, store: Store, tmp_path: Path) -> Iterator[Store]:  # noqa: ARG001 - made first
    """Give the same store once more, as another process has it."""
    opened = OPENERS[request.node.callspec.params["store"]](tmp_path)
    yield opened
    opened.close()
