"""Windsurf: the server in `mcp_config.json`. Its hooks take no context, and its transcripts are not documented."""

import os

from recollect.installers.client import Client, File, server
from recollect.installers.folders import Folders


def windsurf(folders: Folders, program: str) -> Client:
    return Client(
        "windsurf",
        "Windsurf",
        (File(os.path.join(folders.windsurf, "mcp_config.json"), (server("mcpServers", program),)),),
        "Press refresh in Cascade's MCP panel, or start Windsurf anew.",
    )
