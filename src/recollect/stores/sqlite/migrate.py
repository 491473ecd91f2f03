"""Brings a store's schema up to date: numbered SQL files, each applied once, all in one transaction.

`PRAGMA user_version` counts the files applied. The index follows the analysis: a store whose postings were
made by another version of it is indexed anew here.
"""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from recollect.core import analysis as terms
from recollect.core.errors import StoreError, StoreTooNew
from recollect.stores.sqlite.database import Database

NEWEST: Final = 3
"""How many migrations this version ships; a test holds it to the files."""
_APPLICATION: Final = 0x5263_6C74
"""What marks a file as ours: "Rclt"."""


def shipped() -> list[str]:
    """Give the migrations of this version of Recollect, in order."""
    from importlib.resources import files

    folder = files("recollect.stores.sqlite") / "migrations"
    scripts = sorted(
        (script for script in folder.iterdir() if script.name.endswith(".sql")),
        key=lambda script: script.name,
    )
    return [script.read_text(encoding="utf-8") for script in scripts]


def migrate(
    database: Database,
    analysis: str,
    reindex: Callable[[sqlite3.Connection], None],
    load: Callable[[], Sequence[str]] = shipped,
    newest: int = NEWEST,
) -> None:
    """Apply what is missing. `newest` spares the usual opening, of a current store, the reading of the files."""
    with database.read() as connection:
        if _version(connection) == newest and _analysis(connection) == analysis:
            return
        _check_ours(connection, database.path)
    scripts = load()
    with database.write() as connection:
        # Another process may have been faster: look again, now that no one else can write.
        version = _version(connection)
        if version > len(scripts):
            raise StoreTooNew(
                f"{database.path} was written by a newer Recollect (schema {version}, this one knows "
                f"{len(scripts)}). Upgrade Recollect, or use another store."
            )
        for script in scripts[version:]:
            for statement in _statements(script):
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {_APPLICATION}")
        connection.execute(f"PRAGMA user_version = {len(scripts)}")
        if _analysis(connection) != analysis:
            reindex(connection)
            connection.execute(
                "INSERT INTO about (name, value) VALUES ('analysis', ?) "
                "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                (analysis,),
            )


def fingerprint_of(language: str) -> str:
    """Tell apart any two analyses that give other terms of the same text."""
    return f"{terms.VERSION} {language}"


def check_current(connection: sqlite3.Connection, analysis: str, newest: int = NEWEST) -> None:
    """Refuse to write what a newer version that upgraded the store meanwhile would not understand."""
    if _version(connection) != newest or _analysis(connection) != analysis:
        raise StoreTooNew("Recollect was upgraded while this process ran: restart it.")


def _check_ours(connection: sqlite3.Connection, path: str) -> None:
    """Refuse to put our tables into another program's database."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
    if tables and application != _APPLICATION:
        raise StoreError(f"{path} is the database of another program: name another file for your memories.")


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _analysis(connection: sqlite3.Connection) -> str | None:
    if not _version(connection):
        return None
    row = connection.execute("SELECT value FROM about WHERE name = 'analysis'").fetchone()
    return row and str(row[0])


def _statements(script: str) -> Iterator[str]:
    """Cut a script into statements: `executescript` would commit the transaction around it."""
    statement = ""
    for line in script.splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    if statement.strip():
        raise ValueError(f"A migration ends without a semicolon: {statement!r}")
