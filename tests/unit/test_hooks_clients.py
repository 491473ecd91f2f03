"""Inputs are written after what each client documents, or was seen to send."""

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.hooks.clients import Event, give_context, read_event

CLIENTS = ("claude-code", "codex", "cursor", "gemini", "vscode", "windsurf", "zed")
HOOKS = ("prompt", "session-start", "pre-compact", "stop")

CLAUDE = {
    "session_id": "5f0c",
    "transcript_path": "/home/ann/.claude/projects/-work-shop/5f0c.jsonl",
    "cwd": "/work/shop",
    "permission_mode": "default",
}
CODEX = {
    "session_id": "0199-aa",
    "transcript_path": None,
    "cwd": "/work/shop",
    "model": "gpt-5.6",
    "permission_mode": "default",
}
CURSOR = {
    "conversation_id": "c-77",
    "generation_id": "g-1",
    "workspace_roots": ["/work/shop", "/work/docs"],
    "cursor_version": "3.7.21",
    "user_email": "ann@example.com",
    "transcript_path": "/home/ann/.cursor/projects/work-shop/agent-transcripts/c-77.jsonl",
}
GEMINI = {
    "session_id": "g-9",
    "transcript_path": "/home/ann/.gemini/tmp/1a/chats/session.json",
    "cwd": "/work/shop",
    "timestamp": "2026-09-01T10:00:00Z",
}
VSCODE = {"session_id": "v-3", "cwd": "/work/shop", "timestamp": "2026-09-01T10:00:00.000Z"}


def as_fields(event: Event) -> dict[str, object]:
    return {name: getattr(event, name) for name in Event.__slots__}


@pytest.mark.parametrize(
    ("client", "hook", "fields", "expected"),
    [
        (
            "claude-code",
            "prompt",
            {**CLAUDE, "hook_event_name": "UserPromptSubmit", "prompt": "fix the basket"},
            {"session": "5f0c", "prompt": "fix the basket", "transcript": CLAUDE["transcript_path"]},
        ),
        (
            "claude-code",
            "session-start",
            {**CLAUDE, "hook_event_name": "SessionStart", "source": "compact"},
            {"session": "5f0c", "source": "compact", "transcript": CLAUDE["transcript_path"]},
        ),
        (
            "claude-code",
            "pre-compact",
            {**CLAUDE, "hook_event_name": "PreCompact", "trigger": "manual", "custom_instructions": "keep names"},
            {"session": "5f0c", "source": "manual", "transcript": CLAUDE["transcript_path"]},
        ),
        (
            "claude-code",
            "stop",
            {**CLAUDE, "hook_event_name": "Stop", "stop_hook_active": True},
            {"session": "5f0c", "again": True, "transcript": CLAUDE["transcript_path"]},
        ),
        (
            "codex",
            "prompt",
            {**CODEX, "turn_id": "1", "hook_event_name": "UserPromptSubmit", "prompt": "fix the basket"},
            {"session": "0199-aa", "prompt": "fix the basket"},
        ),
        (
            "codex",
            "stop",
            {**CODEX, "turn_id": "1", "stop_hook_active": False, "last_assistant_message": None},
            {"session": "0199-aa"},
        ),
        (
            "cursor",
            "prompt",
            {**CURSOR, "hook_event_name": "beforeSubmitPrompt", "prompt": "fix the basket", "attachments": []},
            {"session": "c-77", "prompt": "fix the basket", "transcript": CURSOR["transcript_path"]},
        ),
        (
            "cursor",
            "session-start",
            {**CURSOR, "hook_event_name": "sessionStart", "session_id": "c-77", "composer_mode": "agent"},
            {"session": "c-77", "transcript": CURSOR["transcript_path"]},
        ),
        (
            "cursor",
            "stop",
            {**CURSOR, "hook_event_name": "stop", "status": "completed", "loop_count": 1},
            {"session": "c-77", "again": True, "transcript": CURSOR["transcript_path"]},
        ),
        (
            "gemini",
            "pre-compact",
            {**GEMINI, "hook_event_name": "PreCompress", "trigger": "auto"},
            {"session": "g-9", "source": "auto", "transcript": GEMINI["transcript_path"]},
        ),
        (
            "gemini",
            "stop",
            {**GEMINI, "hook_event_name": "AfterAgent", "prompt": "fix", "prompt_response": "done"},
            {"session": "g-9", "prompt": "fix", "transcript": GEMINI["transcript_path"]},
        ),
        (
            "vscode",
            "session-start",
            {**VSCODE, "hook_event_name": "SessionStart", "source": "new"},
            {"session": "v-3", "source": "new"},
        ),
    ],
)
def test_reads_what_a_client_sends(client: str, hook: str, fields: dict[str, Any], expected: dict[str, Any]) -> None:
    """Session, folder, prompt, transcript and reason are found under each client's own names."""
    empty = {"session": "", "folder": "/work/shop", "prompt": "", "transcript": "", "source": "", "again": False}

    assert as_fields(read_event(client, hook, fields)) == {"client": client, "hook": hook, **empty, **expected}


