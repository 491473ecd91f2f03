"""All clients that Recollect can be installed in, by name."""

from collections.abc import Callable, Mapping
from typing import Final

from recollect.core.errors import Refused
from recollect.installers.claude_code import claude_code
from recollect.installers.client import Client
from recollect.installers.codex import codex
from recollect.installers.cursor import cursor
from recollect.installers.folders import Folders
from recollect.installers.gemini import gemini
from recollect.installers.vscode import vscode
from recollect.installers.windsurf import windsurf
from recollect.installers.zed import zed

CLIENTS: Final[Mapping[str, Callable[[Folders, str], Client]]] = {
    "claude-code": claude_code,
    "codex": codex,
    "cursor": cursor,
    "gemini": gemini,
    "vscode": vscode,
    "windsurf": windsurf,
    "zed": zed,
}


def find_client(name: str, folders: Folders, program: str) -> Client:
    if name not in CLIENTS:
        raise Refused(f"There is no client {name!r:.40}. Known are: {', '.join(CLIENTS)}.")
    return CLIENTS[name](folders, program)
