"""Every hook runs in a home of its own, which the variables name."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from hook_home import Home
from recollect.config import read_config
from recollect.journal.file import Journal


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path))
    monkeypatch.setenv("RECOLLECT_PROJECT", "")
    for name in ("RECOLLECT_STORE", "RECOLLECT_SPACE"):
        monkeypatch.delenv(name, raising=False)
    config = read_config()
    with closing(Journal(config.journal)) as journal:
        yield Home(config, journal)
