"""What each client tells its hooks, and how a hook gives text back for the model to read.

A parsed JSON object goes in, an Event comes out; a text goes in, the JSON object to print comes out. Nothing here may
cost time: it runs before every prompt, so it imports what Python has loaded anyway and no more.

| client      | prompt             | session-start | pre-compact | stop       |
|-------------|--------------------|---------------|-------------|------------|
| claude-code | UserPromptSubmit   | SessionStart  | PreCompact  | Stop       |
| codex       | UserPromptSubmit   | SessionStart  | PreCompact  | Stop       |
| gemini      | BeforeAgent        | SessionStart  | PreCompress | AfterAgent |
| cursor      | beforeSubmitPrompt | sessionStart  | preCompact  | stop       |
| vscode      | UserPromptSubmit   | SessionStart  | PreCompact  |            |

Context is taken by the first two columns alone. After the last one more text would start another turn.
"""

import os

PROMPT = "prompt"
SESSION_START = "session-start"
PRE_COMPACT = "pre-compact"
STOP = "stop"

_CLAUDE = {PROMPT: "UserPromptSubmit", SESSION_START: "SessionStart"}
# The clients that take context as Claude Code does, with the names that they give the two events.
_NAMED = {
    "claude-code": _CLAUDE,
    "codex": _CLAUDE,
    "vscode": _CLAUDE,
    "gemini": {PROMPT: "BeforeAgent", SESSION_START: "SessionStart"},
}
_CURSOR = "cursor"


class Event:
    """One call of a hook: who calls, when, in which session and folder, and what was asked."""

    __slots__ = ("again", "client", "folder", "hook", "prompt", "session", "source", "transcript")

    def __init__(
        self,
        client: str,
        hook: str,
        *,
        session: str = "",
        folder: str = "",
        prompt: str = "",
        transcript: str = "",
        source: str = "",
        again: bool = False,
    ) -> None:
        self.client = client
        self.hook = hook
        self.session = session
        self.folder = folder
        self.prompt = prompt
        self.transcript = transcript
        self.source = source
        """Why: startup, resume, clear or compact for a session; manual or auto for a compaction; empty if unknown."""
        self.again = again
        """The turn goes on because a stop hook asked for it."""


def read_event(client: str, hook: str, fields: dict[str, object]) -> Event:
    """Read what a client sent; whatever is missing or of another kind than expected is left empty."""
    # Cursor also runs the hooks that it finds in Claude Code's settings, and answers only to its own form.
    if "cursor_version" in fields:
        client = _CURSOR
    return Event(
        client,
        hook,
        session=_text(fields, "session_id", "conversation_id"),
        folder=_text(fields, "cwd") or _root(fields.get("workspace_roots")),
        prompt=_text(fields, "prompt"),
        transcript=_path(_text(fields, "transcript_path")),
        source=_text(fields, "source", "trigger"),
        again=fields.get("stop_hook_active") is True or _counts(fields.get("loop_count")),
    )


def give_context(event: Event, text: str) -> dict[str, object] | None:
    """Give what to print so that the model reads the text, or nothing where this client's hook cannot."""
    if event.client == _CURSOR:
        if event.hook == SESSION_START:
            return {"additional_context": text}
        # Builds that do not take context here yet read only that the prompt may go on.
        return {"continue": True, "additional_context": text} if event.hook == PROMPT else None
    name = _NAMED.get(event.client, {}).get(event.hook)
    # Codex refuses an answer with any field that it does not know, so this holds no more than is needed.
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}} if name else None


def may_drop_context(event: Event) -> bool:
    """Whether a client is known to lose what it takes here, so that nobody can tell what the model saw."""
    # Cursor's window may be there before this hook has answered, and then goes on without.
    return event.client == _CURSOR and event.hook == SESSION_START


def _text(fields: dict[str, object], *names: str) -> str:
    for name in names:
        found = fields.get(name)
        if isinstance(found, str) and found:
            return found
    return ""


def _root(roots: object) -> str:
    first = roots[0] if isinstance(roots, list) and roots else ""
    if not isinstance(first, str):
        return ""
    # On Windows, Cursor writes a folder as the path of an address: /c:/work.
    return first[1:] if first[:1] == "/" and first[2:3] == ":" else first


def _path(path: str) -> str:
    return os.path.expanduser(path) if path.startswith("~") else path


def _counts(number: object) -> bool:
    return isinstance(number, int) and number > 0
