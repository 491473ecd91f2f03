"""A store as a hook has it: opened in a moment, read and never written, and only as it stands.

A file that is missing, or that another version of Recollect would first have to bring up to date, is refused: a prompt
does not wait for that.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from recollect.core.errors import StoreError, StoreTooNew
from recollect.core.settings import Settings, Value
from recollect.stores.sqlite.database import Database
from recollect.stores.sqlite.lexical import SqliteWordsIndex
from recollect.stores.sqlite.linked import SqliteLinked
from recollect.stores.sqlite.migrate import check_current, fingerprint_of
from recollect.stores.sqlite.reading import SqliteReading
from recollect.stores.sqlite.settings import SqliteSettings
from recollect.stores.words import ExactLeg, LexicalLeg

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recollect.core.ports import Leg
    from recollect.core.query import Query
    from recollect.stores.sqlite.ties import SqliteTies


class Glance:
    asks_in_turn = True
    """A second connection takes longer to open than the first leg takes to answer."""

    def __init__(self, path: str, values: Mapping[str, Value], *, patience: float, language: str = "english") -> None:
        self._database = Database(path, patience=patience, create=False)
        try:
            with self._database.read() as connection:
                check_current(connection, fingerprint_of(language))
        except StoreTooNew:
            self.close()
            raise StoreError(f"{path} is of another version of Recollect: `recollect stats` says what to do.") from None
        self.memories = SqliteReading(self._database)
        self.links = SqliteLinked(self._database)
        self._language = language
        self.vectors = _NoQueue()
        self.settings = _Overlaid(SqliteSettings(self._database), dict(values))
        words = SqliteWordsIndex(self._database)
        self.legs: Sequence[Leg] = (LexicalLeg(words, language), ExactLeg(words, language))

    @property
    def concepts(self) -> SqliteTies:
        """What `spread` asks for, which a hurried recall does without."""
        from recollect.stores.sqlite.ties import SqliteTies

        return SqliteTies(self._database, self._language)

    def leave_out_after(self, seconds: float) -> None:
        """Give each leg so much time, whatever the store's settings say."""
        self.settings.values["leg-timeout-ms"] = max(1, int(seconds * 1000))

    def ask_besides(self, leg: Leg | None) -> None:
        """Have a further leg, which is asked last: its answer is on its way while the others search."""
        if leg is not None:
            self.legs = (*self.legs, leg)

    def reading(self, query: Query) -> AbstractContextManager[None]:  # noqa: ARG002 - each stage reads for itself
        return nullcontext()

    def close(self) -> None:
        self._database.close()


class _NoQueue:
    def count_waiting(self, spaces: Sequence[str]) -> int:  # noqa: ARG002
        """Count nothing: a hook does not tell how the answer came about."""
        return 0


class _Overlaid:
    """The store's settings, but for those that a hook has of its own."""

    def __init__(self, inside: SqliteSettings, values: dict[str, Value]) -> None:
        self.values = values
        self._inside = inside

    def read(self, space: str | None = None) -> Settings:
        return Settings({**self._inside.read(space).values, **self.values})
