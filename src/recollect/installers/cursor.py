"""Cursor: the server in `mcp.json`, hooks in `hooks.json`, which must name the version of its form."""

import os

from recollect.installers.client import Client, File, plain_hooks, server
from recollect.installers.entries import Needed
from recollect.installers.folders import Folders

_EVENTS = (
    ("sessionStart", "session-start"),
    ("beforeSubmitPrompt", "prompt"),
    ("preCompact", "pre-compact"),
    ("stop", "stop"),
)


# Cursor starts the servers of a user in their home, whichever folder is open, and fills this in.
_FOLDER = {"RECOLLECT_FOLDER": "${workspaceFolder}"}


def cursor(folders: Folders, program: str) -> Client:
    return Client(
        "cursor",
        "Cursor",
        (
            File(os.path.join(folders.cursor, "mcp.json"), (server("mcpServers", program, env=_FOLDER),)),
            File(
                os.path.join(folders.cursor, "hooks.json"),
                (Needed(("version",), 1), *plain_hooks(program, "cursor", _EVENTS)),
            ),
        ),
        "Cursor sees it within a moment: its settings list the server under MCP and the hooks under Hooks.",
    )
