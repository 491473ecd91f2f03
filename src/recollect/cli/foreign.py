"""`import --from`: what other memory systems keep."""

import os
from typing import TYPE_CHECKING, Any, Final

import typer

from recollect.cli.errors import PROBLEM
from recollect.core.errors import Refused

if TYPE_CHECKING:
    from recollect.cli.paper import Paper
    from recollect.service.take_in import TakenIn

_SHOWN: Final = 10
"""So many headings, and so many lines of each kind, are shown; `--json` gives all."""
_MARKS: Final = {"added": "+", "updated": "~", "removed": "-"}


def complete(incomplete: str) -> list[tuple[str, str]]:
    from recollect.importers.formats import FORMATS

    return [(name, about) for name, about in FORMATS.items() if name.startswith(incomplete)]


def suggest(path: str) -> None:
    """Refuse what is recognisably no export of ours, and say how to import it."""
    from recollect.importers.formats import recognise

    looks_like = recognise(path) if os.path.isfile(path) or os.path.isdir(path) else None
    if looks_like is not None:
        raise Refused(
            f"{path} is no export of Recollect, but looks like {looks_like}. See what would be taken in with: "
            f"recollect import {path} --from {looks_like} --dry-run"
        )


def import_from(source: str, path: str, *, project: str | None, general: bool, dry_run: bool, as_json: bool) -> None:
    from recollect.service.take_in import AS_FOUND
    from recollect.wiring import import_foreign, open_recollect

    if general and project is not None:
        raise typer.BadParameter("--project and --general exclude each other.")
    with open_recollect() as memory:
        put_into = None if general else AS_FOUND if project is None else memory.scope(project=project).project
        outcome = import_foreign(memory, source, os.path.expanduser(path), project=put_into, dry_run=dry_run)
    if as_json:
        from recollect.cli.as_json import write_json

        write_json({"dry_run": dry_run, "from": source, **_as_data(outcome)})
    else:
        from recollect.cli.paper import Paper

        _show(Paper(), outcome, dry_run=dry_run)
    if outcome.problems:
        raise typer.Exit(PROBLEM)


def _as_data(outcome: "TakenIn") -> dict[str, Any]:
    from recollect.cli.words import heading

    return {
        "added": outcome.count("added"),
        "updated": outcome.count("updated"),
        "removed": outcome.count("removed"),
        "unchanged": outcome.unchanged,
        "links": outcome.links,
        "changes": [
            {"what": change.what, "id": change.memory.id, "heading": heading(change.memory)}
            for change in outcome.changes
        ],
        "sensitive": outcome.sensitive,
        "skipped": outcome.skipped,
        "problems": outcome.problems,
    }


def _show(paper: "Paper", outcome: "TakenIn", *, dry_run: bool) -> None:
    from rich.text import Text

    from recollect.cli.paper import DIM, NOTICE, Paper, label, plain
    from recollect.cli.words import count, heading

    taken = count(outcome.count("added"), "memory", "memories")
    parts = [
        f"{outcome.count(what):,} {what}" for what in ("updated", "removed") if what != "removed" or outcome.count(what)
    ]
    parts += [f"{outcome.unchanged:,} unchanged", count(outcome.links, "new link")]
    paper.write(f"{'Would add' if dry_run else 'Added'} {taken}; {', '.join(parts)}.")
    for change in outcome.changes[:_SHOWN]:
        paper.write(label(heading(change.memory)), Text(f"  {_MARKS[change.what]} ", DIM), cut=True)
    if len(outcome.changes) > _SHOWN:
        paper.write(Text(f"    and {len(outcome.changes) - _SHOWN:,} more", DIM))
    _list(paper, outcome.sensitive, "sensitive, since a secret is in it: ", NOTICE)
    _list(paper, outcome.skipped, "skipped: ", DIM)
    errors = Paper(errors=True)
    for problem in outcome.problems:
        errors.write(plain(problem, NOTICE))


def _list(paper: "Paper", lines: list[str], first: str, style: str) -> None:
    from rich.text import Text

    from recollect.cli.paper import DIM, plain

    for line in lines[:_SHOWN]:
        paper.write(plain(line), Text(first, style))
    if len(lines) > _SHOWN:
        paper.write(Text(f"    and {len(lines) - _SHOWN:,} more {first.rstrip(': ')}", DIM))
