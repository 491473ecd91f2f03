"""What language models may still use, and what they answered, so that no text is paid for twice."""

import sqlite3
from collections.abc import Collection, Iterable, Mapping
from typing import Final

from recollect.core.concepts import Extraction
from recollect.stores.answers import (
    CLAIM_SECONDS,
    MOST,
    check_limits,
    digest_of,
    from_answer,
    no_extractor,
    to_answer,
)
from recollect.stores.sqlite.database import Database

_LIMIT: Final = "UPDATE extractors SET most_calls = ?, most_tokens = ? WHERE name = ?"
# One statement asks and takes. Where no limit was set, the comparison is with NULL, and nothing is granted.
_GRANT: Final = """
UPDATE extractors SET calls = calls + 1, tokens = tokens + ?1
WHERE name = ?2 AND calls + 1 <= most_calls AND tokens + ?1 <= most_tokens
"""
_SETTLE: Final = "UPDATE extractors SET tokens = MAX(0, tokens - ?) WHERE name = ?"
_PLACE: Final = "SELECT s.key, x.key FROM spaces AS s, extractors AS x WHERE s.id = ? AND x.name = ?"
_RECALL: Final = "SELECT extraction FROM extracted WHERE space = ? AND extractor = ? AND digest = ?"
# A row comes back if it is new, or if it was somebody's who has not answered for too long.
_CLAIM: Final = f"""
INSERT INTO extracted (space, extractor, digest, asked_at) VALUES (?, ?, ?, CAST(strftime('%s', 'now') AS INTEGER))
ON CONFLICT (space, extractor, digest) DO UPDATE SET asked_at = excluded.asked_at
WHERE extraction IS NULL AND asked_at < excluded.asked_at - {CLAIM_SECONDS}
RETURNING 1
"""
_RELEASE: Final = "DELETE FROM extracted WHERE space = ? AND extractor = ? AND digest = ? AND extraction IS NULL"
# Only where the claim still is: a text that was purged meanwhile, or made sensitive, leaves nothing here.
_REMEMBER: Final = "UPDATE extracted SET extraction = ?4 WHERE space = ?1 AND extractor = ?2 AND digest = ?3"
# By every extractor, so that the whole of the key is known.
_FORGET: Final = """
DELETE FROM extracted WHERE space = ? AND extractor IN (SELECT key FROM extractors) AND digest = ?
"""


class SqliteBudgets:
    def __init__(self, database: Database) -> None:
        self._database = database

    def limit(self, extractor: str, calls: int, tokens: int) -> None:
        check_limits(calls, tokens)
        with self._database.write() as connection:
            if not connection.execute(_LIMIT, (calls, tokens, extractor)).rowcount:
                raise no_extractor(extractor)

    def grant(self, extractor: str, tokens: int) -> bool:
        with self._database.write() as connection:
            return connection.execute(_GRANT, (min(tokens, MOST), extractor)).rowcount > 0

    def settle(self, extractor: str, unused: int) -> None:
        with self._database.write() as connection:
            connection.execute(_SETTLE, (max(-MOST, min(unused, MOST)), extractor))

    def recalled(self, extractor: str, space: str, texts: Collection[str]) -> dict[str, Extraction]:
        with self._database.read() as connection:
            place = _place(connection, extractor, space)
            rows = {text: connection.execute(_RECALL, (*place, digest_of(text))).fetchone() for text in texts}
        return {text: from_answer(row[0]) for text, row in rows.items() if row and row[0] is not None}

    def claim(self, extractor: str, space: str, texts: Collection[str]) -> set[str]:
        with self._database.write() as connection:
            place = _place(connection, extractor, space)
            return {text for text in texts if connection.execute(_CLAIM, (*place, digest_of(text))).fetchone()}

    def release(self, extractor: str, space: str, texts: Collection[str]) -> None:
        with self._database.write() as connection:
            place = _place(connection, extractor, space)
            connection.executemany(_RELEASE, [(*place, digest_of(text)) for text in texts])

    def remember(self, extractor: str, space: str, answers: Mapping[str, Extraction]) -> None:
        with self._database.write() as connection:
            place = _place(connection, extractor, space)
            rows = [(*place, digest_of(text), to_answer(read)) for text, read in answers.items()]
            connection.executemany(_REMEMBER, rows)


def forget_answers(connection: sqlite3.Connection, space: int, texts: Iterable[str]) -> None:
    """Remove what was read in texts that are removed for good, or that nobody may read any more."""
    connection.executemany(_FORGET, [(space, digest_of(text)) for text in texts])


def _place(connection: sqlite3.Connection, extractor: str, space: str) -> tuple[int, int]:
    row = connection.execute(_PLACE, (space, extractor)).fetchone()
    if row is None:
        raise no_extractor(extractor)
    return row[0], row[1]
