"""The YAML between `---` lines at the top of a Markdown file, as far as notes use it: no library is worth it.

Read are `key: value`, quoted or not, lists in brackets or a line each, one level of keys below a key, and text that
runs over several lines. What is none of that is left out; nothing here raises.
"""

import re
from typing import Final

Value = str | list[str] | dict[str, str]

_FENCED: Final = re.compile(r"\A---[ \t]*\n(?P<inside>.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_PAIR: Final = re.compile(r"^(?P<indent>[ \t]*)(?P<key>[^\s:#'\"\[\]{},-][^:\n]*):(?P<value>[ \t].*)?$")
_ITEM: Final = re.compile(r"^[ \t]*-[ \t]+(?P<value>.+)$")
_BLOCK: Final = re.compile(r"^[>|][+-]?\d?$")
_PIECE: Final = re.compile(r"\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'|[^,\s][^,]*")


def split_front_matter(text: str) -> tuple[dict[str, Value], str]:
    """Give what the front matter says, and the text after it; a file without any says nothing."""
    fenced = _FENCED.match(text)
    if fenced is None:
        return {}, text
    return _read(fenced["inside"].splitlines()), text[fenced.end() :]


def _read(lines: list[str]) -> dict[str, Value]:
    said: dict[str, Value] = {}
    at = 0
    while at < len(lines):
        pair = _PAIR.match(lines[at])
        at += 1
        if pair is None or pair["indent"]:
            continue
        below = at
        while at < len(lines) and _is_below(lines[at]):
            at += 1
        said[pair["key"].strip()] = _value((pair["value"] or "").strip(), lines[below:at])
    return said


def _is_below(line: str) -> bool:
    return not line.strip() or line[0] in " \t" or _ITEM.match(line) is not None


def _value(first: str, below: list[str]) -> Value:
    if _BLOCK.match(first):
        joint = " " if first.startswith(">") else "\n"
        return joint.join(line.strip() for line in below).strip()
    if first.startswith("[") and first.endswith("]"):
        return [word for piece in _PIECE.findall(first[1:-1]) if (word := _plain(piece))]
    if first:
        return _plain(" ".join([first, *(line.strip() for line in below)]))
    if items := [_plain(item["value"]) for line in below if (item := _ITEM.match(line))]:
        return items
    return {pair["key"].strip(): _plain(pair["value"] or "") for line in below if (pair := _PAIR.match(line))}


def _plain(text: str) -> str:
    """Give a value without its quotes or the comment after it."""
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == '"':
        return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), text[1:-1])
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    return re.sub(r"[ \t]#.*$", "", text).strip()
