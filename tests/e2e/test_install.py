"""`recollect install` and `uninstall` as a user runs them."""

import os
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

from client_files import JSONC_TEXTS, picture, write_sample
from command_line import CommandLine
from recollect.installers.catalog import CLIENTS

VSCODE = Path("Library/Application Support" if sys.platform == "darwin" else ".config") / "Code" / "User"
MOVED = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "COPILOT_HOME", "XDG_CONFIG_HOME", "APPDATA")


@pytest.fixture
def user(tmp_path: Path) -> Path:
    home = tmp_path / "ann"
    home.mkdir()
    return home


@pytest.fixture
def cli(user: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    for variable in MOVED:
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(sys, "argv", ["recollect"])
    program = user / "bin" / "recollect"
    write_sample(str(program), b"")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    monkeypatch.setattr(sys, "executable", str(user / "python"))
    monkeypatch.setenv("HOME", str(user))
    return CommandLine(user / ".recollect")


@pytest.mark.parametrize("client", CLIENTS)
def test_there_and_back(client: str, cli: CommandLine, user: Path) -> None:
    """Each client is installed, found installed, and left as it was."""
    write_sample(str(user / ".config" / "zed" / "settings.json"), JSONC_TEXTS["comments"])
    write_sample(str(user / ".cursor" / "mcp.json"), b'{"mcpServers": {}}')
    before = picture(str(user))

    shown = cli.say("install", client, "--yes")
    assert str(user / "bin" / "recollect") in shown.replace("\\\\", "\\")
    assert "Done." in shown
    assert "has Recollect already" in cli.say("install", client)
    assert f"{client} installed" in " ".join(cli.say("install").split())

    assert "What was remembered is kept." in cli.say("uninstall", client, "-y")
    assert picture(str(user)) == before
    assert "has nothing of Recollect" in cli.say("uninstall", client)


def test_goes_from_wherever_it_is_run(cli: CommandLine, user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that may not be written into settings, as of uvx, takes out all the same what another put in."""
    before = picture(str(user))
    cli.say("install", "cursor", "--yes")
    passing = user.parent / "archive-v0" / "x" / "recollect"
    write_sample(str(passing), b"")
    monkeypatch.setattr(sys, "argv", [str(passing)])

    assert "uvx keeps Recollect only for a while" in cli.run("install", "cursor", code=2).stderr
    assert "Done." in cli.say("uninstall", "cursor", "--yes")
    assert picture(str(user)) == before


def test_asks_first(cli: CommandLine, user: Path) -> None:
    """Without a yes, and in a dry run, nothing is written; with one it is."""
    before = picture(str(user))

    refused = cli.run("install", "cursor", stdin="n\n", code=1)
    assert "Change 2 files of Cursor? [y/N]" in refused.stderr
    assert "Nothing was changed." in refused.stderr
    assert "dry run" in cli.say("install", "cursor", "--dry-run")
    assert picture(str(user)) == before

    cli.run("install", "cursor", stdin="y\n")
    assert (user / ".cursor" / "hooks.json").exists()
    assert "Nothing was changed." in cli.run("uninstall", "cursor", stdin="", code=1).stderr
    assert (user / ".cursor" / "hooks.json").exists()


def test_shows_the_change(cli: CommandLine, user: Path) -> None:
    """What is shown is the lines that come, with what is around them, below the name of the file."""
    write_sample(str(user / ".config" / "zed" / "settings.json"), b'{\n  "theme": "One"\n}\n')

    shown = cli.say("install", "zed", "--dry-run")

    assert shown.splitlines() == [
        "~/.config/zed/settings.json",
        "    {",
        '  -   "theme": "One"',
        '  +   "theme": "One",',
        '  +   "context_servers": {',
        '  +     "recollect": {',
        f'  +       "command": "{user}/bin/recollect",',
        '  +       "args": [',
        '  +         "mcp"',
        "  +       ]",
        "  +     }",
        "  +   }",
        "    }",
        "",
        "Nothing was changed: this was a dry run.",
    ]


def test_lists_clients(cli: CommandLine, user: Path) -> None:
    """Without a client, all are listed with their state, also those whose files cannot be read."""
    write_sample(str(user / ".gemini" / "settings.json"), b"{")
    (user / ".cursor").mkdir()
    cli.say("install", "codex", "--yes")
    # What VS Code makes when it is first started; Copilot's folder of hooks is made by nobody.
    (user / VSCODE).mkdir(parents=True)
    write_sample(str(user / ".codeium" / "windsurf" / "mcp_config.json"), b"{}")
    os.chmod(user / ".codeium" / "windsurf" / "mcp_config.json", 0o444)

    shown = [line.split("  ") for line in cli.say("install").splitlines()]
    states = {row[0]: next(cell.strip() for cell in row[1:] if cell.strip()) for row in shown if len(row) > 1}

    assert states == {
        "client": "state",
        "claude-code": "not on this machine",
        "codex": "installed",
        "cursor": "not installed",
        "gemini": "cannot be read",
        "vscode": "not installed",
        "windsurf": "not installed",
        "zed": "not on this machine",
    }


def test_says_what_is_wrong(cli: CommandLine, user: Path) -> None:
    """A file that cannot be understood, and a client that is not known, are told in one line."""
    write_sample(str(user / ".gemini" / "settings.json"), b'{"a": }')
    refused = cli.run("install", "gemini", "--yes", code=2)
    assert "is not valid JSON (line 1, column 7): mend it, then try again. Nothing was changed." in " ".join(
        refused.stderr.split()
    )
    assert "Known are: claude-code, codex" in " ".join(cli.run("install", "emacs", code=2).stderr.split())


def test_fits_the_terminal(cli: CommandLine) -> None:
    """In a terminal every line fits its width, of the list and of a change."""
    for columns in (40, 80):
        for command in (["install"], ["install", "claude-code", "--dry-run"]):
            shown = cli.as_in_terminal(*command, columns=columns)
            assert max(cell_len(line) for line in shown.splitlines()) <= columns


def test_as_a_process(user: Path) -> None:
    """The command itself, started as a client's user starts it, does the same."""
    cli = CommandLine(user / ".recollect")
    settings = {"HOME": str(user), **dict.fromkeys(MOVED, "")}
    before = picture(str(user))

    assert cli.process("install", "claude-code", "--yes", settings=settings).returncode == 0
    assert os.path.exists(user / ".claude" / "settings.json")
    assert cli.process("uninstall", "claude-code", "--yes", settings=settings).returncode == 0

    assert picture(str(user)) == before
