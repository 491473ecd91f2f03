"""What a property needs thousands of times is made cheap: commits here do not wait for the disk."""

from collections.abc import Iterator

import pytest

from recollect.stores.sqlite import database


@pytest.fixture(scope="module", autouse=True)
def _no_waiting_for_the_disk() -> Iterator[None]:
    """Let SQLite hand writes to the system and go on; what survives a power cut is not tested here."""
    with pytest.MonkeyPatch.context() as patch:
        pragmas = (*database._PRAGMAS, "PRAGMA synchronous = OFF")  # noqa: SLF001
        patch.setattr(database, "_PRAGMAS", pragmas)
        yield
