import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

from client_files import (
    JSON_TEXTS,
    JSONC_TEXTS,
    OTHERS,
    PROGRAM,
    TOML_TEXTS,
    install,
    picture,
    place_folders,
    read_json,
    uninstall,
    write_sample,
    write_samples,
)
from recollect.config import KEYS
from recollect.core.errors import Refused
from recollect.installers.catalog import CLIENTS, find_client
from recollect.installers.difference import list_differences
from recollect.installers.files import apply
from recollect.installers.folders import Folders
from recollect.installers.plan import is_installed, plan_install
from recollect.installers.program import find_program

EVERY_CLIENT = pytest.mark.parametrize("name", CLIENTS)


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folders:
    # What survives a power cut is not tested here, and waiting for the disk is most of the time.
    monkeypatch.setattr(os, "fsync", lambda _: None)
    return place_folders(str(tmp_path))


@EVERY_CLIENT
@pytest.mark.parametrize("sample", [*JSON_TEXTS, *JSONC_TEXTS])
def test_round_trip(name: str, sample: str, folders: Folders) -> None:
    """Whatever a client's files hold, installing twice is installing once, and uninstalling leaves no trace at all."""
    client = find_client(name, folders, PROGRAM)
    write_samples(client, {**JSON_TEXTS, **JSONC_TEXTS}[sample])
    before = picture(folders.home)

    assert install(client, folders) == len(client.files)
    assert is_installed(client)
    once = picture(folders.home)
    assert install(client, folders) == 0
    assert picture(folders.home) == once

    assert uninstall(client, folders) == len(client.files)
    assert picture(folders.home) == before
    assert uninstall(client, folders) == 0
    assert not is_installed(client)


@pytest.mark.parametrize("sample", TOML_TEXTS)
def test_round_trip_of_toml(sample: str, folders: Folders) -> None:
    """The same holds for Codex's TOML, and what is added can be read by who reads TOML."""
    client = find_client("codex", folders, PROGRAM)
    content = TOML_TEXTS[sample]
    path = client.files[0].path
    if content is not None:
        write_sample(path, content)
    before = picture(folders.home)

    install(client, folders)
    once = picture(folders.home)
    with open(path, "rb") as file:
        table = tomllib.load(file)["mcp_servers"]["recollect"]
    assert {"command": PROGRAM, "args": ["mcp"]}.items() <= table.items()
    assert install(client, folders) == 0
    assert picture(folders.home) == once

    uninstall(client, folders)
    assert picture(folders.home) == before


@EVERY_CLIENT
def test_keeps_what_is_others(name: str, folders: Folders) -> None:
    """Servers and hooks of others are there afterwards, before ours and unchanged."""
    client = find_client(name, folders, PROGRAM)
    write_samples(client, json.dumps(OTHERS).encode())
    install(client, folders)

    for file in client.files:
        if file.toml:
            continue
        found = read_json(file.path)
        for key, value in OTHERS.items():
            if isinstance(value, dict):
                for inner, each in value.items():
                    there = found[key][inner]
                    assert (there[: len(each)] if isinstance(each, list) else there) == each
            else:
                assert found[key] == value


SERVER = {"command": PROGRAM, "args": ["mcp"]}
FOLDER = {"RECOLLECT_FOLDER": "${workspaceFolder}"}


@pytest.mark.parametrize(
    ("name", "path", "box", "server"),
    [
        ("claude-code", ".claude.json", "mcpServers", {"type": "stdio", **SERVER}),
        ("cursor", "cursor/inner/mcp.json", "mcpServers", {**SERVER, "env": FOLDER}),
        ("gemini", "gemini/inner/settings.json", "mcpServers", SERVER),
        ("vscode", "vscode/inner/mcp.json", "servers", {"type": "stdio", **SERVER}),
        ("windsurf", "windsurf/inner/mcp_config.json", "mcpServers", SERVER),
        ("zed", "zed/inner/settings.json", "context_servers", SERVER),
    ],
)
def test_the_server(name: str, path: str, box: str, server: dict[str, Any], folders: Folders) -> None:
    """Each client gets the server where it looks for one, by the whole path of the command."""
    install(find_client(name, folders, PROGRAM), folders)

    assert read_json(os.path.join(folders.home, path))[box] == {"recollect": server}


