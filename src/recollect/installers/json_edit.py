r"""Putting an entry into JSON and taking it out again, as text.

Adding only ever inserts, and always in one of the shapes below, so that taking out is its exact inverse: every byte
that was there before is there afterwards. Ours comes last in its object or array; what is inserted stands in «»:

    {"a": 1«,» /* note */« "ours": ...»}        the comma belongs to the value before, the rest after its comments
    [1, 2,« 3,»]                                where the last had a comma, ours has one
    {«\n  "ours": ...\n»}                       what was empty is spread over lines
"""

import json
import re
from dataclasses import dataclass
from typing import TypeAlias

from recollect.installers.json_text import BLOCK, BOM, LINE, SPACE, Document, Node, parse

Path: TypeAlias = tuple[str, ...]
Place: TypeAlias = tuple[str | int, ...]
"""A path that may also go through arrays."""


class WrongShape(ValueError):
    """Something on the way to an entry is not the object or array that it should be."""


@dataclass(frozen=True, slots=True)
class Added:
    text: str
    made: tuple[Path, ...]
    """The objects and arrays that had to be made for it, outermost first; the empty path is the whole document."""


def add_member(text: str, path: Path, value: object) -> Added:
    """Add a member to the object that the path leads to, made if it is not there."""
    return _add(text, path[:-1], path[-1], value)


def add_element(text: str, path: Path, value: object) -> Added:
    """Add an element to the array that the path leads to, made if it is not there."""
    return _add(text, path, None, value)


def find(document: Document, path: Place) -> Node | None:
    """Give the value at a path, if there is one."""
    node = document.root
    for step in path:
        if node is None:
            return None
        place = step if isinstance(step, int) else node.find(step)
        if place is None:
            return None
        node = node.items[place].value
    return node


def replace_value(text: str, path: Place, value: object) -> str:
    """Put another value where one is; one that is there already stays as it is written."""
    document = parse(text, [str(step) for step in path[:1]])
    box, node = find(document, path[:-1]), find(document, path)
    if box is None or node is None or document.data(node) == value:
        return text
    indent = next(_lead(document, item.first) for item in box.items if item.value is node)
    body = _render(None, value, indent, _unit(text), _eol(text))
    return text[: document.tokens[node.first].start] + body + text[document.tokens[node.last].end :]


def remove_member(text: str, path: Path) -> str:
    document = parse(text, path[:1])
    box = find(document, path[:-1])
    place = None if box is None else box.find(path[-1])
    return text if box is None or place is None else _cut(document, box, place)


def remove_element(text: str, path: Place, place: int) -> str:
    document = parse(text, [str(step) for step in path[:1]])
    box = find(document, path)
    return text if box is None else _cut(document, box, place)


def remove_if_empty(text: str, path: Path) -> str:
    """Take out an object or array that holds nothing any more, not even a comment."""
    document = parse(text, path[:1])
    box = find(document, path)
    if box is None or box.kind not in {"{", "["} or box.items:
        return text
    if any(token.kind in {LINE, BLOCK} for token in document.tokens[box.first : box.last]):
        return text
    if path:
        return remove_member(text, path)
    start, end = document.tokens[box.first].start, document.tokens[box.last].end
    eol = _eol(text)
    return text[:start] + text[end:].removeprefix(eol)


def _add(text: str, path: Path, key: str | None, value: object) -> Added:
    document = parse(text, path[:1])
    node = document.root
    if node is None:
        # Below a mark of the encoding, above whatever comments there are.
        start = len(BOM) if text.startswith(BOM) else 0
        body = _render(None, _wrap(path, key, value), "", "  ", _eol(text)) + _eol(text)
        return Added(text[:start] + body + text[start:], tuple(path[:length] for length in range(len(path) + 1)))
    for depth, step in enumerate(path):
        place = _members(node, path[:depth]).find(step)
        if place is None:
            made = tuple(path[:length] for length in range(depth + 1, len(path) + 1))
            return Added(_insert(document, node, step, _wrap(path[depth + 1 :], key, value)), made)
        node = node.items[place].value
    if node.kind != ("[" if key is None else "{"):
        raise WrongShape(_name(path))
    return Added(_insert(document, node, key, value), ())


def _members(node: Node, path: Path) -> Node:
    if node.kind != "{":
        raise WrongShape(_name(path))
    return node


