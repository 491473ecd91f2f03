"""`install` and `uninstall`: Recollect in a client's own settings, and out of them again."""

import sys
from typing import TYPE_CHECKING, Annotated, Final

import typer

if TYPE_CHECKING:
    from rich.text import Text

    from recollect.cli.paper import Paper
    from recollect.installers.client import Client
    from recollect.installers.files import Change
    from recollect.installers.folders import Folders
    from recollect.installers.plan import Plan


def complete_clients(incomplete: str) -> list[str]:
    from recollect.installers.catalog import CLIENTS

    return [name for name in CLIENTS if name.startswith(incomplete)]


_LONGEST: Final = 1000
_Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before changing a file.")]
_Dry = Annotated[bool, typer.Option("--dry-run", help="Only show what would change.")]


def install(
    client: Annotated[
        str | None,
        typer.Argument(metavar="CLIENT", help="Which one. Default: list them all.", autocompletion=complete_clients),
    ] = None,
    yes: _Yes = False,
    dry_run: _Dry = False,
) -> None:
    """Put Recollect into a client's settings: its server and, where there are any, its hooks."""
    if client is None:
        _list_clients()
        return
    from recollect.installers.catalog import find_client
    from recollect.installers.plan import plan_install
    from recollect.installers.program import find_program

    folders = _folders()
    chosen = find_client(client, folders, find_program(sys.argv[0], sys.executable))
    plan = plan_install(chosen, folders.installed)
    _carry_out(
        chosen,
        plan,
        folders,
        yes=yes,
        dry_run=dry_run,
        already=f"{chosen.title} has Recollect already.",
        then=chosen.after,
    )


def uninstall(
    client: Annotated[str, typer.Argument(metavar="CLIENT", help="Which one.", autocompletion=complete_clients)],
    yes: _Yes = False,
    dry_run: _Dry = False,
) -> None:
    """Take Recollect out of a client's settings. What it remembers stays."""
    from recollect.installers.catalog import find_client
    from recollect.installers.plan import plan_uninstall

    folders = _folders()
    # Where the command is does not matter for what is taken out, nor whether it will be there tomorrow.
    chosen = find_client(client, folders, "recollect")
    plan = plan_uninstall(chosen, folders.installed)
    _carry_out(
        chosen,
        plan,
        folders,
        yes=yes,
        dry_run=dry_run,
        already=f"{chosen.title} has nothing of Recollect.",
        then="What was remembered is kept.",
    )


def _folders() -> "Folders":
    from recollect.config import read_folders
    from recollect.installers.folders import Folders

    return Folders(**read_folders())


def _carry_out(
    client: "Client", plan: "Plan", folders: "Folders", *, yes: bool, dry_run: bool, already: str, then: str
) -> None:
    from recollect.cli.asking import ask_first
    from recollect.cli.paper import DIM, NOTICE, Paper, plain
    from recollect.installers.files import apply

    paper = Paper()
    for change in plan.changes:
        _show_change(paper, change, folders.home)
    for note in plan.notes:
        paper.write(plain(_short(note, folders.home), NOTICE))
    if not plan.changes:
        paper.write(already)
        return
    if dry_run:
        paper.write(plain("Nothing was changed: this was a dry run.", DIM))
        return
    if not yes:
        ask_first(f"Change {_count(len(plan.changes))} of {client.title}?", "Nothing was changed.")
    apply(plan.all_changes)
    paper.write(f"Done. {then}")


def _show_change(paper: "Paper", change: "Change", home: str) -> None:
    from rich.text import Text

    from recollect.cli.paper import DIM, STRONG, plain
    from recollect.installers.difference import list_differences

    state = {(True, False): "  new", (False, True): "  removed"}.get((change.before is None, change.after is None), "")
    paper.write(Text.assemble(plain(_short(change.path, home), STRONG), (state, DIM)))
    styles = {"+": "green", "-": "red"}
    for sign, line in list_differences((change.before or b"").decode(), (change.after or b"").decode()):
        shown = plain("⋯" if sign == "~" else line, styles.get(sign, DIM))
        # A file that is all one line can be long.
        shown.truncate(_LONGEST, overflow="ellipsis")
        paper.write(shown, Text(f"  {sign if sign in styles else ' '} ", styles.get(sign, DIM)))
    paper.write()


def _list_clients() -> None:
    from rich.text import Text

    from recollect.cli.paper import DIM, HANDLE, Paper
    from recollect.installers.catalog import CLIENTS

    folders = _folders()
    rows = [(Text("client", DIM), Text("state", DIM), Text("files", DIM))]
    for name, make in CLIENTS.items():
        client = make(folders, "recollect")
        files = Text(", ".join(_short(file.path, folders.home) for file in client.files), DIM)
        rows.append((Text(name, HANDLE), _state(client, folders.home), files))
    paper = Paper()
    paper.columns(rows)
    paper.write()
    paper.write("`recollect install CLIENT` shows what would change, and asks.")


def _state(client: "Client", home: str) -> "Text":
    """Say how a client stands: installed, or not, or in no state to be changed."""
    import os

    from rich.text import Text

    from recollect.cli.paper import DIM, NOTICE
    from recollect.core.errors import Refused
    from recollect.installers.plan import is_installed

    try:
        if is_installed(client):
            return Text("installed", "green")
    except Refused:
        return Text("cannot be read", NOTICE)
    # One's home is there whether or not the client is.
    if any(os.path.isdir(folder) for file in client.files if (folder := os.path.dirname(file.path)) != home):
        return Text("not installed")
    return Text("not on this machine", DIM)


def _short(text: str, home: str) -> str:
    import os

    return text.replace(home + os.sep, "~" + os.sep)


def _count(files: int) -> str:
    return "one file" if files == 1 else f"{files} files"
