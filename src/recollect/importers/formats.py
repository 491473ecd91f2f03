"""The formats by their names, and which of them a file looks like."""

import os
import re
import zipfile
from collections.abc import Iterator
from importlib import import_module
from typing import Final

from recollect.core.errors import Refused
from recollect.core.foreign import Found, Locate
from recollect.importers.files import is_sqlite, list_markdown, read_bytes
from recollect.importers.tables import columns_of

FORMATS: Final = {
    "claude-code": "Claude Code's auto memory: ~/.claude/projects, or one memory folder in it",
    "markdown": "CLAUDE.md, AGENTS.md or another Markdown file, by its headings; or a folder that has some",
    "chatgpt": "a ChatGPT export: the zip, its folder, or its conversations.json",
    "mem0": "what mem0's get_all returns, as JSON",
    "basic-memory": "a folder of basic-memory's notes",
    "mcp-memory-service": "mcp-memory-service's JSON export, or its SQLite file",
    "mcp-memory": "the reference MCP memory server's memory.jsonl",
    "claude-memory-mcp": "claude-memory-mcp's SQLite file, or JSON from its API",
}
_HEAD: Final = 1 << 16
_SIGNS: Final = (
    ("mcp-memory-service", rb'"export_metadata"|"content_hash"'),
    ("chatgpt", rb'"mapping"\s*:|"conversation_template_id"'),
    ("mcp-memory", rb'"entityType"|"relationType"'),
    ("claude-memory-mcp", rb'"expanded_keywords"|"is_sensitive"'),
    ("mem0", rb'"memory"\s*:\s*"'),
)
"""What only a file of that format has near its beginning; the first that fits counts."""


def read_source(name: str, path: str, locate: Locate) -> Iterator[Found]:
    """Read a source of a format; what it is not is refused before anything is read from it."""
    if name not in FORMATS:
        raise Refused(f"There is no format {name!r}: --from takes {', '.join(FORMATS)}.")
    if not os.path.exists(path):
        raise Refused(f"{path} cannot be read: there is no such file or folder.")
    found: Iterator[Found] = import_module(f"recollect.importers.{name.replace('-', '_')}").read(path, locate)
    return found


def recognise(path: str) -> str | None:
    """Name the format that a file or a folder looks like, if it looks like one."""
    if os.path.isdir(path):
        return _recognise_folder(path)
    if is_sqlite(path):
        columns = columns_of(path, "memories")
        signs = {"content_hash": "mcp-memory-service", "expanded_keywords": "claude-memory-mcp"}
        return next((name for column, name in signs.items() if column in columns), None)
    if zipfile.is_zipfile(path):
        return "chatgpt"
    if path.lower().endswith((".md", ".markdown")):
        return "claude-code" if os.path.basename(os.path.dirname(os.path.abspath(path))) == "memory" else "markdown"
    head = read_bytes(path, _HEAD)
    return next((name for name, sign in _SIGNS if re.search(sign, head)), None)


def _recognise_folder(path: str) -> str | None:
    names = set(os.listdir(path))
    if "MEMORY.md" in names or "memory" in names or os.path.basename(os.path.abspath(path)) == "projects":
        return "claude-code"
    if any(re.fullmatch(r"conversations(?:-\d+)?\.json", name) for name in names):
        return "chatgpt"
    if names & {"CLAUDE.md", "AGENTS.md"}:
        return "markdown"
    first = next(list_markdown(path), None)
    return (
        "basic-memory"
        if first and re.match(rb"---\s*\n(?:.*\n)*?(?:permalink|title):", read_bytes(first, _HEAD))
        else None
    )
