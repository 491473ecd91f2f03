"""Where clients keep what a user configures, and where Recollect notes what it put there."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Folders:
    home: str
    claude: str
    claude_state: str
    """The folder of `.claude.json`, which is beside the other settings only if those were moved."""
    codex: str
    copilot: str
    cursor: str
    gemini: str
    vscode: str
    windsurf: str
    zed: str
    installed: str
    """One small file for each client that Recollect is installed in."""
