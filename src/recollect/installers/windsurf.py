"""Windsurf: the server in `mcp_config.json`. Its hooks take no context, so only the one that learns is put in."""

import os

from recollect.installers.client import Client, File, call, command, server
from recollect.installers.entries import Hook
from recollect.installers.folders import Folders

_EVENT = "post_cascade_response_with_transcript"


def windsurf(folders: Folders, program: str) -> Client:
    hook = Hook(
        ("hooks", _EVENT),
        {"command": command(program, "stop", "windsurf"), "show_output": False},
        call("stop", "windsurf"),
    )
    return Client(
        "windsurf",
        "Windsurf",
        (
            File(os.path.join(folders.windsurf, "mcp_config.json"), (server("mcpServers", program),)),
            File(os.path.join(folders.windsurf, "hooks.json"), (hook,)),
        ),
        "Press refresh in Cascade's MCP panel, or start Windsurf anew.",
    )
