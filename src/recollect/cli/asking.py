"""The question before something that cannot be taken back, or that leaves the machine."""

import sys

import typer

from recollect.cli.errors import PROBLEM


def ask_first(question: str, if_not: str = "Nothing was removed.") -> None:
    """Go on if the answer is yes; else say what did not happen, and end."""
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        from recollect.cli.paper import Paper

        Paper(errors=True).write(if_not)
        raise typer.Exit(PROBLEM)
