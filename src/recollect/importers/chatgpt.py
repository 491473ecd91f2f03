"""A ChatGPT export (zip, folder, or `conversations.json` out of it): what ChatGPT was told to remember, not the chats.

There is no list of saved memories in an export. As observed in 2024 to 2026, each one was written by a message to the
tool `bio`, and the custom instructions stand at the top of a conversation, as `user_editable_context`. Both are kept;
of the instructions only the latest. A memory that was deleted in ChatGPT since is still in its conversation.
"""

import os
import re
import zipfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

from recollect.core.errors import Refused
from recollect.core.foreign import Foreign, Found, Left, Locate
from recollect.importers.fields import text_of, time_of
from recollect.importers.files import decode, parse_json, read_text

SOURCE: Final = "chatgpt"
_CONVERSATIONS: Final = re.compile(r"(?:^|/)conversations(?:-\d+)?\.json$")
_LARGEST: Final = 1 << 31
_TOOL: Final = "bio"
_NOTHING: Final = frozenset({"", "ignore"})
_FORGETTING: Final = re.compile(r"^(?:please )?forget\b", re.IGNORECASE)
_QUOTED: Final = re.compile(r"```(.*?)```", re.DOTALL)
_PARTS: Final = (
    ("about", "about_user_message", "user_profile", "What I told ChatGPT about myself", "people"),
    ("instructions", "about_model_message", "user_instructions", "How I asked ChatGPT to answer", "preferences"),
)
_LONG_AGO: Final = datetime(1970, 1, 1, tzinfo=UTC)


def read(path: str, _locate: Locate) -> Iterator[Found]:
    saved: dict[str, Foreign] = {}
    instructions: dict[str, Foreign] = {}
    chats = 0
    for number, chat in enumerate(_chats(path), start=1):
        chats += 1
        if not isinstance(chat, dict) or not isinstance(chat.get("mapping"), dict):
            yield Left(f"conversation {number}", "It has no messages as ChatGPT writes them.", wrong=True)
            continue
        for message in _messages(chat):
            yield from _keep(message, chat, saved, instructions)
    yield from saved.values()
    yield from instructions.values()
    if chats:
        yield Left(path, f"The text of {chats} conversations was left: a chat is not a memory.")


def _keep(
    message: Mapping[str, Any], chat: Mapping[str, Any], saved: dict[str, Foreign], instructions: dict[str, Foreign]
) -> Iterator[Left]:
    content = message.get("content")
    content = content if isinstance(content, dict) else {}
    title = text_of(chat.get("title")) or "a conversation without a title"
    at = time_of(message.get("create_time")) or time_of(chat.get("update_time")) or time_of(chat.get("create_time"))
    if content.get("content_type") == "user_editable_context":
        for each in _instructions(message, content, title, at):
            known = instructions.get(each.key)
            if known is None or (known.created_at or _LONG_AGO) <= (at or _LONG_AGO):
                instructions[each.key] = each
    elif message.get("recipient") == _TOOL:
        parts = content.get("parts")
        parts = parts if isinstance(parts, list) else [content.get("text")]
        text = "\n".join(filter(None, map(text_of, parts)))
        key = sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()
        if _FORGETTING.match(text):
            yield Left(title, f"ChatGPT was told to forget something ({text:.80}): see whether it was imported.")
        # The same is written again in every branch of a conversation; the first time counts.
        elif text not in _NOTHING and (key not in saved or (at or _LONG_AGO) < (saved[key].created_at or _LONG_AGO)):
            saved[key] = Foreign(key, title, text, tags=(SOURCE,), created_at=at)


def _instructions(
    message: Mapping[str, Any], content: Mapping[str, Any], title: str, at: datetime | None
) -> Iterator[Foreign]:
    metadata = message.get("metadata")
    as_written = metadata.get("user_context_message_data") if isinstance(metadata, dict) else None
    as_written = as_written if isinstance(as_written, dict) else {}
    for key, written, wrapped, heading, category in _PARTS:
        text = text_of(as_written.get(written))
        if not text:
            # Here it stands between sentences of OpenAI's, in a block of its own.
            text = text_of(content.get(wrapped))
            quoted = _QUOTED.search(text)
            text = quoted[1].strip() if quoted else text
        if text:
            yield Foreign(key, title, f"{heading}\n\n{text}", category, (SOURCE,), created_at=at)


def _messages(chat: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for node in chat["mapping"].values():
        message = node.get("message") if isinstance(node, dict) else None
        if isinstance(message, dict):
            yield message


def _chats(path: str) -> Iterator[Any]:
    if os.path.isdir(path):
        # Browsers unpack what they downloaded, and a long history is cut into several files.
        files = sorted(name for name in os.listdir(path) if _CONVERSATIONS.search(name))
        if not files:
            raise Refused(f"{path} holds no conversations.json: it is no export of ChatGPT.")
        for name in files:
            yield from _chats(os.path.join(path, name))
        return
    if not zipfile.is_zipfile(path):
        yield from _list(parse_json(read_text(path), path), path)
        return
    try:
        with zipfile.ZipFile(path) as archive:
            files = sorted(name for name in archive.namelist() if _CONVERSATIONS.search(name))
            if not files:
                raise Refused(f"{path} holds no conversations.json: it is no export of ChatGPT.")
            for name in files:
                if archive.getinfo(name).file_size > _LARGEST:
                    raise Refused(f"{name} in {path} is too large: unpack it and import it by itself.")
                yield from _list(parse_json(decode(archive.read(name), name), name), name)
    except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
        raise Refused(f"{path} cannot be unpacked: {error}.") from None


def _list(value: object, path: str) -> list[Any]:
    if not isinstance(value, list):
        raise Refused(f"{path} is no list of conversations: give conversations.json, or the zip it came in.")
    return value
