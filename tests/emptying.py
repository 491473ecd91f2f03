"""A database that has been used goes in; as it was when it was new comes out, in milliseconds.

It knows no table by name but Alembic's own. What is left in a table after the migrations belongs to the schema and is
put back; tables and indexes that were made since then are dropped.
"""

from typing import Any, Final

import psycopg

# A test that left a transaction open is to fail, not to hang.
_PREPARE: Final = "SET session_replication_role = replica; SET lock_timeout = '5s'; SET client_min_messages = warning"
_LARGE: Final = 1 << 18
"""In bytes. What is deleted from a smaller table is not worth a VACUUM: the next test reads past it unnoticed."""

# Extensions keep what is theirs. Sizes are read from the file system, which is much quicker than looking for a row.
_RELATIONS: Final = """
SELECT c.oid,
       c.oid::regclass::text AS name,
       c.relkind::text AS kind,
       c.relispartition AS is_part,
       CASE WHEN c.relkind = 'r' THEN pg_relation_size(c.oid) ELSE 0 END AS size
FROM pg_class AS c
WHERE c.relnamespace = 'public'::regnamespace
  AND c.relkind IN ('r', 'p', 'i', 'I')
  AND c.relname NOT LIKE 'alembic\\_version%'
  AND NOT EXISTS (
      SELECT FROM pg_depend AS d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'
  )
"""

_USED_SEQUENCES: Final = """
SELECT s.seqrelid::bigint
FROM pg_sequence AS s JOIN pg_class AS c ON c.oid = s.seqrelid
WHERE c.relnamespace = 'public'::regnamespace AND pg_sequence_last_value(s.seqrelid) IS NOT NULL
"""


class Emptier:
    """Made while the database is new; remembers what belongs to it."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._connection = _connect(url)
        relations = self._connection.execute(_RELATIONS).fetchall()
        self._known = {oid for oid, *_ in relations}
        self._used_sequences = self._sequences()
        self._rows = {name: self._read(name) for _, name, kind, _, size in relations if kind == "r" and size}

    def empty(self) -> None:
        if self._connection.closed or self._connection.broken:
            self._connection = _connect(self._url)
        relations = self._connection.execute(_RELATIONS).fetchall()
        new = [(name, kind, is_part) for oid, name, kind, is_part, _ in relations if oid not in self._known]
        used = {name: size for oid, name, kind, _, size in relations if oid in self._known and kind == "r" and size}
        tables = [name for name, kind, is_part in new if kind in "rp" and not is_part]
        indexes = [name for name, kind, is_part in new if kind in "iI" and not is_part]
        statements = [
            *(f"DROP TABLE {name} CASCADE" for name in tables),
            *(f"DROP INDEX IF EXISTS {name}" for name in indexes),
            # Not TRUNCATE: through foreign keys it would reach every partition, and make a dozen files for each.
            *(f"DELETE FROM ONLY {name}" for name in used),
            *(
                f"SELECT setval({oid}::regclass, seqstart, false) FROM pg_sequence WHERE seqrelid = {oid}"
                for oid in self._sequences() - self._used_sequences
            ),
        ]
        with self._connection.transaction():
            self._connection.execute("; ".join(statements).encode())
            for name, rows in self._rows.items():
                self._write(name, rows)
        for name, size in used.items():
            if size > _LARGE:
                self._connection.execute(f"VACUUM {name}".encode())

    def close(self) -> None:
        self._connection.close()

    def _sequences(self) -> set[int]:
        return {oid for (oid,) in self._connection.execute(_USED_SEQUENCES)}

    def _read(self, table: str) -> bytes:
        with self._connection.cursor() as cursor, cursor.copy(f"COPY {table} TO STDOUT".encode()) as rows:
            return b"".join(bytes(row) for row in rows)

    def _write(self, table: str, rows: bytes) -> None:
        with self._connection.cursor() as cursor, cursor.copy(f"COPY {table} FROM STDIN".encode()) as copy:
            copy.write(rows)


def _connect(url: str) -> psycopg.Connection[tuple[Any, ...]]:
    connection = psycopg.connect(url, autocommit=True)
    connection.execute(_PREPARE)
    return connection
