"""Codex: the server in `config.toml`; hooks in `hooks.json` beside it, in Claude Code's form."""

import os

from recollect.installers.client import Client, File, grouped_hooks, server
from recollect.installers.folders import Folders

_EVENTS = (
    ("SessionStart", "session-start"),
    ("UserPromptSubmit", "prompt"),
    ("PreCompact", "pre-compact"),
    ("Stop", "stop"),
)


def codex(folders: Folders, program: str) -> Client:
    return Client(
        "codex",
        "Codex",
        (
            File(os.path.join(folders.codex, "config.toml"), (server("mcp_servers", program),), toml=True),
            File(os.path.join(folders.codex, "hooks.json"), grouped_hooks(program, "codex", _EVENTS)),
        ),
        "Codex runs no hook that you have not looked at: start it, type /hooks and trust Recollect's.",
    )