@pytest.mark.parametrize(
    ("name", "path", "events"),
    [
        ("claude-code", "claude/inner/settings.json", "SessionStart UserPromptSubmit PreCompact Stop"),
        ("codex", "codex/inner/hooks.json", "SessionStart UserPromptSubmit PreCompact Stop"),
        ("cursor", "cursor/inner/hooks.json", "sessionStart beforeSubmitPrompt preCompact stop"),
        ("gemini", "gemini/inner/settings.json", "SessionStart BeforeAgent PreCompress AfterAgent"),
        ("vscode", "copilot/inner/hooks/recollect.json", "SessionStart UserPromptSubmit PreCompact"),
    ],
)
def test_the_hooks(name: str, path: str, events: str, folders: Folders) -> None:
    """A client with hooks gets one command for each moment that it can make use of, with a limit of time."""
    install(find_client(name, folders, PROGRAM), folders)

    hooks = read_json(os.path.join(folders.home, path))["hooks"]
    calls = ["session-start", "prompt", "pre-compact", "stop"]
    assert list(hooks) == events.split()
    for (only,), call in zip(hooks.values(), calls, strict=False):
        (command,) = only.get("hooks", [only])
        assert command["command"] == f'"{PROGRAM}" hook {call} --client {name}'
        limit = 5 if call == "prompt" else 10
        assert command["timeout"] == (limit * 1000 if name == "gemini" else limit)


@pytest.mark.parametrize("name", ["cursor", "vscode"])
def test_the_version_of_hooks(name: str, folders: Folders) -> None:
    """A file of hooks that must name its version does, and one that names another keeps it."""
    client = find_client(name, folders, PROGRAM)
    path = client.files[1].path
    install(client, folders)
    assert read_json(path)["version"] == 1
    uninstall(client, folders)

    write_sample(path, b'{"version": 2}')
    install(client, folders)
    assert read_json(path)["version"] == 2
    uninstall(client, folders)
    assert read_json(path) == {"version": 2}


@EVERY_CLIENT
def test_follows_links(name: str, folders: Folders, tmp_path: Path) -> None:
    """A link into someone's dotfiles stays a link; the file that it points to changes, with its mode kept."""
    client = find_client(name, folders, PROGRAM)
    for number, file in enumerate(client.files):
        kept = str(tmp_path / "dotfiles" / str(number))
        write_sample(kept, b"" if file.toml else b'{"a": 1}\n')
        os.chmod(kept, 0o640)
        os.makedirs(os.path.dirname(file.path), exist_ok=True)
        os.symlink(kept, file.path)
    before = picture(folders.home)

    install(client, folders)
    assert is_installed(client)
    assert all(os.path.islink(file.path) for file in client.files)
    assert all(os.stat(file.path).st_mode & 0o777 == 0o640 for file in client.files)

    uninstall(client, folders)
    assert picture(folders.home) == before


@EVERY_CLIENT
def test_keeps_what_was_edited_meanwhile(name: str, folders: Folders) -> None:
    """What someone wrote between installing and uninstalling stays, to the byte; only ours goes."""
    client = find_client(name, folders, PROGRAM)
    write_samples(client, b'{\n  "mine": 1\n}\n')
    install(client, folders)
    for file in client.files:
        if not file.toml:
            with open(file.path, "rb") as opened:
                content = opened.read()
            write_sample(file.path, content.replace(b'"mine": 1', b'"mine": 2,\n  "new": [true]'))

    uninstall(client, folders)

    for file in client.files:
        if not file.toml:
            with open(file.path, "rb") as opened:
                assert opened.read() == b'{\n  "mine": 2,\n  "new": [true]\n}\n'


