"""Cuts a Markdown text by its headings into sections that each say what they are about."""

import re
from collections.abc import Iterator
from typing import Final

from recollect.values import value

_HEADING: Final = re.compile(r"^ {0,3}(?P<marks>#{1,6})[ \t](?P<words>.*)$")
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
        path[depth] = _drop_closing(heading["words"].strip()) or "…"
        lines = []
    yield Section(tuple(path.values()), "\n".join(lines).strip("\n").rstrip())


def _drop_closing(words: str) -> str:
    """Give a heading without the marks that may close it: `## Testing ##`."""
    bare = words.rstrip("#")
    return bare.rstrip() if bare != words and bare[-1:] in {"", " ", "\t"} else words
