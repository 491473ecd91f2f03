"""VS Code: the server in the user's `mcp.json`; hooks in a file of our own, in the folder that Copilot reads."""

import os

from recollect.installers.client import Client, File, plain_hooks, server
from recollect.installers.entries import Needed
from recollect.installers.folders import Folders

_EVENTS = (
    ("SessionStart", "session-start"),
    ("UserPromptSubmit", "prompt"),
    # Only so that what was given may be given again: what its transcripts hold is not documented.
    ("PreCompact", "pre-compact"),
)


def vscode(folders: Folders, program: str) -> Client:
    return Client(
        "vscode",
        "VS Code",
        (
            File(os.path.join(folders.vscode, "mcp.json"), (server("servers", program, kind="stdio"),)),
            File(
                os.path.join(folders.copilot, "hooks", "recollect.json"),
                # Copilot's command line reads the same folder and asks for the version.
                (Needed(("version",), 1), *plain_hooks(program, "vscode", _EVENTS, type="command")),
            ),
        ),
        "VS Code asks whether you trust the server when a chat first needs it; MCP: List Servers shows it.",
    )
