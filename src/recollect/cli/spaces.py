"""`spaces`: who belongs to which space of a server, as its operator sees and changes it."""

from typing import Annotated

import typer

from recollect.cli.options import Json, Yes
from recollect.config import read_config
from recollect.core.access import ROLES, Role

spaces = typer.Typer(
    help="List, add and remove the spaces of a server, and say who is in them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

Name = Annotated[str, typer.Argument(metavar="SPACE", help="The space.")]
Person = Annotated[str, typer.Argument(metavar="PERSON", help="The person.")]


@spaces.command("list")
def list_spaces(json: Json = False) -> None:
    """List all spaces."""
    from recollect.cli.show_server import show_rows, space_row, to_data, write_all
    from recollect.wiring import open_directory

    with open_directory(read_config()) as directory:
        found = directory.spaces()
    if json:
        write_all("spaces", [to_data(each) for each in found])
        return
    show_rows([space_row(each) for each in found], "No space yet: a person who is added has one of their own.")


@spaces.command()
def add(
    name: Name,
    admin: Annotated[str, typer.Option("--admin", metavar="PERSON", help="Who says who else is in it.")],
    json: Json = False,
) -> None:
    """Add a team's space."""
    from recollect.cli.show_server import say, to_data, write_one
    from recollect.wiring import open_directory

    with open_directory(read_config()) as directory:
        made = directory.make_space(name, admin)
    if json:
        write_one(to_data(made))
        return
    say(f"Added {name}, administered by {admin}. `recollect spaces invite {name} PERSON` lets others in.")


@spaces.command()
def remove(name: Name, yes: Yes = False, json: Json = False) -> None:
    """Remove a team's space for good, with all that is in it."""
    from recollect.cli.asking import ask_first
    from recollect.cli.show_server import say, size_of, write_one
    from recollect.wiring import open_directory

    with open_directory(read_config()) as directory:
        if not yes:
            ask_first(f"Remove {name} for good, with {size_of(directory.spaces(), space=name)}?")
        directory.remove_space(name)
    if json:
        write_one({"removed": name})
        return
    say(f"Removed {name}.")


@spaces.command()
def members(name: Name, json: Json = False) -> None:
    """List who is in a space, and in what role."""
    from recollect.cli.show_server import member_row, show_rows, to_data, write_all
    from recollect.wiring import open_directory

    with open_directory(read_config()) as directory:
        found = directory.members(name)
    if json:
        write_all("members", [to_data(each) for each in found])
        return
    show_rows([member_row(each) for each in found], f"Nobody: `recollect spaces invite {name} PERSON` lets them in.")


@spaces.command()
def invite(
    name: Name,
    person: Person,
    role: Annotated[
        str,
        typer.Option("--role", "-r", help="reader, writer or admin.", autocompletion=lambda: list(ROLES)),
    ] = "writer",
    json: Json = False,
) -> None:
    """Let a person into a space, or change their role in it."""
    from recollect.cli.options import choose
    from recollect.cli.show_server import say, to_data, write_one
    from recollect.wiring import open_directory

    chosen: Role = choose("--role", role, ROLES)
    with open_directory(read_config()) as directory:
        made = directory.set_member(name, person, chosen)
    if json:
        write_one(to_data(made))
        return
    say(f"{person} is {role} of {name}." if role == "admin" else f"{person} is a {role} in {name}.")


@spaces.command()
def expel(name: Name, person: Person, json: Json = False) -> None:
    """Take a person out of a space; what they wrote there stays."""
    from recollect.cli.show_server import say, write_one
    from recollect.wiring import open_directory

    with open_directory(read_config()) as directory:
        directory.remove_member(name, person)
    if json:
        write_one({"removed": person})
        return
    say(f"{person} is no longer in {name}.")
