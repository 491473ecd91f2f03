"""One key, one choice: for commands that go through a list with whoever sits at the terminal."""

import sys
from collections.abc import Mapping
from typing import Final

import typer
from rich.text import Text

from recollect.cli.paper import DIM, HANDLE, Paper

QUIT: Final = "q"
_SAME: Final = {" ": "n", "\r": "n", "\n": "n", "\x1b": QUIT, "\x04": QUIT}
"""Keys that mean the same as a letter: what skips, and what ends."""


def is_at_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def choose_key(paper: Paper, choices: Mapping[str, str]) -> str:
    """Show which keys there are and wait for one of them; the end of the input is the wish to quit."""
    paper.flow([Text.assemble((key, HANDLE), (f" {what}", DIM)) for key, what in choices.items()])
    while True:
        try:
            key = typer.getchar()
        except EOFError:
            return QUIT
        key = _SAME.get(key, key.lower())
        if key in choices:
            return key
