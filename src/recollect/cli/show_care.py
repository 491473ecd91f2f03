"""What `stats` and `doctor` found, as a person reads it."""

from collections.abc import Mapping, Sequence
from typing import Final

from rich.text import Text

from recollect.cli.paper import DIM, STRONG, WRONG, Paper, label, plain
from recollect.cli.words import count, size
from recollect.core.ports import Count, Problem, VectorSet
from recollect.journal.given import Usage

_BAR: Final = 24
"""The longest bar, in characters."""


def show_stats(paper: Paper, store: str, octets: int, counts: Sequence[Count]) -> None:
    paper.write(Text.assemble(plain(store, STRONG), (f"  {size(octets)}", DIM)))
    if not any(each.memories or each.forgotten for each in counts):
        paper.write('Nothing is remembered yet: `recollect remember "..."` keeps the first thing.')
    for each in counts:
        _show_count(paper, each)


def show_usage(paper: Paper, usage: Usage, days: int) -> None:
    """Say what the hooks did: how often they spoke, whether it was of use, and what it cost."""
    spoken = usage.prompts - usage.silent
    paper.write()
    paper.write(plain(f"Prompts in {days} days", STRONG))
    used = f"{usage.used / usage.given:.0%} of them used" if usage.given else "none used"
    rows = (
        ("silent", f"{usage.silent / usage.prompts:.0%} of {usage.prompts:,}"),
        ("given", f"{count(usage.given, 'memory', 'memories')}, {used}"),
        ("tokens", f"{usage.tokens:,}, {usage.tokens / max(1, spoken):,.0f} a time"),
        (
            "time",
            f"{usage.median_ms:.0f} ms, at most {usage.slow_ms:.0f} ms for 99 of 100, {usage.seconds:.1f} s in all",
        ),
    )
    paper.columns([(Text(name, DIM), Text(value)) for name, value in rows], indent=2)


def _show_count(paper: Paper, each: Count) -> None:
    parts = [
        count(each.memories, "memory", "memories"),
        *([f"{each.sensitive:,} sensitive"] if each.sensitive else []),
        count(each.links, "link"),
        f"{each.forgotten:,} forgotten",
        count(each.revisions, "earlier state"),
    ]
    paper.write()
    paper.flow([Text(part) for part in parts], Text.assemble(plain(each.space, STRONG), "  "))
    general = each.memories - sum(each.projects.values())
    projects = {**each.projects, "no project": general} if general and each.projects else each.projects
    for names in (each.categories, projects):
        if names:
            paper.write()
            _show_bars(paper, names)


def _show_bars(paper: Paper, names: Mapping[str, int]) -> None:
    most = max(names.values())
    paper.columns(
        [
            (label(name), Text(f"{many:,}"), Text("▪" * max(1, round(many / most * _BAR)), DIM))
            for name, many in names.items()
        ],
        indent=2,
        right={1},
        cut=True,
    )


def show_verdict(paper: Paper, total: int, found: int, problems: list[Problem]) -> None:
    checked = count(total, "memory", "memories")
    if found > len(problems):
        paper.write(f"Mended {count(found - len(problems), 'problem')}.")
    if not problems:
        paper.write(f"All is well: {checked} checked.")
        return
    for problem in problems:
        paper.write(plain(problem.what), Text("✗ ", WRONG))
    paper.write()
    for remedy in dict.fromkeys(problem.remedy for problem in problems):
        paper.write(remedy)


def show_sets(paper: Paper, sets: Sequence[VectorSet]) -> None:
    """List the vector sets: which is in use, how many memories each holds, how many it lacks."""
    if not sets:
        paper.write("Nothing is embedded: recall goes by words alone. `recollect embed` changes that.")
        return
    rows = []
    for each in sets:
        waiting = f"{each.waiting:,} waiting" if each.waiting else "complete"
        state = Text("in use", STRONG) if each.active else Text("kept", DIM)
        rows.append((state, label(each.model), Text(f"{count(each.vectors, 'memory', 'memories')}, {waiting}", DIM)))
    paper.columns(rows)
