"""Cuts a Markdown text by its headings into sections that each say what they are about."""

import re
from collections.abc import Iterator
from typing import Final

from recollect.values import value

_HEADING: Final = re.compile(r"^ {0,3}(?P<marks>#{1,6})[ \t]+(?P<words>.*?)(?:[ \t]+#+)?[ \t]*$")
_FENCE: Final = re.compile(r"^[ \t]*(?P<fence>```|~~~)")
BETWEEN: Final = " > "


@value
class Section:
    path: tuple[str, ...]
    """Its heading, below those it stands under; none for what stands before the first."""
    text: str

    @property
    def content(self) -> str:
        """The path as the first line, then the text."""
        return f"{BETWEEN.join(self.path)}\n\n{self.text}" if self.path else self.text


def cut_sections(text: str) -> Iterator[Section]:
    """Give every section with the text of its own, which can be empty."""
    path: dict[int, str] = {}
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and fence in {"", mark["fence"]}:
            fence = "" if fence else mark["fence"]
        heading = None if fence or mark else _HEADING.match(line)
        if heading is None:
            lines.append(line)
            continue
        yield Section(tuple(path.values()), "\n".join(lines).strip("\n").rstrip())
        depth = len(heading["marks"])
        path = {level: words for level, words in path.items() if level < depth}
        path[depth] = heading["words"].strip() or "…"
        lines = []
    yield Section(tuple(path.values()), "\n".join(lines).strip("\n").rstrip())
