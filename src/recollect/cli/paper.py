"""Where text for people is written: wrapped to the terminal, or as it is when it goes into a pipe or a file.

What was remembered is never markup and never reaches the terminal as a control sequence.
"""

from collections.abc import Collection, Sequence
from typing import Final

from rich.console import Console
from rich.text import Text

DIM: Final = "dim"
HANDLE: Final = "cyan"
"""Short ids, which one copies."""
STRONG: Final = "bold"
NOTICE: Final = "yellow"
WRONG: Final = "bold red"

WIDEST: Final = 120
"""Longer lines are hard to read, however wide the terminal is."""
_NARROWEST: Final = 20
_GAP: Final = "  "
_DOT: Final = Text.assemble((" · ", DIM))

# A control character is shown by its picture (U+241B for escape), one that has none and half of a surrogate pair
# by the replacement character. Lines and tabs are text.
_PICTURES: Final = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"},
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
    **dict.fromkeys(range(0xD800, 0xE000), 0xFFFD),
}


def clean(text: str) -> str:
    """Give a text as a terminal may have it."""
    return text.replace("\r\n", "\n").translate(_PICTURES)


def plain(text: object, style: str = "") -> Text:
    """Give a text that is shown as it is, whatever is in it."""
    return Text(clean(str(text)), style)


def label(text: str, style: str = "") -> Text:
    """Give a name or a tag, which may hold anything, on one line."""
    return plain(" ".join(text.split()), style)


class Paper:
    """Standard output or standard error, line by line."""

    def __init__(self, *, errors: bool = False) -> None:
        self.console = _Console(stderr=errors, highlight=False, markup=False, emoji=False)
        self.is_terminal = self.console.is_terminal

    @property
    def width(self) -> int:
        return min(self.console.width, WIDEST)

    def write(self, text: Text | str = "", first: Text | str = "", *, cut: bool = False) -> None:
        """Write a text behind `first`, its further lines indented as far; `cut` keeps it to one line."""
        first = Text(first) if isinstance(first, str) else first
        text = plain(text) if isinstance(text, str) else text
        indent = Text(" " * first.cell_len)
        for number, line in enumerate(self._lines(text, self.width - first.cell_len, cut=cut)):
            self.console.print(Text.assemble(indent if number else first, line), soft_wrap=True)

    def flow(self, parts: Sequence[Text], first: Text | str = "") -> None:
        """Write parts in a row, with a new line only between two of them."""
        first = Text(first) if isinstance(first, str) else first
        rows: list[list[Text]] = [[]]
        for part in parts:
            taken = first.cell_len + sum(each.cell_len + _DOT.cell_len for each in rows[-1])
            if self.is_terminal and rows[-1] and taken + part.cell_len > self.width:
                rows.append([])
            rows[-1].append(part)
        self.write(Text("\n").join(_DOT.join(row) for row in rows), first)

    def columns(
        self, rows: Sequence[Sequence[Text]], *, indent: int = 0, right: Collection[int] = (), cut: bool = False
    ) -> None:
        """Write rows with their columns aligned; the last takes the room that is left, or a line of its own."""
        widths = [max(cell.cell_len for cell in column) for column in list(zip(*rows, strict=True))[:-1]]
        for row in rows:
            first = Text(" " * indent)
            for place, (cell, width) in enumerate(zip(row, widths, strict=False)):
                blank = " " * (width - cell.cell_len)
                first.append_text(
                    Text.assemble(blank, cell, _GAP) if place in right else Text.assemble(cell, blank, _GAP)
                )
            if not row[-1]:
                first.rstrip()
            if self.is_terminal and row[-1] and self.width - first.cell_len < _NARROWEST:
                first.rstrip()
                self.write(first)
                first = Text(" " * indent + _GAP)
            self.write(row[-1], first, cut=cut)

    def _lines(self, text: Text, room: int, *, cut: bool) -> Sequence[Text]:
        if not self.is_terminal:
            return list(text.split(allow_blank=True))
        room = max(room, 1)
        if cut:
            text.truncate(room, overflow="ellipsis")
            return [text]
        return list(text.wrap(self.console, room))


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Leave it to the command line, which ends quietly; Rich would end the program here."""
        raise BrokenPipeError
