"""A client's transcript, from where it was last read on: bytes of a file in, what was said and the new position out.

A line is known by its shape and not by the client's name: these files have changed before, and a client can run
another's hooks. What is not understood is passed over. Known, from documents or files seen in late 2026:

| client      | file                     | a line                                                                      |
|-------------|--------------------------|-----------------------------------------------------------------------------|
| claude-code | .jsonl                   | `type` user or assistant, `message.content` text or blocks; `attachment`    |
| cursor      | .jsonl                   | `role`, `message.content` blocks, the user's words in `<user_query>`        |
| cursor      | .txt, before 2026        | `user:` and `assistant:` on lines of their own                              |
| codex       | rollout-*.jsonl          | `event_msg` with `user_message` or `agent_message`                          |
| gemini      | session-*.jsonl or .json | `type` user or gemini, `content` text or parts; or all in one `messages`    |
"""

import json
import os
import re
from collections.abc import Iterable, Iterator
from typing import IO, Any, Final

from recollect.core.learning import Role, Turn
from recollect.values import value

LONGEST_LINE: Final = 4 << 20
"""Bytes of a line that is read. Longer ones hold what a tool gave back, or a picture."""
MOST_BYTES: Final = 64 << 20
"""Bytes read at once: of a long transcript that was never read before, its end."""
MOST_TEXT: Final = 1 << 19
"""Characters that were said of which anything is learned at once: the last. The rules read a million in a second, and
a hook that never came to its end would read the same again after every answer."""

_QUERY: Final = re.compile(r"<user_query>(.*?)</user_query>", re.DOTALL)
_SPEAKER: Final = re.compile(r"(?m)^(user|assistant):[ \t]*$")
_TOOLS: Final = re.compile(r"(?ms)^\[(?:Tool call|Tool result|Thinking)\].*?(?=^\s*$|\Z)")
_UNSAID: Final = ("isSidechain", "isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")
"""What marks a line that nobody said: another agent's, the client's own, a summary."""
_HOOKS: Final = frozenset(("hook_additional_context", "hook_success", "hook_system_message"))


@value
class Reading:
    """What was said since the last reading, and where the next one begins."""

    turns: tuple[Turn, ...]
    position: int


def read_transcript(path: str, position: int = 0) -> Reading:
    """Read what is new; a file that became shorter is another one, and is read from its start."""
    reading = _read(path, position)
    return Reading(_last(reading.turns), reading.position)


def _last(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    left = MOST_TEXT
    for place in range(len(turns) - 1, -1, -1):
        left -= len(turns[place].text)
        if left < 0:
            return turns[place + 1 :]
    return turns


def _read(path: str, position: int) -> Reading:
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        position = position if 0 <= position <= size else 0
        if path.endswith(".json"):
            return _read_whole(file, position)
        if path.endswith(".txt"):
            file.seek(position)
            text = file.read(MOST_BYTES)
            return Reading(tuple(_from_text(text.decode("utf-8", "replace"))), position + len(text))
        start = max(position, size - MOST_BYTES)
        file.seek(start)
        if start > position:
            file.readline()
        turns, end = _read_lines(file)
        return Reading(tuple(turns), end)


def _read_lines(file: IO[bytes]) -> tuple[list[Turn], int]:
    """Read lines up to the last one that is whole, and say where that ends."""
    turns: list[Turn] = []
    end = file.tell()
    while line := file.readline(LONGEST_LINE):
        whole = line.endswith(b"\n")
        if len(line) == LONGEST_LINE and not whole:
            whole = _skip_line(file)
            line = b""
        entry = _parse(line)
        if entry is not None:
            turns += _from_entry(entry)
        elif not whole:
            # Its writer has not come to its end yet.
            break
        end = file.tell()
    return turns, end


def _skip_line(file: IO[bytes]) -> bool:
    while part := file.readline(LONGEST_LINE):
        if part.endswith(b"\n"):
            return True
    return False


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def _read_whole(file: IO[bytes], position: int) -> Reading:
    """Read a file that is one object, written anew each time: the position counts its messages."""
    entry = _parse(file.read(MOST_BYTES))
    messages = entry.get("messages") if entry else None
    if not isinstance(messages, list):
        return Reading((), position)
    new = messages[position if position <= len(messages) else 0 :]
    return Reading(tuple(turn for each in new if isinstance(each, dict) for turn in _from_entry(each)), len(messages))


def _from_entry(entry: dict[str, Any]) -> Iterator[Turn]:
    if any(entry.get(name) is True for name in _UNSAID):
        return
    kind, payload, message = entry.get("type"), entry.get("payload"), entry.get("message")
    if kind == "attachment":
        yield from _from_attachment(entry.get("attachment"))
    elif kind == "event_msg" and isinstance(payload, dict):
        yield from _turn(
            {"user_message": "user", "agent_message": "assistant"}, payload.get("type"), payload.get("message")
        )
    elif kind == "response_item" and isinstance(payload, dict):
        # The user's and the agent's words stand in events; what others told the model stands here alone.
        yield from _turn({"developer": "injected"}, payload.get("role"), payload.get("content"))
    elif isinstance(message, dict):
        if _is_human(entry):
            yield from _turn(
                {"user": "user", "assistant": "assistant"}, kind or entry.get("role"), message.get("content")
            )
    else:
        yield from _turn({"user": "user", "gemini": "assistant"}, kind, entry.get("content"))


def _is_human(entry: dict[str, Any]) -> bool:
    """Whether a client that says where a turn comes from says that a person wrote it."""
    origin = entry.get("origin")
    return not isinstance(origin, dict) or origin.get("kind") in {None, "human"}


def _from_attachment(attachment: object) -> Iterator[Turn]:
    if isinstance(attachment, dict) and attachment.get("type") in _HOOKS:
        for field in ("content", "stdout"):
            yield from _turn({"hook": "injected"}, "hook", attachment.get(field))


def _turn(roles: dict[str, Role], kind: object, content: object) -> Iterator[Turn]:
    role = roles.get(kind) if isinstance(kind, str) else None
    if role is None:
        return
    text = "\n\n".join(_texts(content))
    if queries := _QUERY.findall(text):
        text = "\n\n".join(queries)
    if text.strip():
        yield Turn(role, text)


def _texts(content: object) -> Iterable[str]:
    """Give the texts of a message, without what tools were asked and gave back, thoughts and pictures."""
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        for block in content:
            if isinstance(block, str):
                yield block
            elif isinstance(block, dict) and block.get("type", "text") in {"text", "input_text", "output_text"}:
                text = block.get("text")
                if isinstance(text, str):
                    yield text


def _from_text(text: str) -> Iterator[Turn]:
    """Read a transcript in plain text: a speaker's line, and what they said up to the next."""
    parts = _SPEAKER.split(text)
    for speaker, said in zip(parts[1::2], parts[2::2], strict=True):
        own = _TOOLS.sub("", said)
        yield from _turn({"user": "user", "assistant": "assistant"}, speaker, own)
