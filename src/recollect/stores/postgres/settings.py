"""The settings: the server's, and what single spaces have set otherwise. Read with every request."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from recollect.core.errors import BadSetting
from recollect.core.settings import Settings, Value, parse_setting
from recollect.stores.postgres.database import Database
from recollect.stores.postgres.spaces import key_of_space, no_space

EVERYWHERE: Final = 0
"""Where the server's own settings stand: no space has this number."""
_READ: Final = "SELECT name, value FROM settings WHERE space IN (%s, %s) ORDER BY space"
_SET: Final = """
INSERT INTO settings (space, name, value) VALUES (%s, %s, %s)
ON CONFLICT (space, name) DO UPDATE SET value = excluded.value
"""


class PostgresSettings:
    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self, space: str | None = None) -> Settings:
        noted: dict[str, Settings] = self._database.noted.setdefault("settings read", {})
        if space is None or space not in noted:
            settings = Settings(dict(_known(self._rows(space))))
            if space is None:
                return settings
            noted[space] = settings
        return noted[space]

    def _rows(self, space: str | None) -> Iterable[tuple[str, str]]:
        """Give what is set, the server's first, so that a space's own come over them."""
        noted: dict[str, list[tuple[str, str]]] = self._database.noted.get("settings", {})
        if space in noted:
            return noted[space]
        with self._database.read() as connection:
            key = None if space is None else key_of_space(self._database, connection, space)
            return [(name, value) for name, value in connection.execute(_READ, (EVERYWHERE, key)).fetchall()]

    def set(self, name: str, value: Value | None, space: str | None = None) -> None:
        with self._database.write() as connection:
            key = EVERYWHERE if space is None else key_of_space(self._database, connection, space)
            if key is None:
                assert space is not None  # noqa: S101 - the server's settings always have a place
                raise no_space(space)
            if value is None:
                connection.execute("DELETE FROM settings WHERE space = %s AND name = %s", (key, name))
            else:
                connection.execute(_SET, (key, name, str(value)))


def _known(rows: Iterable[tuple[str, str]]) -> Iterable[tuple[str, Value]]:
    """Leave out what a newer version has set, by name or by value: it means nothing to this one."""
    for name, value in rows:
        with suppress(BadSetting):
            yield name, parse_setting(name, value)
