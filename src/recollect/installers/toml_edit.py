"""Putting a table at the end of a TOML file, mending it, and taking it out again, as text.

Whether a file had a line end at its last line is told by whether ours has one, so that every byte can be given back.
"""

import re
import tomllib
from typing import Any

from recollect.installers.json_text import BOM


class NotToml(ValueError):
    """The text is no TOML; the message says where."""


class NotOurs(ValueError):
    """The table is written in a way that cannot be taken out as text."""


def read_table(text: str, name: str) -> dict[str, Any] | None:
    """Give a table by its dotted name, if there is one."""
    found: Any = _load(text)
    for step in name.split("."):
        found = found.get(step) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else None


def add_table(text: str, name: str, lines: list[str]) -> str:
    eol = _eol(text)
    block = eol.join([f"[{name}]", *lines])
    if not text:
        added = block + eol
    elif text.endswith("\n"):
        added = text + eol + block + eol
    else:
        added = text + eol + eol + block
    try:
        _load(added)
    except NotToml:
        # The file says elsewhere, in one line, what all tables of this kind are.
        raise NotOurs(name) from None
    return added


def replace_string(text: str, name: str, key: str, written: str) -> str:
    """Put another string into a table's value, as it is written in TOML."""
    wanted = {**(read_table(text, name) or {}), key: tomllib.loads(f"x = {written}")["x"]}
    table = rf"^[ \t]*\[{re.escape(name)}\][^\n]*\n(?:(?![ \t]*\[)[^\n]*\n)*?"
    value = r"""(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
    found = re.search(rf"{table}[ \t]*{re.escape(key)}[ \t]*=[ \t]*(?P<value>{value})", text, re.MULTILINE)
    if found is None:
        raise NotOurs(name)
    replaced = text[: found.start("value")] + written + text[found.end("value") :]
    if read_table(replaced, name) != wanted:
        raise NotOurs(name)
    return replaced


def remove_table(text: str, name: str) -> str:
    """Take a table out, with the tables inside it: without their owner they would mean something else."""
    wanted = _load(text)
    *parents, last = name.split(".")
    box: Any = wanted
    for step in parents:
        box = box.get(step) if isinstance(box, dict) else None
    if not isinstance(box, dict) or last not in box:
        return text
    del box[last]
    header = re.compile(rf"\[{re.escape(name)}(\.[^\]]*)?\]\s*(#.*)?")
    lines = re.findall(r"[^\n]*\n|[^\n]+", text)
    while (
        start := next((place for place, line in enumerate(lines) if header.fullmatch(line.strip())), None)
    ) is not None:
        lines = _cut(lines, start, _eol(text))
    text = "".join(lines)
    if _without_empty(_load(text)) != _without_empty(wanted):
        raise NotOurs(name)
    return text


def _cut(lines: list[str], start: int, eol: str) -> list[str]:
    """Cut a table from its header to its last value; comments and blank lines behind belong to what follows."""
    end = start + 1
    for place in range(start + 1, len(lines)):
        line = lines[place].strip()
        if line.startswith("["):
            break
        if line and not line.startswith("#"):
            end = place + 1
    before = "".join(lines[:start])
    for _ in range(1 if lines[end - 1].endswith("\n") else 2):
        shorter = before.removesuffix(eol)
        # A line end that ends no blank line is not the one that was put in between.
        if not lines[end - 1].endswith("\n") or not shorter or shorter.endswith("\n"):
            before = shorter
    return [before, *lines[end:]]


def _load(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix(BOM))
    except tomllib.TOMLDecodeError as error:
        raise NotToml(str(error)) from None


def _without_empty(data: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if value != {}}


def _eol(text: str) -> str:
    """Give the line ends of a text, by its first one."""
    return "\r\n" if text.partition("\n")[0].endswith("\r") and "\n" in text else "\n"
