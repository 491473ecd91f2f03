"""What was learned, as a person reads it before saying what becomes of it."""

from datetime import datetime
from typing import Any, Final

from rich.text import Text

from recollect.cli.paper import DIM, HANDLE, NOTICE, STRONG, Paper, label, plain
from recollect.cli.show import details
from recollect.cli.words import ago, heading, project_name
from recollect.core.memory import Memory
from recollect.core.record import format_time
from recollect.core.review import Pending
from recollect.service.review import Settled

_FROM: Final = {
    "request": "asked to be remembered",
    "preference": "a preference",
    "decision": "a decision",
    "correction": "a correction",
    "finding": "found out by the agent",
    "model": "found by the language model",
}

_DONE: Final = {"accepted": "Remembered", "superseded": "Remembered, in place of the other", "merged": "Edited"}


def show_pending(paper: Paper, pending: Pending, place: str, now: datetime) -> None:
    """Write a candidate, and under it where it comes from."""
    paper.write()
    paper.write(pending.content, plain(f"{place}  ", STRONG))
    paper.flow(_details(pending, now), "  ")


def show_beside(paper: Paper, what: str, memory: Memory, now: datetime) -> None:
    """Write the memory that a candidate contradicts or is like."""
    paper.write(Text(f"{what}:", NOTICE), "  ")
    paper.write(heading(memory) if memory.sensitive else memory.content, "    ")
    paper.flow(details(memory, now), "    ")


def show_waiting(paper: Paper, waiting: list[Pending], now: datetime) -> None:
    """Write one line a candidate."""
    paper.columns(
        [
            (
                Text(each.short_id, HANDLE),
                Text(ago(each.at, now), DIM),
                label(each.rule, DIM),
                label(each.content + ("  (seems to contradict a memory)" if each.supersedes else "")),
            )
            for each in waiting
        ],
        right={1},
        cut=True,
    )


def show_settled(paper: Paper, settled: Settled) -> None:
    """Write what was done with a candidate, in a line."""
    if settled.memory is None:
        paper.write(label(settled.pending.content, DIM), "Rejected ", cut=True)
    else:
        paper.flow(details(settled.memory), f"{_DONE[settled.what]} ")


def from_pending(pending: Pending) -> dict[str, Any]:
    """Give a candidate as data."""
    record: dict[str, Any] = {name: getattr(pending, name) for name in Pending.__match_args__}
    return {**record, "at": format_time(pending.at)}


def _details(pending: Pending, now: datetime) -> list[Text]:
    parts = [plain(pending.short_id, HANDLE), label(pending.category, DIM)]
    parts.append(Text(_FROM.get(pending.rule, pending.rule), DIM))
    if pending.project:
        parts.append(label(project_name(pending.project), DIM))
    return [*parts, Text(ago(pending.at, now), DIM)]