def _name(path: Path) -> str:
    return ".".join(path) or "the whole file"


def _wrap(path: Path, key: str | None, value: object) -> object:
    """Give an entry inside the objects and arrays that lead to it."""
    value = [value] if key is None else {key: value}
    for step in reversed(path):
        value = {step: value}
    return value


def _insert(document: Document, box: Node, key: str | None, value: object) -> str:
    text, tokens = document.text, document.tokens
    eol, unit, base = _eol(text), _unit(text), _indent(text, tokens[box.first].start)
    if not box.items:
        notes = [place for place in range(box.first, box.last) if tokens[place].kind in {LINE, BLOCK}]
        at = tokens[notes[-1] if notes else box.first].end
        body = _render(key, value, base + unit, unit, eol)
        return text[:at] + eol + base + unit + body + eol + base + text[at:]
    last = box.items[-1].value.last
    comma = document.near(last, 1)
    trailing = comma is not None and tokens[comma].kind == ","
    before = _skip_notes(document, comma if comma is not None and trailing else last)
    indent = _item_indent(document, box)
    if indent is None and tokens[before].kind == LINE:
        indent = base + unit
    gap = " " if indent is None else eol + indent
    body = gap + _render(key, value, indent, unit, eol)
    at, end = tokens[before].end, tokens[last].end
    if trailing:
        return text[:at] + body + "," + text[at:]
    return text[:end] + "," + text[end:at] + body + text[at:]


def _skip_notes(document: Document, token: int) -> int:
    """Give the last of the comments that follow on the same line, or the token itself."""
    tokens, text = document.tokens, document.text
    place = token
    while place + 1 < len(tokens):
        place += 1
        kind, start, end = tokens[place]
        if kind == SPACE and not re.search(r"[\r\n]", text[start:end]):
            continue
        if kind not in {LINE, BLOCK}:
            break
        token = place
    return token


def _item_indent(document: Document, box: Node) -> str | None:
    """Give what stands before the items of a box that is spread over lines."""
    leads = (_lead(document, item.first) for item in reversed(box.items))
    return next((lead for lead in leads if lead is not None), None)


def _lead(document: Document, first: int) -> str | None:
    """Give what stands before an item that begins a line."""
    space = document.tokens[first - 1]
    lead = document.text[space.start : space.end]
    return lead.rpartition("\n")[2] if space.kind == SPACE and "\n" in lead else None


def _cut(document: Document, box: Node, place: int) -> str:
    """Take an item out, with the space before it and the comma that it needed."""
    text, tokens = document.text, document.tokens
    item = box.items[place]
    start, end = tokens[item.first].start, tokens[item.value.last].end
    if tokens[item.first - 1].kind == SPACE:
        start = tokens[item.first - 1].start
    after, before = document.near(item.value.last, 1), document.near(item.first, -1)
    if after is not None and tokens[after].kind == ",":
        comma = tokens[after]
        return text[:start] + text[end : comma.start] + text[comma.end :]
    if before is not None and tokens[before].kind == ",":
        comma = tokens[before]
        return text[: comma.start] + text[comma.end : start] + text[end:]
    tail = _eol(text) + _indent(text, tokens[box.first].start)
    return text[:start] + text[end:].removeprefix(tail)


def _render(key: str | None, value: object, indent: str | None, unit: str, eol: str) -> str:
    """Write an entry over lines, or on one where there is no indent."""
    name = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
    if indent is None:
        return name + json.dumps(value, ensure_ascii=False)
    return name + json.dumps(value, ensure_ascii=False, indent=unit).replace("\n", eol + indent)


def _eol(text: str) -> str:
    """Give the line ends of a text, by its first one."""
    first = re.search(r"\r\n|\r|\n", text)
    return "\r\n" if first is not None and first.group() == "\r\n" else "\n"


def _unit(text: str) -> str:
    """Give how far a text indents, by its first indented line."""
    first = re.search(r"[\r\n]([ \t]+)[^\s]", text)
    return first.group(1) if first is not None else "  "


def _indent(text: str, place: int) -> str:
    """Give what the line of a place begins with."""
    line = text[max(text.rfind("\n", 0, place), text.rfind("\r", 0, place)) + 1 : place]
    return line[: len(line) - len(line.lstrip(" \t"))]
