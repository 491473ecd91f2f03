"""What the operator of a server does from the command line, on a real Postgres."""

from pathlib import Path

import psycopg
import pytest

from command_line import CommandLine

KEY = {
    "prefix", "person", "name", "scope", "spaces", "created_at", "expires_at", "last_used_at", "revoked_at",
}  # fmt: skip


@pytest.fixture
def cli(tmp_path: Path, empty_store_database: str) -> CommandLine:
    cli = CommandLine(tmp_path / "home")
    cli.settings["RECOLLECT_DATABASE_URL"] = empty_store_database
    return cli


def complaint(cli: CommandLine, *arguments: str, code: int) -> str:
    result = cli.run(*arguments, code=code)
    assert not result.stdout
    return result.stderr


def test_people_come_and_go(cli: CommandLine) -> None:
    """People are added, listed and removed, by words and as data."""
    assert "Nobody yet" in cli.say("people", "list")
    assert "Added ana, who runs the server." in cli.say("people", "add", "ana", "--admin")
    made = cli.data("people", "add", "bob")
    assert made.keys() == {"id", "admin", "created_at"}
    assert cli.data("people", "list")["people"][1] == made
    assert cli.say("people", "list") == "ana  runs the server\nbob\n"
    assert cli.say("people", "remove", "bob", "--yes") == "Removed bob.\n"
    assert cli.data("people", "add", "eve")["id"] == "eve"
    assert cli.data("people", "remove", "eve", "--yes") == {"removed": "eve"}
    assert "only one who runs the server" in complaint(cli, "people", "remove", "ana", "--yes", code=4)
    assert "is taken" in complaint(cli, "people", "add", "ana", code=4)
    assert "lower-case" in complaint(cli, "people", "add", "Ana", code=2)
    assert "There is no person" in complaint(cli, "people", "remove", "bob", "--yes", code=3)


def test_removing_asks_first(cli: CommandLine) -> None:
    """Without `--yes` a removal says how much would go, and only a yes lets it."""
    for command in (
        ["people", "add", "ana", "--admin"],
        ["people", "add", "bob"],
        ["spaces", "add", "den", "--admin", "ana"],
    ):
        cli.say(*command)
    asked = cli.run("people", "remove", "bob", stdin="n\n", code=1)
    assert "Remove bob for good, with the 0 memories of their own space? [y/N] Nothing was removed." in asked.stderr
    cli.run("spaces", "remove", "den", stdin="", code=1)
    assert "Removed den." in cli.run("spaces", "remove", "den", stdin="y\n").stdout
    assert "Removed bob." in cli.run("people", "remove", "bob", stdin="yes\n").stdout
    assert [each["id"] for each in cli.data("spaces", "list")["spaces"]] == ["ana"]


def test_spaces_and_their_members(cli: CommandLine) -> None:
    """A team's space is added with its admin; others are let in, given another role, and taken out."""
    assert "No space yet" in cli.say("spaces", "list")
    for person in ("ana", "bob"):
        cli.say("people", "add", person)
    assert "administered by ana" in cli.say("spaces", "add", "team", "--admin", "ana")
    assert cli.say("spaces", "invite", "team", "bob") == "bob is a writer in team.\n"
    assert cli.data("spaces", "invite", "team", "bob", "--role", "reader") == {"person": "bob", "role": "reader"}
    assert cli.say("spaces", "members", "team") == "ana  admin\nbob  reader\n"
    assert cli.data("spaces", "members", "team")["members"][0] == {"person": "ana", "role": "admin"}
    listed = cli.data("spaces", "list")["spaces"]
    assert {each["id"]: each["owner"] for each in listed} == {"ana": "ana", "bob": "bob", "team": None}
    assert "team  a team's   0 memories" in cli.say("spaces", "list")
    assert cli.data("spaces", "add", "den", "--admin", "bob") == {
        **listed[0], "id": "den", "owner": None, "created_at": cli.data("spaces", "list")["spaces"][2]["created_at"],
    }  # fmt: skip
    assert cli.say("spaces", "expel", "team", "bob") == "bob is no longer in team.\n"
    assert "not a member" in complaint(cli, "spaces", "expel", "team", "bob", code=3)
    assert "at least one admin" in complaint(cli, "spaces", "expel", "team", "ana", code=4)
    assert "reader, writer or admin, not 'owner'" in complaint(
        cli, "spaces", "invite", "team", "bob", "-r", "owner", code=2
    )
    assert cli.data("spaces", "invite", "den", "ana", "--role", "reader")["person"] == "ana"
    assert cli.data("spaces", "expel", "den", "ana") == {"removed": "ana"}
    assert cli.data("spaces", "remove", "team", "--yes") == {"removed": "team"}
    assert "own space" in complaint(cli, "spaces", "remove", "ana", "--yes", code=4)
    assert "is admin of" in cli.say("spaces", "invite", "den", "ana", "--role", "admin")


