"""The plugin for Claude Code, as it lies in this repository."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import recollect
from client_files import PROGRAM, place_folders
from recollect.installers.catalog import find_client
from recollect.mcp.reading import Reading
from recollect.mcp.writing import Writing

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "plugins" / "claude-code"
PAGES = sorted(path.relative_to(PLUGIN).as_posix() for path in PLUGIN.rglob("*.md"))


def read(path: Path) -> Any:  # noqa: ANN401
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_version() -> None:
    """The plugin has the version of the package that it starts."""
    assert read(PLUGIN / ".claude-plugin" / "plugin.json")["version"] == recollect.__version__


def test_the_marketplace_leads_to_it() -> None:
    """The repository offers the plugin under its own name, from the folder that it is in."""
    (offered,) = read(ROOT / ".claude-plugin" / "marketplace.json")["plugins"]
    manifest = read(PLUGIN / ".claude-plugin" / "plugin.json")

    assert (ROOT / offered["source"]).resolve() == PLUGIN
    assert (offered["name"], offered["description"]) == (manifest["name"], manifest["description"])


def test_does_what_the_installer_does() -> None:
    """Its server and its hooks are those that `recollect install claude-code` writes, found by name."""
    server, *hooks = [
        entry for file in find_client("claude-code", place_folders("/home"), PROGRAM).files for entry in file.entries
    ]
    by_name = json.loads(
        json.dumps([[hook.path[1], hook.value] for hook in hooks]).replace(f'\\"{PROGRAM}\\"', "recollect")
    )

    assert {"type": "stdio", **read(PLUGIN / ".mcp.json")["mcpServers"]["recollect"]} == {
        **dict(server.value),  # type: ignore[call-overload]
        "command": "recollect",
    }
    assert read(PLUGIN / "hooks" / "hooks.json")["hooks"] == {event: [value] for event, value in by_name}


@pytest.mark.parametrize("page", PAGES)
def test_pages_name_tools_that_exist(page: str) -> None:
    """Commands and the skill say what they are for, and name no tool that the server does not have."""
    text = (PLUGIN / page).read_text(encoding="utf-8")
    tools = {name for part in (Reading, Writing) for name in vars(part) if name.startswith("memory_")}

    front = re.match(r"---\n(.*?)\n---\n", text, re.DOTALL)
    assert front is not None
    assert re.search(r"^description: .{20,}$", front.group(1), re.MULTILINE)
    assert set(re.findall(r"memory_\w+", text)) <= tools


@pytest.mark.parametrize("page", PAGES)
def test_what_stands_above_a_page_is_text(page: str) -> None:
    """A value that begins with a bracket is a list to YAML, and clients that want a text drop the whole page."""
    front = (PLUGIN / page).read_text(encoding="utf-8").split("---\n")[1]
    values = [line.partition(": ")[2] for line in front.splitlines()]

    assert all(value.startswith('"') or (value[0].isalpha() and ": " not in value) for value in values)


def test_has_the_commands() -> None:
    """There are the commands to remember and to recall, and a skill that says when to store."""
    assert PAGES == ["commands/recall.md", "commands/remember.md", "skills/recollect/SKILL.md"]
