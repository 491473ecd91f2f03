"""Settings as people have them, installing into them, and pictures of folders to compare."""

import json
import os
from collections.abc import Mapping
from typing import Any, Final

from recollect.installers.client import Client
from recollect.installers.files import apply
from recollect.installers.folders import Folders
from recollect.installers.plan import plan_install, plan_uninstall

PROGRAM: Final = "/opt/tools/bin/recollect"

_SERVERS: Final = ("mcpServers", "servers", "context_servers")
_EVENTS: Final = ("SessionStart", "sessionStart", "UserPromptSubmit", "BeforeAgent", "Stop", "stop", "AfterAgent")
OTHERS: Final = {
    "theme": "dark",
    **{box: {"github": {"command": "npx", "args": ["-y", "@example/github"], "env": {"T": "1"}}} for box in _SERVERS},
    "hooks": {
        **{event: [{"hooks": [{"type": "command", "command": "./note.sh", "timeout": 3}]}] for event in _EVENTS},
        "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./guard.sh"}]}],
    },
    "last": [1, 2.50, None, True],
}
"""Servers and hooks of others, wherever a client may keep them."""

_PRETTY: Final = json.dumps(OTHERS, indent=2, ensure_ascii=False)
JSON_TEXTS: Final[Mapping[str, bytes | None]] = {
    "none at all": None,
    "an empty file": b"",
    "a line end": b"\n",
    "an empty object": b"{}",
    "an empty object over lines": b"{\n}\n",
    "empty boxes": json.dumps(
        {**{box: {} for box in _SERVERS}, "hooks": {event: [] for event in _EVENTS}}, indent=2
    ).encode(),
    "empty hooks": b'{"hooks": { }, "mcpServers": {\n\n}}',
    "others' servers and hooks": _PRETTY.encode() + b"\n",
    "no line end at the end": _PRETTY.encode(),
    "several line ends": _PRETTY.encode() + b"\n\n\n",
    "line ends of Windows": (_PRETTY + "\n").replace("\n", "\r\n").encode(),
    "a mark of the encoding": b"\xef\xbb\xbf" + _PRETTY.encode(),
    "tabs": json.dumps(OTHERS, indent="\t").encode() + b"\n",
    "four blanks": json.dumps(OTHERS, indent=4).encode(),
    "one line": json.dumps(OTHERS).encode(),
    "no blank at all": json.dumps(OTHERS, separators=(",", ":")).encode(),
    "letters of all kinds": '{"ключ": "значение", "emoji": "🧠 \\ud83e\\udde0", "é": "\\u00e9"}\n'.encode(),
    "blanks in odd places": b'  { "a" :1 ,"b":[ ],\n\n"hooks":{ "Stop":[ ] } }  \n',
    "one key twice": b'{"mcpServers": {"a": 1}, "mcpServers": {"b": 2}}\n',
}
JSONC_TEXTS: Final[Mapping[str, bytes]] = {
    "comments": b"""// My settings
{
  // Look
  "theme": "dark", // darker
  /* servers */
  "context_servers": {
    "github": { "command": "npx" } // tokens are in the keychain
    // "old": {}
  },
  "mcpServers": { /* none yet */ },
  "servers": {
    // none yet
  },
  "hooks": {
    "Stop": [ // run in order
      { "command": "./note.sh" } /* quiet */
    ]
  }
  // the end
}
// after the end
""",
    "trailing commas": b"""{
  "theme": "dark",
  "context_servers": {
    "github": {"command": "npx",},
  },
  "mcpServers": {"github": {"command": "npx"},},
  "servers": {"github": {"command": "npx"}, // mine
  },
  "hooks": {"Stop": [{"command": "./note.sh"},],},
}
""",
    "only a comment": b"// Nothing yet\n",
}
TOML_TEXTS: Final[Mapping[str, bytes | None]] = {
    "none at all": None,
    "an empty file": b"",
    "a line end": b"\n",
    "others' servers": b'# mine\nmodel = "gpt"\n\n[mcp_servers.github]\ncommand = "npx"\nargs = ["-y"]\n',
    "no line end at the end": b'model = "gpt"\n[mcp_servers.github]\ncommand = "npx"',
    "several line ends": b'model = "gpt"\n\n\n',
    "line ends of Windows": b'model = "gpt"\r\n\r\n[mcp_servers.github]\r\ncommand = "npx"\r\n',
    "a comment at the end": b'[mcp_servers.github]\ncommand = "npx"\n\n# the end',
    "letters of all kinds": 'name = "значение 🧠"\n'.encode(),
    "dotted keys": b'mcp_servers.github.command = "npx"\n',
}


def place_folders(root: str) -> Folders:
    """Give a home of its own to every client."""
    names = ("claude", "codex", "copilot", "cursor", "gemini", "vscode", "windsurf", "zed", "installed")
    places = {name: os.path.join(root, name, "inner") for name in names}
    return Folders(home=root, claude_state=root, **places)


def write_samples(client: Client, sample: bytes | None) -> None:
    """Have all JSON files of a client hold the same, or not be there."""
    for file in client.files:
        if sample is not None and not file.toml:
            write_sample(file.path, sample)


def write_sample(path: str, content: bytes) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)


def picture(root: str) -> dict[str, tuple[int, bytes | str | None]]:
    """Give everything below a folder: names, modes, contents, and where links point."""
    found: dict[str, tuple[int, bytes | str | None]] = {}
    for folder, folders, files in os.walk(root):
        for name in folders + files:
            path = os.path.join(folder, name)
            mode = os.lstat(path).st_mode
            content: bytes | str | None = None
            if os.path.islink(path):
                content = os.readlink(path)
            elif name in files:
                with open(path, "rb") as file:
                    content = file.read()
            found[os.path.relpath(path, root)] = (mode, content)
    return found


def install(client: Client, folders: Folders) -> int:
    """Install, and give how many files changed."""
    plan = plan_install(client, folders.installed)
    apply(plan.all_changes)
    return len(plan.changes)


def uninstall(client: Client, folders: Folders) -> int:
    """Uninstall, and give how many files changed."""
    plan = plan_uninstall(client, folders.installed)
    apply(plan.all_changes)
    return len(plan.changes)


def read_json(path: str) -> Any:  # noqa: ANN401
    with open(path, encoding="utf-8-sig") as file:
        return json.load(file)
