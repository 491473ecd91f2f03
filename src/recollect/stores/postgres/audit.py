"""The log of who did what. Writes note themselves in their own transaction; reads are noted here, a moment later.

A recall neither waits for a commit nor needs a database that can be written to: what it read is kept in memory and
written about once a second, and when the server ends. A server that is killed loses the reads of that second.
"""

import logging
import threading
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from psycopg import Connection

from recollect.core.access import Caller
from recollect.core.errors import RecollectError
from recollect.core.hits import Ref
from recollect.core.moments import to_micros
from recollect.core.ports import Clock
from recollect.stores.postgres.database import Database, Row

MOST: Final = 50_000
"""Entries that wait at most, some tens of megabytes: what comes on top while the database is away is lost."""
PAUSE_SECONDS: Final = 1.0
_BATCH: Final = 1000

# The entry says itself who is at work, and says nothing for the operator, who has no key.
_NOTE_WRITE: Final = """
INSERT INTO audit (space, at, key, person, deed, memories)
SELECT %s, current_setting('recollect.moment')::bigint, current_setting('recollect.key'),
       current_setting('recollect.name'), %s, %s::uuid[]
WHERE current_setting('recollect.key', true) <> ''
"""
# Lists of ids come as text, since arrays in an array would have to be of one length. A space that was removed
# meanwhile takes no more entries, and one that was made since under its name is not told what was read in it.
_NOTE_READS: Final = """
INSERT INTO audit (space, at, key, person, deed, memories)
SELECT s.key, e.at, e.key, e.person, e.deed, e.memories::uuid[]
FROM unnest(%s::text[], %s::bigint[], %s::text[], %s::text[], %s::text[], %s::text[])
    AS e (space, at, key, person, deed, memories)
JOIN spaces AS s ON s.id = e.space AND s.created_at <= e.at
"""

_log = logging.getLogger(__name__)


def note_write(connection: Connection[Row], space: int, deed: str, ids: Sequence[str]) -> None:
    """Note in a caller's transaction what it does to which memories of a space."""
    connection.execute(_NOTE_WRITE, (space, deed, list(ids)))


class _Entry(NamedTuple):
    space: str
    at: int
    key: str
    person: str
    deed: str
    memories: str


class PostgresLog:
    def __init__(
        self, database: Database, clock: Clock, *, most: int = MOST, pause_seconds: float = PAUSE_SECONDS
    ) -> None:
        self._database = database
        self._clock = clock
        self._most = most
        self._pause = pause_seconds
        self._entries: list[_Entry] = []
        self._lost = 0
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="audit", daemon=True)
        self._thread.start()

    def note(self, caller: Caller, deed: str, refs: Sequence[Ref]) -> None:
        at = to_micros(self._clock())
        ids: dict[str, list[str]] = {}
        for ref in refs:
            ids.setdefault(ref.space, []).append(ref.id)
        made = [
            _Entry(space, at, caller.key, caller.person, deed, f"{{{','.join(each)}}}") for space, each in ids.items()
        ]
        with self._lock:
            room = max(0, self._most - len(self._entries))
            self._entries += made[:room]
            self._lost += len(made[room:])

    def flush(self) -> None:
        """Write what waits; what cannot be written now waits on."""
        with self._writing:
            while True:
                with self._lock:
                    batch, self._entries = self._entries[:_BATCH], self._entries[_BATCH:]
                    lost, self._lost = self._lost, 0
                if lost:
                    _log.error("%d entries of the audit log are lost: the database was away for too long", lost)
                if not batch:
                    return
                try:
                    self._write(batch)
                except RecollectError:
                    with self._lock:
                        self._entries[:0] = batch
                    raise

    def close(self) -> None:
        self._ending.set()
        self._thread.join()
        try:
            self.flush()
        except RecollectError:
            _log.exception("%d entries of the audit log could not be written", len(self._entries))

    def _write(self, batch: Sequence[_Entry]) -> None:
        columns: list[Any] = [list(column) for column in zip(*batch, strict=True)]
        with self._database.write() as connection:
            connection.execute(_NOTE_READS, columns)

    def _run(self) -> None:
        while not self._ending.wait(self._pause):
            try:
                self.flush()
            except RecollectError as error:
                _log.warning("the audit log waits: %s", error)
            except Exception:  # noqa: BLE001 - the log goes on
                # A batch that the database refuses would be refused again: it is dropped, and the next is tried.
                _log.exception("a batch of the audit log was refused")
