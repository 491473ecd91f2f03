"""`people`: who uses the server, as its operator sees and changes it."""

from typing import Annotated

import typer

from recollect.cli.options import Json, Yes
from recollect.config import read_config

people = typer.Typer(
    help="List, add and remove the people of a server.", no_args_is_help=True, pretty_exceptions_enable=False
)

Name = Annotated[str, typer.Argument(metavar="PERSON", help="Their name.")]


@people.command("list")
def list_people(json: Json = False) -> None:
    """List everybody."""
    from recollect.cli.show_server import person_row, show_rows, to_data, write_all
    from recollect.wiring import open_directory

    with open_directory(read_config()) as directory:
        found = directory.people()
    if json:
        write_all("people", [to_data(each) for each in found])
        return
    show_rows([person_row(each) for each in found], "Nobody yet: `recollect people add NAME` adds somebody.")


@people.command()
def add(
    name: Name,
    admin: Annotated[bool, typer.Option("--admin", help="They may add and remove people.")] = False,
    json: Json = False,
) -> None:
    """Add a person, with a space of their own by the same name."""
    from recollect.cli.show_server import say, to_data, write_one
    from recollect.wiring import open_directory

    with open_directory(read_config()) as directory:
        made = directory.make_person(name, admin=admin)
    if json:
        write_one(to_data(made))
        return
    key = f"`recollect keys add {made.id} --scope admin` makes their key."
    say(f"Added {made.id}{', who runs the server' if admin else ''}. {key}")


@people.command()
def remove(name: Name, yes: Yes = False, json: Json = False) -> None:
    """Remove a person for good, with their keys, their own space and all that is in it."""
    from recollect.cli.asking import ask_first
    from recollect.cli.show_server import say, size_of, write_one
    from recollect.wiring import open_directory

    with open_directory(read_config()) as directory:
        if not yes:
            ask_first(f"Remove {name} for good, with {size_of(directory.spaces(), owner=name)} of their own space?")
        directory.remove_person(name)
    if json:
        write_one({"removed": name})
        return
    say(f"Removed {name}.")
