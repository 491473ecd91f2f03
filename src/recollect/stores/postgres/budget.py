"""What language models may still use, and what they answered, so that no text is paid for twice.

All by the operator, whose workers ask; a caller has nothing to do with either.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from psycopg import Connection

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
from recollect.stores.postgres.database import Database, Row

_LIMIT: Final = "UPDATE extractors SET most_calls = %s, most_tokens = %s WHERE name = %s"
# One statement asks and takes: who comes second waits for the row, and asks it as the first has left it. Where no
# limit was set, the comparison is with NULL, and nothing is granted.
_GRANT: Final = """
UPDATE extractors SET calls = calls + 1, tokens = tokens + %(tokens)s::bigint
WHERE name = %(name)s AND calls + 1 <= most_calls AND tokens + %(tokens)s::bigint <= most_tokens
"""
_SETTLE: Final = "UPDATE extractors SET tokens = GREATEST(0, tokens - %s::bigint) WHERE name = %s"
_PLACE: Final = "SELECT s.key, x.key FROM spaces AS s, extractors AS x WHERE s.id = %s AND x.name = %s"
_RECALL: Final = """
SELECT digest, extraction FROM extracted
WHERE space = %s AND extractor = %s AND digest = ANY (%s::bytea[]) AND extraction IS NOT NULL
"""
# A row comes back if it is new, or if it was somebody's who has not answered for too long. All statements here take
# rows in one order, so that no two wait for each other: a claim locks also what is somebody else's.
_CLAIM: Final = f"""
INSERT INTO extracted (space, extractor, digest, asked_at)
SELECT %s, %s, digest, EXTRACT(epoch FROM now())::bigint FROM unnest(%s::bytea[]) AS digest ORDER BY digest
ON CONFLICT (space, extractor, digest) DO UPDATE SET asked_at = excluded.asked_at
WHERE extracted.extraction IS NULL AND extracted.asked_at < excluded.asked_at - {CLAIM_SECONDS}
RETURNING digest
"""
_RELEASE: Final = """
WITH mine AS MATERIALIZED (
    SELECT space, extractor, digest FROM extracted
    WHERE space = %s AND extractor = %s AND digest = ANY (%s::bytea[]) AND extraction IS NULL
    ORDER BY digest FOR UPDATE
)
DELETE FROM extracted AS x USING mine AS m
WHERE (x.space, x.extractor, x.digest) = (m.space, m.extractor, m.digest)
"""
# Only where the claim still is: a text that was purged meanwhile, or made sensitive, leaves nothing here.
_REMEMBER: Final = """
WITH mine AS MATERIALIZED (
    SELECT space, extractor, digest FROM extracted
    WHERE space = %(space)s AND extractor = %(extractor)s AND digest = ANY (%(digests)s::bytea[])
    ORDER BY digest FOR UPDATE
)
UPDATE extracted AS x SET extraction = a.extraction
FROM mine AS m, unnest(%(digests)s::bytea[], %(answers)s::text[]) AS a (digest, extraction)
WHERE (x.space, x.extractor, x.digest) = (m.space, m.extractor, m.digest) AND a.digest = m.digest
"""
# By every extractor, so that the whole of the key is known.
_FORGET: Final = """
WITH mine AS MATERIALIZED (
    SELECT space, extractor, digest FROM extracted
    WHERE space = %s AND extractor = ANY (ARRAY(SELECT key FROM extractors)) AND digest = ANY (%s::bytea[])
    ORDER BY digest, extractor FOR UPDATE
)
DELETE FROM extracted AS x USING mine AS m
WHERE (x.space, x.extractor, x.digest) = (m.space, m.extractor, m.digest)
"""


class PostgresBudgets:
    def __init__(self, database: Database) -> None:
        self._database = database

    def limit(self, extractor: str, calls: int, tokens: int) -> None:
        check_limits(calls, tokens)
        with self._database.write() as connection:
            if not connection.execute(_LIMIT, (calls, tokens, extractor)).rowcount:
                raise no_extractor(extractor)

    def grant(self, extractor: str, tokens: int) -> bool:
        with self._database.write() as connection:
            granted = connection.execute(_GRANT, {"name": extractor, "tokens": min(tokens, MOST)})
            return granted.rowcount > 0

    def settle(self, extractor: str, unused: int) -> None:
        with self._database.write() as connection:
            connection.execute(_SETTLE, (max(-MOST, min(unused, MOST)), extractor))

    def recalled(self, extractor: str, space: str, texts: Collection[str]) -> dict[str, Extraction]:
        of = {digest_of(text): text for text in texts}
        with self._database.read() as connection:
            rows = connection.execute(_RECALL, (*_place(connection, extractor, space), list(of))).fetchall()
        return {of[bytes(digest)]: from_answer(kept) for digest, kept in rows}

    def claim(self, extractor: str, space: str, texts: Collection[str]) -> set[str]:
        of = {digest_of(text): text for text in texts}
        with self._database.write() as connection:
            rows = connection.execute(_CLAIM, (*_place(connection, extractor, space), list(of))).fetchall()
        return {of[bytes(digest)] for (digest,) in rows}

    def release(self, extractor: str, space: str, texts: Collection[str]) -> None:
        with self._database.write() as connection:
            place = _place(connection, extractor, space)
            connection.execute(_RELEASE, (*place, [digest_of(text) for text in texts]))

    def remember(self, extractor: str, space: str, answers: Mapping[str, Extraction]) -> None:
        kept = {digest_of(text): to_answer(read) for text, read in answers.items()}
        with self._database.write() as connection:
            place = _place(connection, extractor, space)
            values = {"digests": list(kept), "answers": list(kept.values())}
            connection.execute(_REMEMBER, {"space": place[0], "extractor": place[1], **values})


def forget_answers(connection: Connection[Row], space: int, texts: Iterable[str]) -> None:
    """Remove what was read in texts that are removed for good, or that nobody may read any more."""
    connection.execute(_FORGET, (space, [digest_of(text) for text in texts]))


def _place(connection: Connection[Row], extractor: str, space: str) -> tuple[int, int]:
    row = connection.execute(_PLACE, (space, extractor)).fetchone()
    if row is None:
        raise no_extractor(extractor)
    return row[0], row[1]
