"""What a memory weighs on disk: a database goes in, bytes a memory by table and index come out."""

from contextlib import closing
from typing import Any, Final

from pg_load import connect

# A partition counts for the table, and its index for the index, that it is a part of.
_SIZES: Final = """
WITH RECURSIVE part AS (
    SELECT oid AS part, oid AS whole FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('p', 'I') AND NOT relispartition
    UNION ALL
    SELECT h.inhrelid, p.whole FROM part AS p JOIN pg_inherits AS h ON h.inhparent = p.part
)
SELECT coalesce(i.indrelid, w.oid)::regclass::text AS table,
       w.relname AS relation, w.relkind = 'I' AS is_index,
       sum(pg_relation_size(p.part) + coalesce(pg_total_relation_size(nullif(c.reltoastrelid, 0)), 0))::bigint AS bytes
FROM part AS p
JOIN pg_class AS c ON c.oid = p.part
JOIN pg_class AS w ON w.oid = p.whole
LEFT JOIN pg_index AS i ON i.indexrelid = w.oid
GROUP BY 1, 2, 3 HAVING sum(pg_relation_size(p.part)) > 0
ORDER BY 1, 3, 4 DESC
"""


def weigh(url: str) -> dict[str, Any]:
    with closing(connect(url)) as connection:
        rows = connection.execute(_SIZES).fetchall()
        counted = connection.execute("SELECT sum(memories)::bigint, sum(length) FROM spaces").fetchone()
        postings = connection.execute(
            "SELECT sum(reltuples)::bigint FROM pg_class WHERE relname ~ '^postings_p[0-9]+$'"
        )
        # One space is like the others.
        text = connection.execute(
            "SELECT avg(octet_length(content))::double precision FROM memories "
            "WHERE space = (SELECT min(key) FROM spaces WHERE memories > 0)"
        )
        assert counted is not None
        memories = counted[0]
        return {
            "memories": memories,
            "bytes_of_text": _first(text),
            "postings_a_memory": (_first(postings) or 0) / memories,
            "bytes_a_memory": {
                f"{table}, {relation}" if is_index else f"{table}": size / memories
                for table, relation, is_index, size in rows
                if size > memories
            },
            "bytes_a_memory_in_all": sum(size for *_, size in rows) / memories,
        }


def _first(cursor: Any) -> Any:  # noqa: ANN401 - whatever the column is
    row = cursor.fetchone()
    return None if row is None else row[0]