def test_windows_root() -> None:
    """A folder that Cursor writes as the path of an address is one that Windows knows."""
    assert read_event("cursor", "prompt", {"workspace_roots": ["/c:/work/shop"]}).folder == "c:/work/shop"


def test_cursor_in_claude_codes_place() -> None:
    """Cursor, which runs Claude Code's hooks too, is known by what it sends and answered in its own form."""
    event = read_event("claude-code", "prompt", {**CURSOR, "prompt": "fix"})

    assert event.client == "cursor"
    assert give_context(event, "a memory") == {"continue": True, "additional_context": "a memory"}


@pytest.mark.parametrize(
    ("client", "hook", "expected"),
    [
        ("claude-code", "prompt", "UserPromptSubmit"),
        ("claude-code", "session-start", "SessionStart"),
        ("codex", "prompt", "UserPromptSubmit"),
        ("codex", "session-start", "SessionStart"),
        ("vscode", "prompt", "UserPromptSubmit"),
        ("vscode", "session-start", "SessionStart"),
        ("gemini", "prompt", "BeforeAgent"),
        ("gemini", "session-start", "SessionStart"),
    ],
)
def test_gives_context_by_the_name_of_the_event(client: str, hook: str, expected: str) -> None:
    """Clients that follow Claude Code get the text beside the name that they have for the event, and nothing else."""
    given_back = give_context(Event(client, hook), "a memory")

    assert given_back == {"hookSpecificOutput": {"hookEventName": expected, "additionalContext": "a memory"}}


def test_gives_cursor_context_at_the_start() -> None:
    """Cursor takes the text of a session's start in a field of its own."""
    assert give_context(Event("cursor", "session-start"), "a memory") == {"additional_context": "a memory"}


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("hook", ["pre-compact", "stop"])
def test_gives_nothing_where_it_would_do_harm(client: str, hook: str) -> None:
    """Before a compaction nothing is taken, and after a turn a text would start another one."""
    assert give_context(Event(client, hook), "a memory") is None


@pytest.mark.parametrize("client", ["windsurf", "zed", "unheard-of"])
@pytest.mark.parametrize("hook", HOOKS)
def test_gives_nothing_where_it_cannot(client: str, hook: str) -> None:
    """A client whose hooks take no context is given none."""
    assert give_context(Event(client, hook), "a memory") is None


_names = st.sampled_from(
    [
        "session_id",
        "conversation_id",
        "trajectory_id",
        "cwd",
        "workspace_roots",
        "prompt",
        "tool_info",
        "transcript_path",
        "source",
        "stop_hook_active",
        "loop_count",
        "cursor_version",
        "other",
    ]
)
_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_names, inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from(CLIENTS), st.sampled_from(HOOKS), st.dictionaries(_names, _values))
def test_takes_any_object(client: str, hook: str, fields: dict[str, Any]) -> None:
    """Whatever the object holds, an event comes out whose parts are of the kinds they should be."""
    event = as_fields(read_event(client, hook, fields))

    assert isinstance(event.pop("again"), bool)
    assert all(isinstance(part, str) for part in event.values())


def test_imports_nothing() -> None:
    """Reading an event costs the import of no module but its own."""
    code = (
        "import sys, json, recollect; before = set(sys.modules); import recollect.hooks.clients;"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert json.loads(run.stdout) == ["recollect.hooks", "recollect.hooks.clients"]
