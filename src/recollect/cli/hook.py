"""`hook`: what clients run. The program dispatches it before this is imported; this is its help."""

from typing import Annotated

import typer

from recollect.hooks.clients import PRE_COMPACT, PROMPT, SESSION_START, STOP

_NAMES = (SESSION_START, PROMPT, PRE_COMPACT, STOP)


def hook(
    name: Annotated[str, typer.Argument(metavar="|".join(_NAMES), help="When the client runs it.")],
    client: Annotated[
        str, typer.Option("--client", help="Which client, as `recollect install` names it.")
    ] = "claude-code",
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Say what went wrong, and take all the time it needs.")
    ] = False,
) -> None:
    """Answer a client's hook: its JSON on standard input, JSON or nothing on standard output, always exit code 0.

    `recollect install` sets the hooks up. To see what an agent would be given:

    echo '{"prompt": "which port does staging use?"}' | recollect hook prompt --verbose
    """
    from recollect.hooks.entry import main

    main([name, "--client", client, *(["--verbose"] if verbose else [])])
