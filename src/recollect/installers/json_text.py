"""JSON read for where its parts stand in the text. Comments and trailing commas are taken: some clients allow them."""

import json
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final, NamedTuple

SPACE: Final = "space"
LINE: Final = "line"
"""A comment up to the end of its line, the end not included."""
BLOCK: Final = "block"
STRING: Final = "string"
ATOM: Final = "atom"
_GAPS: Final = frozenset({SPACE, LINE, BLOCK})

_TOKEN: Final = re.compile(
    r"""
      (?P<space>[ \t\r\n]+)
    | (?P<line>//[^\r\n]*)
    | (?P<block>/\*.*?\*/)
    | (?P<string>"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")
    | (?P<atom>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.])|(?:true|false|null)(?!\w))
    | (?P<mark>[{}\[\],:])
    """,
    re.VERBOSE | re.DOTALL,
)
BOM: Final = "\ufeff"
_DECODER: Final = json.JSONDecoder()

# What may come next; where a comma, a key or an item may, the end of what is open may too.
_ONLY: Final = "the whole value"
_VALUE: Final = "value"
_ITEM: Final = "item"
_KEY: Final = "key"
_COLON: Final = "colon"
_COMMA: Final = "comma"
_END: Final = "end"


class NotJson(ValueError):
    """The text is no JSON, from this place on."""

    def __init__(self, text: str, place: int) -> None:
        before = text[:place]
        self.line = before.count("\n") + 1
        self.column = place - (before.rfind("\n") + 1) + 1
        super().__init__(f"line {self.line}, column {self.column}")


class Token(NamedTuple):
    kind: str
    """One of the kinds above, or the mark itself."""
    start: int
    end: int


@dataclass(slots=True)
class Item:
    """A member of an object or an element of an array."""

    first: int
    """The token it begins with: a member's key."""
    key: str | None
    value: "Node"


@dataclass(slots=True)
class Node:
    """A value: its first and last token, and what is in it."""

    kind: str
    first: int
    last: int
    items: list[Item] = field(default_factory=list)

    def find(self, key: str) -> int | None:
        """Give the place of a member; of several with one key the last counts, as everywhere."""
        return next((place for place in reversed(range(len(self.items))) if self.items[place].key == key), None)


@dataclass(frozen=True, slots=True)
class Document:
    text: str
    tokens: list[Token]
    root: Node | None
    """None if there is nothing but space and comments."""

    def near(self, token: int, step: int) -> int | None:
        """Give the next token that is neither space nor comment, forwards or backwards."""
        token += step
        while 0 <= token < len(self.tokens):
            if self.tokens[token].kind not in _GAPS:
                return token
            token += step
        return None

    def data(self, node: Node) -> object:
        """Give a value as Python has it."""
        if node.kind == "{":
            return {item.key: self.data(item.value) for item in node.items}
        if node.kind == "[":
            return [self.data(item.value) for item in node.items]
        token = self.tokens[node.first]
        return json.loads(self.text[token.start : token.end])


def parse(text: str, within: Collection[str] | None = None) -> Document:
    """Read a text; of an object, only what is in these members, each other one counting as one piece."""
    reader = _Reader(text, _scan(text, within))
    for place, token in enumerate(reader.tokens):
        if token.kind not in _GAPS and not (reader.take_mark(place, token) or reader.take_value(place, token)):
            raise NotJson(text, token.start)
    if reader.boxes or reader.wanted not in {_END, _ONLY}:
        raise NotJson(text, len(text))
    return Document(text, reader.tokens, reader.root)


class _Reader:
    """Goes through the tokens once, knowing what may come next."""

    def __init__(self, text: str, tokens: list[Token]) -> None:
        self.text = text
        self.tokens = tokens
        self.root: Node | None = None
        self.boxes: list[Node] = []
        self.wanted = _ONLY
        self.first = 0
        self.key: str | None = None

    def take_mark(self, place: int, token: Token) -> bool:
        if self.wanted == _COLON and token.kind == ":":
            self.wanted = _VALUE
        elif self.wanted == _COMMA and token.kind == ",":
            self.wanted = _inside(self.boxes[-1])
        elif self.wanted in {_COMMA, _KEY, _ITEM} and token.kind == _closing(self.boxes[-1]):
            self.boxes.pop().last = place
            self.wanted = _COMMA if self.boxes else _END
        else:
            return False
        return True

    def take_value(self, place: int, token: Token) -> bool:
        if self.wanted == _KEY and token.kind == STRING:
            self.key, self.first = json.loads(self.text[token.start : token.end]), place
            self.wanted = _COLON
            return True
        if self.wanted not in {_ONLY, _VALUE, _ITEM} or token.kind not in {"{", "[", STRING, ATOM}:
            return False
        node = Node(token.kind, place, place)
        if not self.boxes:
            self.root = node
        elif self.wanted == _VALUE:
            self.boxes[-1].items.append(Item(self.first, self.key, node))
        else:
            self.boxes[-1].items.append(Item(place, None, node))
        if token.kind in {"{", "["}:
            self.boxes.append(node)
            self.wanted = _inside(node)
        else:
            self.wanted = _COMMA if self.boxes else _END
        return True


def _scan(text: str, within: Collection[str] | None) -> list[Token]:
    place = len(BOM) if text.startswith(BOM) else 0
    tokens = [Token(SPACE, 0, place)] if place else []
    depth = 0
    name = skipped = False
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise NotJson(text, place)
        kind, end = match.lastgroup or "", match.end()
        if kind == "mark":
            kind = match.group()
            if kind in {"{", "["} and skipped:
                kind, end = _skip(text, place, kind, end)
            depth += (kind in {"{", "["}) - (kind in {"}", "]"})
        elif kind == STRING and depth == 1:
            name = within is not None and json.loads(match.group()) not in within
        if kind not in _GAPS:
            skipped = kind == ":" and depth == 1 and name
        tokens.append(Token(kind, place, end))
        place = end
    return tokens


def _skip(text: str, place: int, kind: str, end: int) -> tuple[str, int]:
    """Take a value in one piece, which is a hundred times faster, if it is plain JSON."""
    try:
        return ATOM, _DECODER.raw_decode(text, place)[1]
    except (ValueError, RecursionError):
        return kind, end


def _inside(box: Node) -> str:
    return _KEY if box.kind == "{" else _ITEM


def _closing(box: Node) -> str:
    return "}" if box.kind == "{" else "]"
