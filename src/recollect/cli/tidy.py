"""`tidy`: proposals to drop what says the same, what is contradicted and what has run out."""

from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from recollect.cli.options import Everywhere, Json, Project, choose_project

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recollect.cli.paper import Paper
    from recollect.core.tidying import Proposal
    from recollect.service.recollect import Recollect

_NOTHING: Final = "There is nothing to tidy up."
_DEEDS: Final = {"duplicate": "forget", "contradiction": "supersede", "stale": "forget"}


def tidy(
    *,
    project: Project = None,
    everywhere: Everywhere = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the proposals, and change nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Follow all of them without asking.")] = False,
    json: Json = False,
) -> None:
    """Propose what to drop: near-duplicates, contradictions, what has run out. A key each; all can be undone."""
    from recollect.cli.choosing import is_at_terminal
    from recollect.wiring import open_recollect

    if not (dry_run or yes) and (json or not is_at_terminal()):
        raise typer.BadParameter(
            "This goes through proposals with you and needs a terminal: --dry-run shows them, --yes follows all."
        )
    with open_recollect() as memory:
        proposals = _propose(memory, choose_project(project, none=everywhere, flag="--everywhere"))
        if yes and not dry_run:
            _follow_all(memory, proposals)
        if json:
            from recollect.cli.as_json import write_json

            done = len(proposals) if yes and not dry_run else 0
            write_json({"proposals": [_as_data(each) for each in proposals], "followed": done})
        elif dry_run or yes or not proposals:
            _show_all(memory, proposals, followed=yes and not dry_run)
        else:
            _walk(memory, proposals)


def _propose(memory: "Recollect", project: str | None) -> "list[Proposal]":
    from recollect.config import read_config
    from recollect.core.moments import to_micros
    from recollect.journal.file import Journal
    from recollect.journal.seen import ever_given
    from recollect.service.tidy import propose_tidying

    with Journal(read_config().journal) as journal:
        given = ever_given(journal, to_micros(memory.clock()))
    return propose_tidying(memory, memory.scope(project=project), given)


def _follow_all(memory: "Recollect", proposals: "Sequence[Proposal]") -> None:
    from recollect.service.tidy import follow

    for each in proposals:
        follow(memory, each)


def _show_all(memory: "Recollect", proposals: "Sequence[Proposal]", *, followed: bool) -> None:
    from recollect.cli.paper import DIM, Paper, plain
    from recollect.cli.words import count

    paper = Paper()
    for number, each in enumerate(proposals, start=1):
        _show(paper, memory, each, str(number))
    if not proposals:
        paper.write(_NOTHING)
        return
    paper.write()
    done = (
        "followed; `recollect undo ID` brings back what was forgotten." if followed else "shown; nothing was changed."
    )
    paper.write(plain(f"{count(len(proposals), 'proposal')} {done}", DIM))


def _show(paper: "Paper", memory: "Recollect", proposal: "Proposal", place: str) -> None:
    from rich.text import Text

    from recollect.cli.paper import NOTICE, STRONG, plain
    from recollect.cli.show import details
    from recollect.cli.show_review import show_beside

    now = memory.clock()
    paper.write()
    paper.write(proposal.drop.content, plain(f"{place}  ", STRONG))
    paper.flow(details(proposal.drop, now), "  ")
    if proposal.keep is None:
        paper.write(Text.assemble((f"{_DEEDS[proposal.kind]}: ", NOTICE), plain(proposal.why, NOTICE)), "  ")
    else:
        show_beside(paper, f"{_DEEDS[proposal.kind]}: {proposal.why}", proposal.keep, now)


def _walk(memory: "Recollect", proposals: "Sequence[Proposal]") -> None:
    """Show one proposal after the other, and do what the key says; `u` goes back to the one before."""
    from recollect.cli.choosing import QUIT, choose_key
    from recollect.cli.paper import DIM, NOTICE, Paper, plain
    from recollect.cli.words import count
    from recollect.core.errors import RecollectError
    from recollect.service.tidy import follow

    paper = Paper()
    done: list[tuple[int, Callable[[], None]]] = []
    place = 0
    while place < len(proposals):
        _show(paper, memory, proposals[place], f"{place + 1} of {len(proposals)}")
        undo = {"u": "undo"} if done else {}
        key = choose_key(paper, {"y": _DEEDS[proposals[place].kind], "n": "leave", **undo, QUIT: "quit"})
        if key == QUIT:
            break
        if key == "u":
            place, take_back = done.pop()
            take_back()
            continue
        if key == "y":
            try:
                done.append((place, follow(memory, proposals[place])))
            except RecollectError as error:
                # One of both may have gone with a proposal before.
                paper.write(plain(error, NOTICE))
        place += 1
    paper.write()
    paper.write(plain(f"{count(len(done), 'proposal')} followed.", DIM))


def _as_data(proposal: "Proposal") -> dict[str, Any]:
    keep = proposal.keep
    return {
        "kind": proposal.kind,
        "deed": _DEEDS[proposal.kind],
        "why": proposal.why,
        "drop": {"id": proposal.drop.id, "content": proposal.drop.content},
        "keep": None if keep is None else {"id": keep.id, "content": keep.content},
    }
