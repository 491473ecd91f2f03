"""What a presented key is checked against, before it is known who is asking: so this is asked as the operator."""

import threading
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final

from psycopg import sql

from recollect.core.access import Caller
from recollect.core.errors import RecollectError
from recollect.core.moments import to_micros
from recollect.core.ports import Clock
from recollect.stores.postgres.database import Database

_FIND: Final = sql.SQL(
    "SELECT hash, person, scope, admin, restricted, own, spaces, roles FROM recollect_find_key({prefix}, {now})"
)
_TOUCH: Final = "SELECT recollect_touch_key(%s, %s)"
_OFTEN_ENOUGH: Final = timedelta(minutes=1)
_MOST_NOTED: Final = 10_000


class PostgresKeys:
    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock
        self._lock = threading.Lock()
        self._noted: dict[str, datetime] = {}

    def find(self, prefix: str) -> tuple[bytes, Caller] | None:
        now = sql.Literal(to_micros(self._clock()))
        rows = self._database.ask(_FIND.format(prefix=sql.Literal(prefix), now=now))
        if not rows:
            return None
        ((digest, person, scope, admin, restricted, own, spaces, roles),) = rows
        reached = dict(zip(spaces, roles, strict=True))
        return bytes(digest), Caller(prefix, person, scope, own, reached, admin, restricted)

    def note_use(self, prefix: str) -> None:
        now = self._clock()
        with self._lock:
            noted = self._noted.get(prefix)
            if noted is not None and now - noted < _OFTEN_ENOUGH:
                return
            self._noted[prefix] = now
            if len(self._noted) > _MOST_NOTED:
                self._noted = {each: then for each, then in self._noted.items() if now - then < _OFTEN_ENOUGH}
        # Whoever asks is not turned away because this could not be written: on a replica it never can.
        with suppress(RecollectError), self._database.write() as connection:
            connection.execute(_TOUCH, (prefix, to_micros(now)))
