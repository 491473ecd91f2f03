"""Progress bars: on standard error, only where a person looks at it, and gone when the work is done."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from recollect.cli.paper import Paper


@contextmanager
def show_share(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show how many of how many are done."""
    with _bar(what, MofNCompleteColumn()) as progress:
        task = progress.add_task("", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


@contextmanager
def show_rate(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show how many of how many are done, how many a second, and how long it will take."""
    with _bar(what, MofNCompleteColumn(), _RateColumn(), TimeRemainingColumn()) as progress:
        task = progress.add_task("", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


@contextmanager
def show_reading(source: BinaryIO) -> Iterator[Callable[[int], None]]:
    """Show how much of a file is read."""
    with _bar("Reading", DownloadColumn()) as progress:
        task = progress.add_task("", total=_size(source))
        yield lambda octets: progress.advance(task, octets)


class _RateColumn(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:,.0f}/s" if task.speed else "", "dim")


def _bar(what: str, *amounts: ProgressColumn) -> Progress:
    paper = Paper(errors=True)
    columns = (TextColumn(what), BarColumn(), *amounts)
    return Progress(*columns, console=paper.console, transient=True, disable=not paper.is_terminal)


def _size(source: BinaryIO) -> int | None:
    try:
        return os.fstat(source.fileno()).st_size or None
    except OSError:
        return None
