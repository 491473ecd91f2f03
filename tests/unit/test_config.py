import os
from pathlib import Path

import pytest

from recollect.config import read_config


def test_the_defaults(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without any variable the store is in the home folder, the space is personal and the project comes from git."""
    monkeypatch.setenv("HOME", str(tmp_path))
    config = read_config({})
    assert config.store == str(tmp_path / ".recollect" / "memory.db")
    assert (config.space, config.project, config.folder) == ("personal", None, os.getcwd())


def test_every_variable_counts() -> None:
    """Home, store, space and project are each read from their variable."""
    home = read_config({"RECOLLECT_HOME": "/data"})
    assert home.store == os.path.join("/data", "memory.db")
    config = read_config(
        {
            "RECOLLECT_HOME": "/data",
            "RECOLLECT_STORE": "/else/notes.db",
            "RECOLLECT_SPACE": "team",
            "RECOLLECT_PROJECT": "site",
        }
    )
    assert (config.store, config.space, config.project) == ("/else/notes.db", "team", "site")


def test_an_empty_variable_is_as_none_except_for_the_project() -> None:
    """An empty home, store or space means the default; an empty project means no project at all."""
    empty = read_config({"RECOLLECT_HOME": "", "RECOLLECT_STORE": "", "RECOLLECT_SPACE": "", "RECOLLECT_PROJECT": ""})
    default = read_config({})
    assert (empty.store, empty.space) == (default.store, default.space)
    assert (empty.project, default.project) == ("", None)


def test_a_folder_that_is_gone_is_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever stands in a folder that was removed can still remember: they stand nowhere."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert read_config({}).folder == ""


def test_the_environment_is_read_when_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process's own environment is the default."""
    monkeypatch.setenv("RECOLLECT_SPACE", "from the environment")
    assert read_config().space == "from the environment"


def test_a_tilde_is_the_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clients that set the variables in a file of theirs have no shell to expand the tilde."""
    monkeypatch.setenv("HOME", "/home/ana")
    assert read_config({"RECOLLECT_HOME": "~/notes"}).store == "/home/ana/notes/memory.db"
    assert read_config({"RECOLLECT_STORE": "~/a.db"}).store == "/home/ana/a.db"
