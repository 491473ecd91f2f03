"""Spaces as the store's parts meet them: by name outside, by number inside."""

from typing import Final

from psycopg import Connection

from recollect.core.errors import NotFound
from recollect.stores.postgres.database import Database, Row

LOCK_SPACES: Final = "LOCK TABLE spaces IN EXCLUSIVE MODE"
"""Waits for all who write, and has all others wait, those who make a space included. Reading goes on."""


def key_of_space(database: Database, connection: Connection[Row], space: str) -> int | None:
    """Give the number of a space, or nothing for one that is not there, or not for this caller."""
    noted: dict[str, int | None] = database.noted.setdefault("keys of spaces", {})
    if space not in noted:
        row = connection.execute("SELECT key FROM spaces WHERE id = %s", (space,)).fetchone()
        noted[space] = None if row is None else int(row[0])
    return noted[space]


def lock_space(database: Database, connection: Connection[Row], space: str, *, make: bool = False) -> int:
    """Give the number of a space to write to, and have every other writer to it wait.

    What the operator adds makes the space if need be, as on the laptop; what a caller adds does not.
    """
    lock = "SELECT key FROM spaces WHERE id = %s FOR NO KEY UPDATE"
    row = connection.execute(lock, (space,)).fetchone()
    if row is None and make and database.caller is None:
        connection.execute("INSERT INTO spaces (id) VALUES (%s) ON CONFLICT DO NOTHING", (space,))
        row = connection.execute(lock, (space,)).fetchone()
    if row is None:
        raise no_space(space)
    return int(row[0])


def no_space(space: str) -> NotFound:
    return NotFound(f"There is no space {space!r} that you may write to.")
