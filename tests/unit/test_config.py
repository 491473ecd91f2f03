import os
from pathlib import Path

import pytest

from recollect.config import read_config, read_folders


def test_the_defaults(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without any variable the store is in the home folder, the space is personal and the project comes from git."""
    monkeypatch.setenv("HOME", str(tmp_path))
    config = read_config({})
    assert config.store == str(tmp_path / ".recollect" / "memory.db")
    assert config.models == str(tmp_path / ".recollect" / "models")
    assert (config.space, config.project, config.folder) == ("personal", None, os.getcwd())
    assert config.keys == {}


def test_every_variable_counts() -> None:
    """Home, store, models, space and project are each read from their variable."""
    home = read_config({"RECOLLECT_HOME": "/data"})
    assert home.store == os.path.join("/data", "memory.db")
    assert home.models == os.path.join("/data", "models")
    config = read_config(
        {
            "RECOLLECT_HOME": "/data",
            "RECOLLECT_STORE": "/else/notes.db",
            "RECOLLECT_MODELS": "/else/models",
            "RECOLLECT_SPACE": "team",
            "RECOLLECT_PROJECT": "site",
        }
    )
    assert (config.store, config.space, config.project) == ("/else/notes.db", "team", "site")
    assert config.models == "/else/models"
    assert read_config({"RECOLLECT_FOLDER": "/work/shop"}).folder == "/work/shop"
    for unfilled in ("", "${workspaceFolder}"):
        assert read_config({"RECOLLECT_FOLDER": unfilled}).folder == os.getcwd()


def test_an_empty_variable_is_as_none_except_for_the_project() -> None:
    """An empty home, store, models or space means the default; an empty project means no project at all."""
    names = ("HOME", "STORE", "MODELS", "SPACE", "PROJECT")
    empty = read_config({f"RECOLLECT_{name}": "" for name in names})
    default = read_config({})
    assert (empty.store, empty.models, empty.space) == (default.store, default.models, default.space)
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
    assert read_config({"RECOLLECT_MODELS": "~/models"}).models == "/home/ana/models"


def test_keys_are_read_and_not_shown() -> None:
    """Each provider's key is read without the line end that a file gave it, and no print of a configuration has it."""
    config = read_config(
        {"OPENAI_API_KEY": "sk-1\n", "VOYAGE_API_KEY": "pa-2", "CO_API_KEY": "co-3", "RECOLLECT_EMBEDDER_KEY": ""}
    )
    assert config.keys == {"OPENAI_API_KEY": "sk-1", "VOYAGE_API_KEY": "pa-2", "COHERE_API_KEY": "co-3"}
    assert read_config({"COHERE_API_KEY": "long", "CO_API_KEY": "short"}).keys == {"COHERE_API_KEY": "long"}
    assert "sk-1" not in repr(config)


def test_the_database_is_read_and_not_shown() -> None:
    """The address of the server's Postgres may hold a password, so no print of a configuration has it."""
    config = read_config({"RECOLLECT_DATABASE_URL": "postgresql://ana:secret@db/recollect\n"})
    assert config.database == "postgresql://ana:secret@db/recollect"
    assert "secret" not in repr(config)
    assert read_config({}).database == ""


def test_the_server_and_its_workers_may_have_addresses_of_their_own() -> None:
    """A worker's address is kept apart from the server's, and neither is shown; `dev` has its folder in the home."""
    config = read_config(
        {
            "RECOLLECT_HOME": "/data",
            "RECOLLECT_DATABASE_URL": " postgresql://a:secret@pooler/r ",
            "RECOLLECT_WORKER_DATABASE_URL": "postgresql://a:secret@postgres/r",
        }
    )
    assert (config.database, config.worker_database) == (
        "postgresql://a:secret@pooler/r",
        "postgresql://a:secret@postgres/r",
    )
    assert "secret" not in repr(config)
    assert config.postgres == os.path.join("/data", "postgres")


def test_the_folders_of_clients(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each client's settings are looked for where the client keeps them on this system."""
    monkeypatch.setenv("HOME", str(tmp_path))
    linux, mac, windows = (read_folders({}, system) for system in ("linux", "darwin", "win32"))

    assert (linux["claude"], linux["claude_state"]) == (str(tmp_path / ".claude"), str(tmp_path))
    assert linux["vscode"] == str(tmp_path / ".config" / "Code" / "User")
    assert mac["vscode"] == str(tmp_path / "Library" / "Application Support" / "Code" / "User")
    assert windows["vscode"] == str(tmp_path / "AppData" / "Roaming" / "Code" / "User")
    assert linux["zed"] == mac["zed"] == str(tmp_path / ".config" / "zed")
    assert windows["zed"] == str(tmp_path / "AppData" / "Roaming" / "Zed")
    assert linux["installed"] == str(tmp_path / ".recollect" / "installed")


def test_clients_that_were_moved() -> None:
    """The variables by which clients are moved are followed."""
    moved = {
        "CLAUDE_CONFIG_DIR": "/a",
        "CODEX_HOME": "/b",
        "GEMINI_CLI_HOME": "/c",
        "COPILOT_HOME": "/d",
        "XDG_CONFIG_HOME": "/e",
    }
    folders = read_folders(moved, "linux")

    assert (folders["claude"], folders["claude_state"], folders["codex"]) == ("/a", "/a", "/b")
    assert (folders["gemini"], folders["copilot"]) == (os.path.join("/c", ".gemini"), "/d")
    assert (folders["vscode"], folders["zed"]) == (os.path.join("/e", "Code", "User"), os.path.join("/e", "zed"))
    assert read_folders({"APPDATA": "/f"}, "win32")["zed"] == os.path.join("/f", "Zed")
    assert read_folders(moved, "darwin")["zed"] == os.path.expanduser(os.path.join("~", ".config", "zed"))
