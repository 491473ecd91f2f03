"""The lines that a change adds and takes away, with a few around them."""

import difflib
from collections.abc import Iterator
from typing import Final

_AROUND: Final = 2


def list_differences(before: str, after: str) -> Iterator[tuple[str, str]]:
    """Give each line with its sign: `+`, `-`, a blank, or `~` where lines are left out."""
    old, new = before.splitlines(), after.splitlines()
    # What is alike at both ends is most of it, and comparing it takes a second in a file of some megabytes.
    head = _alike(old, new)
    tail = min(_alike(old[::-1], new[::-1]), len(old) - head, len(new) - head)
    first, last = max(head - _AROUND, 0), max(tail - _AROUND, 0)
    hunk = difflib.unified_diff(old[first : len(old) - last], new[first : len(new) - last], lineterm="", n=_AROUND)
    for place, line in enumerate(hunk):
        if line.startswith("@@"):
            # The first is where the lines begin, which the name of the file has told.
            yield from [("~", "")] if place > len(("---", "+++")) else []
        elif not line.startswith(("--- ", "+++ ")):
            yield line[0], line[1:]


def _alike(old: list[str], new: list[str]) -> int:
    return next(
        (place for place, (one, two) in enumerate(zip(old, new, strict=False)) if one != two), min(len(old), len(new))
    )
