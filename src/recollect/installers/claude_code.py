"""Claude Code: the server in `.claude.json`, which `claude mcp` writes too; hooks in `settings.json`."""

import os

from recollect.installers.client import Client, File, grouped_hooks, server
from recollect.installers.folders import Folders

_EVENTS = (
    ("SessionStart", "session-start"),
    ("UserPromptSubmit", "prompt"),
    ("PreCompact", "pre-compact"),
    ("Stop", "stop"),
)


def claude_code(folders: Folders, program: str) -> Client:
    return Client(
        "claude-code",
        "Claude Code",
        (
            File(os.path.join(folders.claude_state, ".claude.json"), (server("mcpServers", program, kind="stdio"),)),
            File(os.path.join(folders.claude, "settings.json"), grouped_hooks(program, "claude-code", _EVENTS)),
        ),
        "It holds for sessions that begin from now on: /mcp shows the server, /hooks the hooks.",
    )
