"""The parts put together for real: a file, the system's clock, a project from git."""

import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import recollect
from recollect.config import Config
from recollect.core.memory import is_id
from recollect.wiring import open_recollect


def test_a_python_program_opens_a_file_and_remembers(tmp_path: Path) -> None:
    """`recollect.open` gives a store outside any project, on the real clock, with real ids."""
    with recollect.open(tmp_path / "notes.db") as memory:
        kept = memory.remember("Deploys run from the main branch every Tuesday.")
        assert memory.recall("when do we deploy?").results[0].memory == kept
        assert (kept.project, kept.space) == (None, "personal")
        assert is_id(kept.id)
        assert abs(datetime.now(UTC) - kept.created_at) < timedelta(minutes=1)
    with recollect.open(str(tmp_path / "notes.db"), space="team", project="site") as memory:
        assert (memory.space, memory.project) == ("team", "site")


@pytest.mark.parametrize(("override", "project"), [(None, "github.com/owner/name"), ("mine", "mine"), ("", None)])
def test_the_project_is_the_folders_unless_overridden(tmp_path: Path, override: str | None, project: str) -> None:
    """The folder's git remote names the project; a configured one wins; an empty one means none."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    subprocess.run(
        ["git", "-C", str(tmp_path), "remote", "add", "origin", "https://github.com/owner/name.git"], check=True
    )
    config = Config(store=str(tmp_path / "m.db"), space="personal", folder=str(tmp_path), project=override)
    with open_recollect(config) as memory:
        assert memory.project == project


def test_who_stands_nowhere_stands_in_no_project(tmp_path: Path) -> None:
    """Without a folder there is no project, and the store opens all the same."""
    with open_recollect(Config(store=str(tmp_path / "m.db"), space="personal", folder="", project=None)) as memory:
        assert memory.project is None


def test_the_environment_names_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a configuration the environment is read, and the store's folder is made."""
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path / "deep" / "home"))
    monkeypatch.setenv("RECOLLECT_PROJECT", "")
    monkeypatch.delenv("RECOLLECT_STORE", raising=False)
    with open_recollect():
        assert (tmp_path / "deep" / "home" / "memory.db").exists()
