"""`db`: the schema of the server's database."""

from typing import TYPE_CHECKING, Final

import typer

from recollect.cli.options import Json
from recollect.config import read_config

if TYPE_CHECKING:
    from types import ModuleType

db = typer.Typer(
    help="Bring the server's database up to date, or see how it stands.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

_WORDS_ONLY: Final = (
    "without pgvector: words only. To find by meaning too, install pgvector on the database's machine and have a "
    "superuser run CREATE EXTENSION vector there."
)


@db.command()
def upgrade(json: Json = False) -> None:
    """Make or change the tables as this Recollect needs them. The server may go on meanwhile."""
    address, migrate = _open()
    before = migrate.current(address)
    migrate.upgrade(address)
    now, vectors = migrate.current(address), migrate.pgvector(address)
    if json:
        _write_json({"before": before, "schema": now, "pgvector": vectors})
        return
    changed = f"Upgraded from {before} to {now}." if before else f"Made the tables: schema {now}."
    _say(f"The schema is {now} already." if before == now else changed)
    _say(_describe(vectors))


@db.command()
def current(json: Json = False) -> None:
    """Say which schema the database has."""
    address, migrate = _open()
    found = migrate.current(address)
    if json:
        _write_json({"schema": found})
    else:
        _say(found or "none yet: `recollect db upgrade` makes it.")


@db.command()
def check(json: Json = False) -> None:
    """Check that the database is as this Recollect needs it. Exits with 5 if it is not."""
    address, migrate = _open()
    migrate.check(address)
    found, vectors = migrate.current(address), migrate.pgvector(address)
    if json:
        _write_json({"schema": found, "pgvector": vectors})
        return
    _say(f"The schema is {found}, as it should be.")
    _say(_describe(vectors))


def _open() -> "tuple[str, ModuleType]":
    from recollect.wiring import database_address

    address = database_address(read_config())
    from recollect.stores.postgres import migrate

    return address, migrate


def _describe(vectors: str | None) -> str:
    return _WORDS_ONLY if vectors is None else f"pgvector {vectors}: words and meaning."


def _write_json(data: object) -> None:
    from recollect.cli.as_json import write_json

    write_json(data)


def _say(line: str) -> None:
    from recollect.cli.paper import Paper

    Paper().write(line)
