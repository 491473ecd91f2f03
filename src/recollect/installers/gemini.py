"""Gemini CLI: server and hooks in one `settings.json`. Hooks have names there, and milliseconds."""

import os

from recollect.installers.client import Client, File, call, command, seconds, server
from recollect.installers.entries import NAME, Hook
from recollect.installers.folders import Folders

_EVENTS = (
    ("SessionStart", "session-start"),
    ("BeforeAgent", "prompt"),
    ("PreCompress", "pre-compact"),
    ("AfterAgent", "stop"),
)


def gemini(folders: Folders, program: str) -> Client:
    hooks = tuple(
        Hook(
            ("hooks", event),
            {
                "hooks": [
                    {
                        "name": f"{NAME}-{hook}",
                        "type": "command",
                        "command": command(program, hook, "gemini"),
                        "timeout": seconds(hook) * 1000,
                    }
                ]
            },
            call(hook, "gemini"),
        )
        for event, hook in _EVENTS
    )
    path = os.path.join(folders.gemini, "settings.json")
    return Client(
        "gemini",
        "Gemini CLI",
        (File(path, (server("mcpServers", program), *hooks)),),
        "It holds for sessions that begin from now on: /mcp shows the server, /hooks the hooks.",
    )
