"""The settings that a store keeps: a file is one person's, and so are they."""

from contextlib import suppress

from recollect.core.errors import BadSetting
from recollect.core.settings import Settings, Value, parse_setting
from recollect.stores.sqlite.database import Database


class SqliteSettings:
    def __init__(self, database: Database) -> None:
        self._database = database

    def read(self, space: str | None = None) -> Settings:  # noqa: ARG002 - a file is one person's, and so are its settings
        with self._database.read() as connection:
            rows = connection.execute("SELECT name, value FROM settings").fetchall()
        values: dict[str, Value] = {}
        for name, value in rows:
            # What a newer version has set, by name or by value, means nothing to this one.
            with suppress(BadSetting):
                values[name] = parse_setting(name, value)
        return Settings(values)

    def set(self, name: str, value: Value | None, space: str | None = None) -> None:  # noqa: ARG002 - as above
        with self._database.write() as connection:
            connection.execute("DELETE FROM settings WHERE name = ?", (name,))
            if value is not None:
                connection.execute("INSERT INTO settings (name, value) VALUES (?, ?)", (name, str(value)))
