"""Cuts a text that is longer than a memory may be into parts that each make sense alone.

It is cut where it hangs together least: between paragraphs, then list items, lines, sentences, words. Nothing but the
white space at a cut is lost. Every part after the first begins with the heading of the whole.
"""

import re
from bisect import bisect
from collections.abc import Iterator
from typing import Final

_FENCE: Final = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_PARAGRAPHS: Final = re.compile(r"\n[ \t]*\n\s*")
_SEAMS: Final = (
    _PARAGRAPHS,
    re.compile(r"\n(?=[ \t]{0,3}(?:[-*+]|\d+[.)])[ \t])"),
    re.compile(r"\n"),
    re.compile(r"(?<=[.!?;])\s+"),
    re.compile(r"\s+"),
)
_WHOLE_IN_FENCES: Final = 2
"""So many of the seams are none inside a block of code."""
_HEADING_SHARE: Final = 4
"""A heading takes at most this part of the room."""


def split_text(text: str, limit: int) -> list[str]:
    """Give a text as it is if it fits, else its parts in their order."""
    if len(text) <= limit:
        return [text]
    heading = _shorten(next(line.strip() for line in text.splitlines() if line.strip()), limit // _HEADING_SHARE)
    parts = [part.rstrip().lstrip("\r\n") for part in _pack(text, limit - len(heading) - 2)]
    parts = [part for part in parts if part]
    return [parts[0], *(f"{heading}\n\n{part}" for part in parts[1:])]


def _pack(text: str, room: int) -> Iterator[str]:
    """Fill each part with as many pieces as go into it."""
    part = ""
    for piece in _pieces(text, room, 0):
        if part and len((part + piece).rstrip()) > room:
            yield part
            part = ""
        part += piece
    yield part


def _pieces(text: str, room: int, level: int) -> Iterator[str]:
    """Give what a text consists of, each piece small enough, cut no finer than it takes."""
    if len(text.rstrip()) <= room and level:
        yield text
        return
    if level == len(_SEAMS):
        yield from (text[start : start + room] for start in range(0, len(text), room))
        return
    fences = [match.span() for match in _FENCE.finditer(text)] if level < _WHOLE_IN_FENCES else []
    start = 0
    for seam in _SEAMS[level].finditer(text):
        fence = bisect(fences, (seam.start(),)) - 1
        if fence < 0 or seam.start() >= fences[fence][1]:
            yield from _pieces(text[start : seam.end()], room, level + 1)
            start = seam.end()
    yield from _pieces(text[start:], room, level + 1)


def _shorten(heading: str, most: int) -> str:
    return heading if len(heading) <= most else heading[: most - 1].rstrip() + "…"
