"""Reads a source's files: text, JSON, a folder's Markdown. What cannot be read is refused with its reason."""

import codecs
import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from recollect.core.errors import Refused

MARKDOWN: Final = (".md", ".markdown")
_WIDE: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_SQLITE: Final = b"SQLite format 3\0"


def read_bytes(path: str, most: int = -1) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(most)
    except OSError as error:
        raise Refused(f"{path} cannot be read: {error.strerror or error}.") from None


def read_text(path: str) -> str:
    """Read a file of text; what Windows PowerShell wrote is UTF-16."""
    return decode(read_bytes(path), path)


def decode(octets: bytes, path: str) -> str:
    try:
        text = octets.decode("utf-16" if octets.startswith(_WIDE) else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refused(f"{path} is not text in UTF-8: its byte {error.start} does not fit.") from None
    return text.replace("\r\n", "\n")


def parse_json(text: str, path: str) -> Any:  # noqa: ANN401 - whatever it is
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Refused(f"{path} is not JSON ({error}).") from None


def is_sqlite(path: str) -> bool:
    return os.path.isfile(path) and read_bytes(path, len(_SQLITE)) == _SQLITE


def check_markdown(path: str) -> None:
    """Refuse a file of another kind, before all of it is taken for a note."""
    if os.path.isfile(path) and not path.lower().endswith(MARKDOWN):
        raise Refused(f"{path} is no Markdown file: `recollect import {path}` says what it looks like.")


def list_markdown(folder: str) -> Iterator[str]:
    """Give the Markdown files of a folder and those below it, hidden ones left out, in a fixed order."""
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.lower().endswith(MARKDOWN) and not name.startswith("."):
                yield os.path.join(here, name)


def changed_at(path: str) -> datetime | None:
    """Say when a file was last written: the best that is known of a text without a time of its own."""
    try:
        return datetime.fromtimestamp(os.stat(path).st_mtime, UTC)
    except (OSError, OverflowError, ValueError):
        return None
