"""Codex: the server in `config.toml`; hooks in `hooks.json` beside it, in Claude Code's form."""

import os

from recollect.config import KEYS
from recollect.installers.client import Client, File, grouped_hooks, server
from recollect.installers.folders import Folders

_EVENTS = (
    ("SessionStart", "session-start"),
    ("UserPromptSubmit", "prompt"),
    ("PreCompact", "pre-compact"),
    ("Stop", "stop"),
)
# Codex gives a server hardly any variable that is not named, and a hook all of them: they would not share a store.
_PASSED = [f"RECOLLECT_{name}" for name in ("HOME", "STORE", "MODELS", "SPACE", "PROJECT", "RERANKER")]


def codex(folders: Folders, program: str) -> Client:
    passing = server("mcp_servers", program, env_vars=[*_PASSED, *KEYS])
    return Client(
        "codex",
        "Codex",
        (
            File(os.path.join(folders.codex, "config.toml"), (passing,), toml=True),
            File(os.path.join(folders.codex, "hooks.json"), grouped_hooks(program, "codex", _EVENTS)),
        ),
        "Codex runs no hook that you have not looked at: start it, type /hooks and trust Recollect's.",
    )
