"""Transcripts of several clients, whole, growing and broken."""

import json
from pathlib import Path
from typing import Any

import pytest

from recollect.core.learning import Turn
from recollect.hooks import transcript
from recollect.hooks.transcript import read_transcript

CLAUDE: list[dict[str, Any]] = [
    {"type": "summary", "summary": "A session", "leafUuid": "x"},
    {"type": "user", "message": {"role": "user", "content": "one"}},
    {"type": "user", "isMeta": True, "message": {"role": "user", "content": "caveat"}},
    {"type": "user", "isCompactSummary": True, "message": {"role": "user", "content": "summary"}},
    {"type": "user", "isSidechain": True, "message": {"role": "user", "content": "aside"}},
    {"type": "user", "origin": {"kind": "task-notification"}, "message": {"role": "user", "content": "notice"}},
    {"type": "user", "message": {"content": [{"type": "tool_result", "content": "result"}]}},
    {"type": "attachment", "attachment": {"type": "hook_additional_context", "content": ["given"]}},
    {"type": "attachment", "attachment": {"type": "file", "content": "a file"}},
    {
        "type": "assistant",
        "message": {"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "two"}]},
    },
    {"type": "assistant", "message": {"content": [{"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}]}},
    {"type": "user", "message": {"content": [{"type": "text", "text": 5}, {"type": "text"}]}},
    {"type": "user", "message": {"content": [{"type": "text", "text": "three"}, {"type": "text", "text": "four"}]}},
    {"type": "system", "subtype": "turn_duration", "content": "said by nobody"},
    {"type": "user", "message": None},
    {"type": ["odd"], "message": {"content": {"odd": 1}}},
]
CODEX: list[dict[str, Any]] = [
    {"type": "session_meta", "payload": {"id": "x", "cwd": "/home/me"}},
    {
        "type": "response_item",
        "payload": {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "given"}]},
    },
    {
        "type": "response_item",
        "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "one"}]},
    },
    {"type": "event_msg", "payload": {"type": "user_message", "message": "one"}},
    {"type": "event_msg", "payload": {"type": "agent_reasoning", "text": "hm"}},
    {"type": "event_msg", "payload": {"type": "agent_message", "message": "two"}},
    {"type": "response_item", "payload": {"type": "function_call_output", "output": "result"}},
]
CURSOR: list[dict[str, Any]] = [
    {
        "role": "user",
        "message": {
            "content": [{"type": "text", "text": "<timestamp>now</timestamp>\n<user_query>\none\n</user_query>"}]
        },
    },
    {
        "role": "assistant",
        "message": {"content": [{"type": "text", "text": "two"}, {"type": "tool_use", "name": "Read"}]},
    },
]
GEMINI: list[dict[str, Any]] = [
    {"id": "1", "type": "user", "content": [{"text": "one"}]},
    {"id": "2", "type": "info", "content": "Update available"},
    {"id": "3", "type": "gemini", "content": "two", "toolCalls": [{"name": "ls"}]},
]


def write(path: Path, entries: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    return str(path)


def said(turns: tuple[Turn, ...]) -> list[tuple[str, str]]:
    return [(turn.role, turn.text.strip()) for turn in turns]


def test_claude_code(tmp_path: Path) -> None:
    """What the user and the agent said is read; what tools, hooks, other agents and the client wrote is not theirs."""
    reading = read_transcript(write(tmp_path / "s.jsonl", CLAUDE))
    assert said(reading.turns) == [
        ("user", "one"),
        ("injected", "given"),
        ("assistant", "two"),
        ("user", "three\n\nfour"),
    ]


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        (CODEX, [("injected", "given"), ("user", "one"), ("assistant", "two")]),
        (CURSOR, [("user", "one"), ("assistant", "two")]),
        (GEMINI, [("user", "one"), ("assistant", "two")]),
    ],
)
def test_other_clients(entries: list[dict[str, Any]], expected: list[tuple[str, str]], tmp_path: Path) -> None:
    """Codex, Cursor and Gemini write lines of other shapes, and each turn is read once."""
    assert said(read_transcript(write(tmp_path / "s.jsonl", entries)).turns) == expected


def test_a_file_that_is_one_object(tmp_path: Path) -> None:
    """Gemini's older files are written anew each time: the messages that were read are counted."""
    path = tmp_path / "session.json"
    path.write_text(json.dumps({"sessionId": "x", "messages": GEMINI}, indent=2), encoding="utf-8")
    first = read_transcript(str(path))
    assert said(first.turns) == [("user", "one"), ("assistant", "two")]
    path.write_text(json.dumps({"messages": [*GEMINI, {"type": "user", "content": "three"}]}), encoding="utf-8")
    assert said(read_transcript(str(path), first.position).turns) == [("user", "three")]
    path.write_text("[]", encoding="utf-8")
    assert read_transcript(str(path)).turns == ()


def test_plain_text(tmp_path: Path) -> None:
    """Cursor's older files are text: tools and thoughts are left out, and what is new is read."""
    path = tmp_path / "s.txt"
    path.write_text(
        "user:\n<user_query>\none\n</user_query>\n\nassistant:\n[Thinking] hm\n\ntwo\n\n[Tool call] Read\n  path: x\n",
        encoding="utf-8",
    )
    first = read_transcript(str(path))
    assert said(first.turns) == [("user", "one"), ("assistant", "two")]
    with path.open("a", encoding="utf-8") as file:
        file.write("\nuser:\n<user_query>three</user_query>\n")
    assert said(read_transcript(str(path), first.position).turns) == [("user", "three")]


def test_only_what_is_new_is_read(tmp_path: Path) -> None:
    """A reading begins where the last one ended, also in the middle of a line that is not written yet."""
    path = tmp_path / "s.jsonl"
    write(path, CLAUDE[:2])
    first = read_transcript(str(path))
    line = json.dumps(CLAUDE[-4]) + "\n"
    with path.open("a", encoding="utf-8") as file:
        file.write(line[:40])
    second = read_transcript(str(path), first.position)
    assert second == transcript.Reading((), first.position)
    with path.open("a", encoding="utf-8") as file:
        file.write(line[40:])
    third = read_transcript(str(path), second.position)
    assert said(third.turns) == [("user", "three\n\nfour")]
    assert third.position == path.stat().st_size


def test_a_last_line_without_an_end_is_read_once(tmp_path: Path) -> None:
    """A line that is whole but for its end is read, and not again when that comes."""
    path = tmp_path / "s.jsonl"
    path.write_text(json.dumps(CLAUDE[1]), encoding="utf-8")
    first = read_transcript(str(path))
    assert said(first.turns) == [("user", "one")]
    with path.open("a", encoding="utf-8") as file:
        file.write("\n")
    assert read_transcript(str(path), first.position).turns == ()


def test_a_file_that_was_replaced(tmp_path: Path) -> None:
    """A file shorter than the position is another one."""
    path = write(tmp_path / "s.jsonl", CLAUDE[:2])
    assert said(read_transcript(path, 1_000_000).turns) == [("user", "one")]


def test_long_lines_and_rubbish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines of many megabytes and lines that are no JSON are passed over, and those after them are read."""
    monkeypatch.setattr(transcript, "LONGEST_LINE", 200)
    path = tmp_path / "s.jsonl"
    huge = json.dumps({"type": "user", "message": {"content": "x" * 1000}}).encode()
    lines = [huge, b"\xff\xfe not json", b"[1, 2]", b"", b"[" * 150, json.dumps(CLAUDE[1]).encode()]
    path.write_bytes(b"\n".join(lines) + b"\n")
    reading = read_transcript(str(path))
    assert said(reading.turns) == [("user", "one")]
    assert reading.position == path.stat().st_size
    path.write_bytes(huge)
    assert read_transcript(str(path)).turns == ()


def test_of_a_very_long_file_the_end_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of more than can be read at once, the last whole lines are."""
    monkeypatch.setattr(transcript, "MOST_BYTES", 100)
    path = write(tmp_path / "s.jsonl", [CLAUDE[1]] * 50)
    assert said(read_transcript(path).turns) == [("user", "one")]


def test_of_much_that_was_said_the_last_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook has no time for more text than it can learn from: what was said last counts, and the rest is behind it."""
    monkeypatch.setattr(transcript, "MOST_TEXT", 8)
    path = write(tmp_path / "s.jsonl", [CLAUDE[1]] * 50)
    reading = read_transcript(path)
    assert said(reading.turns) == [("user", "one")] * 2
    assert reading.position == Path(path).stat().st_size