def test_leaves_what_was_put_beside_ours(folders: Folders) -> None:
    """A file, a folder and an object that we made stay if someone else uses them by now."""
    client = find_client("claude-code", folders, PROGRAM)
    install(client, folders)
    state, settings = (file.path for file in client.files)
    data = read_json(settings)
    data["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "./mine.sh"}]})
    data["hooks"]["PreCompact"][0]["hooks"].insert(0, {"type": "command", "command": "./first.sh"})
    write_sample(settings, json.dumps(data, indent=2).encode())
    write_sample(state, json.dumps({**read_json(state), "numStartups": 7}, indent=2).encode())

    uninstall(client, folders)

    assert read_json(state) == {"numStartups": 7}
    assert read_json(settings) == {
        "hooks": {
            "PreCompact": [{"hooks": [{"type": "command", "command": "./first.sh"}]}],
            "Stop": [{"hooks": [{"type": "command", "command": "./mine.sh"}]}],
        }
    }


def test_takes_tables_inside_ours_along(folders: Folders) -> None:
    """A table that someone put inside ours goes with it, what they wrote behind it stays."""
    client = find_client("codex", folders, PROGRAM)
    path = client.files[0].path
    write_sample(path, b'model = "gpt"\n')
    install(client, folders)
    with open(path, "ab") as file:
        file.write(
            b'\n[mcp_servers.recollect.env]\nA = "1"\n\n# projects\n[projects."/work"]\ntrust_level = "trusted"\n'
        )

    uninstall(client, folders)

    with open(path, "rb") as file:
        assert file.read() == b'model = "gpt"\n\n# projects\n[projects."/work"]\ntrust_level = "trusted"\n'


@EVERY_CLIENT
def test_follows_a_command_that_moved(name: str, folders: Folders) -> None:
    """Installed from elsewhere, the entries are replaced, not doubled, and still leave no trace when they go."""
    write_samples(find_client(name, folders, PROGRAM), b'{"a": 1}')
    before = picture(folders.home)
    old, new = find_client(name, folders, PROGRAM), find_client(name, folders, "/home/ann/.local/bin/recollect")

    install(old, folders)
    assert install(new, folders) == len(new.files)
    with open(new.files[0].path, encoding="utf-8") as file:
        assert PROGRAM not in file.read()

    uninstall(old, folders)
    assert picture(folders.home) == before


@EVERY_CLIENT
def test_without_the_record(name: str, folders: Folders) -> None:
    """If what was noted is lost or unreadable, ours is found all the same and everything else stays."""
    client = find_client(name, folders, PROGRAM)
    write_samples(client, json.dumps(OTHERS, indent=2).encode())
    install(client, folders)
    write_sample(os.path.join(folders.installed, f"{name}.json"), b"[1]")

    uninstall(client, folders)

    assert not is_installed(client)
    for file in client.files:
        if not file.toml:
            found = read_json(file.path)
            assert {key: value for key, value in found.items() if key in OTHERS and key != "hooks"} == {
                key: value for key, value in OTHERS.items() if key != "hooks"
            }


@pytest.mark.parametrize(("name", "box"), [("cursor", "mcpServers"), ("zed", "context_servers")])
def test_keeps_a_server_of_the_same_name(name: str, box: str, folders: Folders) -> None:
    """A server called recollect that someone set up in another way stays as it is, with a word about it."""
    client = find_client(name, folders, PROGRAM)
    content = json.dumps({box: {"recollect": {"command": "uvx", "args": ["recollect", "mcp"]}}}).encode()
    write_sample(client.files[0].path, content)
    plan = plan_install(client, folders.installed)
    assert "not ours" in plan.notes[0]

    apply(plan.all_changes)
    uninstall(client, folders)

    with open(client.files[0].path, "rb") as file:
        assert file.read() == content


def test_keeps_a_table_of_the_same_name(folders: Folders) -> None:
    """The same holds in TOML."""
    client = find_client("codex", folders, PROGRAM)
    content = b'[mcp_servers.recollect]\ncommand = "uvx"\nargs = ["recollect", "mcp"]\n'
    write_sample(client.files[0].path, content)
    plan = plan_install(client, folders.installed)

    assert "not ours" in plan.notes[0]
    assert [change.path for change in plan.changes] == [client.files[1].path]


def test_keeps_what_was_added_to_ours(folders: Folders) -> None:
    """A variable that someone gave our server stays when installing again."""
    client = find_client("zed", folders, PROGRAM)
    write_sample(
        client.files[0].path, json.dumps({"context_servers": {"recollect": {**SERVER, "env": {"A": "1"}}}}).encode()
    )

    assert install(client, folders) == 0


@EVERY_CLIENT
def test_keeps_what_was_added_to_ours_when_the_command_moved(name: str, folders: Folders) -> None:
    """Installed from elsewhere, our server has the new command and whatever else its owner or the client gave it."""
    client = find_client(name, folders, PROGRAM)
    install(client, folders)
    path = client.files[0].path
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if client.files[0].toml:
        text += 'startup_timeout_sec = 30\n\n[mcp_servers.recollect.env]\nA = "1"\n\n[other]\nb = 1\n'
    else:
        text = text.replace('"args"', '"note": {"A": "1"}, "args"')
    write_sample(path, text.encode())

    install(find_client(name, folders, "/home/ann/bin/recollect"), folders)

    with open(path, encoding="utf-8") as file:
        assert file.read() == text.replace(PROGRAM, "/home/ann/bin/recollect")


@pytest.mark.parametrize("theirs", [None, {}, {"A": "1"}, {"RECOLLECT_FOLDER": "/old", "A": "1"}])
def test_tells_cursors_server_the_folder_beside_what_else_it_was_told(
    theirs: dict[str, str] | None, folders: Folders
) -> None:
    """Variables that someone gave the server stay when ours comes to them."""
    client = find_client("cursor", folders, PROGRAM)
    there = {**SERVER} if theirs is None else {**SERVER, "env": theirs}
    write_sample(client.files[0].path, json.dumps({"mcpServers": {"recollect": there}}).encode())
    install(client, folders)

    assert read_json(client.files[0].path) == {
        "mcpServers": {"recollect": {**SERVER, "env": {**(theirs or {}), **FOLDER}}}
    }
    assert install(client, folders) == 0


def test_codex_gives_the_server_the_variables_that_name_the_store(folders: Folders) -> None:
    """A hook of Codex has every variable, a server only those that it is told to be given: both mean one store."""
    client = find_client("codex", folders, PROGRAM)
    install(client, folders)
    with open(client.files[0].path, "rb") as file:
        passed = tomllib.load(file)["mcp_servers"]["recollect"]["env_vars"]

    assert {"RECOLLECT_HOME", "RECOLLECT_STORE", "RECOLLECT_SPACE", "RECOLLECT_PROJECT", *KEYS} <= set(passed)


def test_completes_a_server_that_was_written_by_hand(folders: Folders) -> None:
    """A server that someone wrote as the README shows it gets what the installer would have said of it."""
    client = find_client("vscode", folders, PROGRAM)
    write_sample(client.files[0].path, json.dumps({"servers": {"recollect": SERVER}}).encode())
    install(client, folders)

    assert read_json(client.files[0].path) == {"servers": {"recollect": {**SERVER, "type": "stdio"}}}


def test_hooks_of_others_keep_their_places_when_the_command_moved(folders: Folders) -> None:
    """Codex knows a hook that it was told to trust by its place in the list, so ours does not move to the end."""
    client = find_client("codex", folders, PROGRAM)
    install(client, folders)
    path = client.files[1].path
    mine = {"hooks": [{"type": "command", "command": "./mine.sh"}]}
    data = read_json(path)
    data["hooks"]["Stop"].append(mine)
    write_sample(path, json.dumps(data, indent=2).encode())

    install(find_client("codex", folders, "/home/ann/bin/recollect"), folders)

    ours, other = read_json(path)["hooks"]["Stop"]
    assert ours["hooks"][0]["command"] == '"/home/ann/bin/recollect" hook stop --client codex'
    assert other == mine
    write_sample(path, json.dumps({"hooks": {**read_json(path)["hooks"], "Stop": [ours]}}, indent=2).encode())
    uninstall(client, folders)
    assert picture(folders.home) == {}


@pytest.mark.parametrize("above", ["", 'note = """\n[mcp_servers.recollect]\ncommand = "x"\n"""\n'])
def test_refuses_to_mend_a_table_that_it_did_not_write(above: str, folders: Folders) -> None:
    """A server of ours that someone wrote in another form of TOML is left as it is when the command moved."""
    client = find_client("codex", folders, PROGRAM)
    content = f'{above}mcp_servers.recollect.command = "/old/recollect"\nmcp_servers.recollect.args = ["mcp"]\n'
    write_sample(client.files[0].path, content.encode())

    with pytest.raises(Refused, match="by hand"):
        install(client, folders)


@pytest.mark.parametrize("behind", [" --verbose 2>>/tmp/log", " || true", "; exit 0", "\n"])
@pytest.mark.parametrize("name", ["claude-code", "cursor"])
def test_knows_a_hook_with_something_written_behind_it(name: str, behind: str, folders: Folders) -> None:
    """A command that someone made to log, or to be ignored when it fails, is not doubled, and goes with the others."""
    client = find_client(name, folders, PROGRAM)
    path = client.files[1].path

    def edit() -> None:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        write_sample(path, text.replace(f"--client {name}", f"--client {name}{json.dumps(behind)[1:-1]}").encode())

    install(client, folders)
    once = picture(folders.home)
    edit()
    install(client, folders)
    assert picture(folders.home) == once
    edit()
    uninstall(client, folders)
    assert picture(folders.home) == {}


def test_knows_a_hook_for_another_client_from_ours(folders: Folders) -> None:
    """A command that only begins like ours is someone else's."""
    client = find_client("claude-code", folders, PROGRAM)
    content = b'{"hooks": {"Stop": [{"command": "recollect hook stop --client claude-code-nightly"}]}}'
    write_sample(client.files[1].path, content)

    assert not is_installed(client)


def test_a_command_with_odd_letters_in_its_path(folders: Folders) -> None:
    """A path that means something to a shell is given so that it does not, and is known again."""
    client = find_client("claude-code", folders, "/opt/a $HOME/recollect")
    install(client, folders)

    hook = read_json(client.files[1].path)["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert hook == "'/opt/a $HOME/recollect' hook stop --client claude-code"
    assert install(client, folders) == 0
    uninstall(client, folders)
    assert picture(folders.home) == {}


def test_finds_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command is the one that was called, else the one beside Python, else the first of the path."""
    beside, called, listed = (tmp_path / name / "recollect" for name in ("venv", "shims", "path"))
    monkeypatch.setenv("PATH", str(listed.parent))
    python = str(beside.parent / "python")
    with pytest.raises(Refused, match="was not found"):
        find_program("-m", python)
    for program in (listed, beside, called):
        program.parent.mkdir()
        program.touch(mode=0o755)
        as_called = str(program) if program == called else "/x/recollect/__main__.py"
        assert find_program(as_called, python) == str(program)


@pytest.mark.parametrize(
    ("folder", "hint"),
    [
        ("uv/archive-v0/3xQ/bin", "`uv tool install recollect`"),
        ("uv/builds-v0/.tmpAb3/bin", "`uv tool install recollect`"),
        (".cache/pipx/0a1b2c3d4e5f607/bin", "`pipx install recollect`"),
        ("pipx/.cache/0a1b2c3d4e5f607/bin", "`pipx install recollect`"),
    ],
)
def test_refuses_a_command_that_will_be_gone(folder: str, hint: str, tmp_path: Path) -> None:
    """What uvx and pipx keep for a while only is not written into anyone's settings."""
    program = tmp_path / folder / "recollect"
    program.parent.mkdir(parents=True)
    program.touch()

    with pytest.raises(Refused, match=hint):
        find_program(str(program), "/usr/bin/python")


def test_takes_a_command_that_pipx_installed(tmp_path: Path) -> None:
    """What pipx was told to install stays."""
    program = tmp_path / "pipx" / "venvs" / "recollect" / "bin" / "recollect"
    program.parent.mkdir(parents=True)
    program.touch()

    assert find_program(str(program), "/usr/bin/python") == str(program)


def test_shows_what_changes_and_little_else() -> None:
    """Of a long file only the changed lines are shown, with two around them and a mark where lines are left out."""
    old = [f"line {number}" for number in range(100)]
    new = [*old[:10], "first", *old[10:50], *old[51:]]

    assert list(list_differences("\n".join(old), "\n".join(new))) == [
        (" ", "line 8"),
        (" ", "line 9"),
        ("+", "first"),
        (" ", "line 10"),
        (" ", "line 11"),
        ("~", ""),
        (" ", "line 48"),
        (" ", "line 49"),
        ("-", "line 50"),
        (" ", "line 51"),
        (" ", "line 52"),
    ]
