"""The command line: every command, under the heading it has in the help."""

from collections.abc import Callable, Mapping
from typing import Annotated, Final

import typer

from recollect.cli.bench import bench
from recollect.cli.bench_inject import inject
from recollect.cli.care import doctor, stats
from recollect.cli.concepts import concepts
from recollect.cli.config import config
from recollect.cli.db import db
from recollect.cli.dev import dev
from recollect.cli.embed import embed
from recollect.cli.errors import Commands
from recollect.cli.forget import forget, undo
from recollect.cli.graph import graph
from recollect.cli.hook import hook
from recollect.cli.install import install, uninstall
from recollect.cli.jobs import jobs
from recollect.cli.keep import edit, remember
from recollect.cli.keys import keys
from recollect.cli.links import link
from recollect.cli.look import history, list_memories, show
from recollect.cli.people import people
from recollect.cli.recall import recall, why_not
from recollect.cli.review import review
from recollect.cli.serve import serve
from recollect.cli.spaces import spaces
from recollect.cli.tidy import tidy
from recollect.cli.transfer import export_all, import_all
from recollect.cli.worker import worker

app = typer.Typer(
    cls=Commands,
    context_settings={"help_option_names": ["--help", "-h"]},
    # A traceback that shows variables would show memories.
    pretty_exceptions_enable=False,
)


def show_version(asked: bool) -> None:
    if asked:
        from recollect import __version__

        typer.echo(f"recollect {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context,
    _version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Memory for AI agents, on your own machine."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def mcp() -> None:
    """Serve agents over MCP, on standard input and output."""
    from recollect.mcp.server import main

    main()


_PANELS: Final[Mapping[str, Mapping[str, Callable[..., None]]]] = {
    "Remember and recall": {"remember": remember, "recall": recall, "why-not": why_not},
    "Look and mend": {
        "list": list_memories,
        "show": show,
        "history": history,
        "edit": edit,
        "link": link,
        "graph": graph,
        "forget": forget,
        "undo": undo,
        "review": review,
        "tidy": tidy,
    },
    "Carry": {"export": export_all, "import": import_all},
    "Care": {"embed": embed, "stats": stats, "doctor": doctor, "config": config},
    "Agents": {"install": install, "uninstall": uninstall, "hook": hook, "mcp": mcp},
    "Server": {"serve": serve, "worker": worker, "dev": dev},
}
for panel, commands in _PANELS.items():
    for name, command in commands.items():
        app.command(name, rich_help_panel=panel)(command)
app.add_typer(concepts, name="concepts", rich_help_panel="Look and mend")
bench.command()(inject)
app.add_typer(bench, name="bench", rich_help_panel="Care")
for name, group in {"people": people, "spaces": spaces, "keys": keys, "db": db, "jobs": jobs}.items():
    app.add_typer(group, name=name, rich_help_panel="Server")
