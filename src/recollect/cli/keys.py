"""`keys`: what opens the server to whom, as its operator sees and changes it."""

from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from recollect.cli.options import Json
from recollect.config import read_config
from recollect.core.access import KEY_SCOPES, KeyScope

keys = typer.Typer(
    help="List, add and revoke the keys that open a server.", no_args_is_help=True, pretty_exceptions_enable=False
)


@keys.command("list")
def list_keys(
    person: Annotated[str | None, typer.Option("--person", help="Only this person's.")] = None,
    revoked: Annotated[bool, typer.Option("--revoked", help="Also those that no longer hold.")] = False,
    json: Json = False,
) -> None:
    """List the keys: whose they are, what they may do, when they were last used."""
    from recollect.cli.show_server import key_row, show_rows, to_data, write_all
    from recollect.wiring import open_directory

    now = datetime.now(UTC)
    with open_directory(read_config()) as directory:
        found = [
            each
            for each in directory.keys()  # noqa: SIM118 - no dictionary
            if person in {None, each.person} and (revoked or not (each.revoked_at or (each.expires_at or now) < now))
        ]
    if json:
        write_all("keys", [to_data(each) for each in found])
        return
    show_rows([key_row(each, now) for each in found], "No key: `recollect keys add PERSON` makes one.")


@keys.command()
def add(
    person: Annotated[str, typer.Argument(metavar="PERSON", help="Whom it acts for.")],
    *,
    name: Annotated[
        str, typer.Option("--name", help="What it is for: a machine, a program.")
    ] = "from the command line",
    scope: Annotated[
        str,
        typer.Option(
            "--scope", help="read, write or admin: the most that it may do.", autocompletion=lambda: list(KEY_SCOPES)
        ),
    ] = "write",
    space: Annotated[
        list[str] | None, typer.Option("--space", help="Only this space. Repeatable. Default: all of the person's.")
    ] = None,
    days: Annotated[
        int | None, typer.Option("--days", min=1, max=36500, help="How long it holds. Default: ever.")
    ] = None,
    json: Json = False,
) -> None:
    """Make a key. It is shown this once, and kept nowhere."""
    from recollect.cli.options import choose
    from recollect.cli.show_server import say, to_data, write_one
    from recollect.service.access import issue_key
    from recollect.wiring import open_directory

    chosen: KeyScope = choose("--scope", scope, KEY_SCOPES)
    now = datetime.now(UTC)
    with open_directory(read_config()) as directory:
        made, token = issue_key(
            directory,
            lambda: now,
            None,
            person=person,
            name=name,
            scope=chosen,
            spaces=space or None,
            expires_at=None if days is None else now + timedelta(days=days),
        )
    if json:
        write_one({**to_data(made), "token": token})
        return
    say(f"A key for {person}, scope {scope}. This is the only time that it is shown:", errors=True)
    typer.echo(token)


@keys.command()
def revoke(
    prefix: Annotated[str, typer.Argument(metavar="KEY", help="Its prefix, as `keys list` shows it.")],
    json: Json = False,
) -> None:
    """Have a key open nothing any more, at once and for ever."""
    from recollect.cli.show_server import say, to_data, write_one
    from recollect.wiring import open_directory

    # Whoever has the whole key at hand may give that.
    public = prefix.strip().removeprefix("rk_").partition("_")[0]
    with open_directory(read_config()) as directory:
        gone = directory.revoke_key(public)
    if json:
        write_one(to_data(gone))
        return
    say(f"Revoked {gone.prefix}, {gone.person}'s key {gone.name!r}.")