def test_a_key_is_shown_once(cli: CommandLine) -> None:
    """The key alone goes to standard output, for a pipe; lists show its prefix, and revoking takes either."""
    cli.say("people", "add", "ana")
    assert "No key" in cli.say("keys", "list")
    made = cli.run("keys", "add", "ana", "--name", "laptop")
    token = made.stdout.strip()
    prefix = token.split("_")[1]
    assert "only time that it is shown" in made.stderr
    assert cli.say("keys", "list") == f"{prefix}  ana  write  laptop · all spaces · never used\n"
    data = cli.data("keys", "add", "ana", "--scope", "read", "--space", "ana", "--days", "30")
    assert data.keys() == KEY | {"token"}
    assert (data["scope"], data["spaces"], data["person"]) == ("read", ["ana"], "ana")
    assert token.split("_")[2] not in cli.say("keys", "list", "--json")
    assert cli.say("keys", "revoke", token) == f"Revoked {prefix}, ana's key 'laptop'.\n"
    assert cli.data("keys", "revoke", data["prefix"])["revoked_at"] is not None
    assert cli.data("keys", "list")["keys"] == []
    listed = cli.data("keys", "list", "--revoked", "--person", "ana")["keys"]
    assert [each.keys() for each in listed] == [KEY, KEY]
    assert cli.data("keys", "list", "--revoked", "--person", "bob")["keys"] == []
    assert "revoked just now" in cli.say("keys", "list", "--revoked")
    assert "There is no key" in complaint(cli, "keys", "revoke", "nothing", code=3)
    assert "read, write or admin" in complaint(cli, "keys", "add", "ana", "--scope", "root", code=2)
    assert "not in all of these spaces" in complaint(cli, "keys", "add", "ana", "--space", "bob", code=3)


def test_the_schema_from_nothing(tmp_path: Path, fresh_database: str) -> None:
    """`db` says that there is none, makes it, says that there is, and has nothing more to do."""
    cli = CommandLine(tmp_path / "home")
    cli.settings["RECOLLECT_DATABASE_URL"] = fresh_database
    assert "none yet" in cli.say("db", "current")
    assert cli.data("db", "current") == {"schema": None}
    for command in (("db", "check"), ("people", "list"), ("keys", "add", "ana")):
        assert "`recollect db upgrade`" in complaint(cli, *command, code=5)
    made = cli.say("db", "upgrade")
    assert "Made the tables: schema" in made
    assert "words and meaning" in made
    schema = cli.data("db", "current")["schema"]
    assert cli.say("db", "current") == f"{schema}\n"
    assert f"The schema is {schema}, as it should be." in cli.say("db", "check")
    again = cli.data("db", "upgrade")
    assert (again["before"], again["schema"]) == (schema, schema)
    assert f"The schema is {schema} already." in cli.say("db", "upgrade")
    assert cli.data("db", "check").keys() == {"schema", "pgvector"}


def test_a_database_without_pgvector(tmp_path: Path, cloned_database: str) -> None:
    """`db check` says that only words are found, and what to do about it."""
    cli = CommandLine(tmp_path / "home")
    cli.settings["RECOLLECT_DATABASE_URL"] = cloned_database
    with psycopg.connect(cloned_database) as connection:
        connection.execute("DROP EXTENSION vector")
    assert "without pgvector: words only" in cli.say("db", "check")
    assert cli.data("db", "check")["pgvector"] is None


@pytest.mark.parametrize("command", [("people", "list"), ("spaces", "list"), ("keys", "list"), ("db", "check")])
def test_a_command_of_the_server_needs_its_database(tmp_path: Path, command: tuple[str, ...]) -> None:
    """Without an address it says which variable names it; with one where nobody answers, that nobody does."""
    cli = CommandLine(tmp_path / "home")
    assert "RECOLLECT_DATABASE_URL is not set" in complaint(cli, *command, code=2)
    cli.settings["RECOLLECT_DATABASE_URL"] = "postgresql://nobody:secret@127.0.0.1:1/none"
    said = complaint(cli, *command, code=5)
    assert "Connection refused" in said
    assert "secret" not in said
