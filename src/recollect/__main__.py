"""The command `recollect`. What must start fast, or speaks a protocol, is dispatched before Typer is imported."""

import sys
from typing import Final

INTERRUPTED: Final = 130
"""What a shell makes of a program that Ctrl-C ended."""
_HELP: Final = frozenset({"--help", "-h"})


def main() -> None:
    arguments = sys.argv[1:]
    if arguments[:1] == ["hook"] and _HELP.isdisjoint(arguments):
        from recollect.hooks.entry import main as run_hook

        run_hook(arguments[1:])
    try:
        if arguments[:1] == ["mcp"] and _HELP.isdisjoint(arguments):
            from recollect.mcp.server import main as serve

            serve()
        else:
            from recollect.cli.app import app

            app(prog_name="recollect")
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
