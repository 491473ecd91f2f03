"""Whether a database can be worked with: it answers, it has this program's schema, and it may hold vectors."""

from typing import Final

from recollect.core.ports import Health
from recollect.stores.postgres.database import Database, Row
from recollect.stores.postgres.migrate import check_revision

_LOOK: Final = """
SELECT (SELECT version_num FROM alembic_version), EXISTS (SELECT FROM pg_extension WHERE extname = 'vector')
"""


def examine_database(database: Database) -> Health:
    found: list[Row] = []
    # In no role: the revision is nobody's but the owner's to read.
    database.alone(lambda connection: found.extend(connection.execute(_LOOK).fetchall()))
    schema, has_vectors = found[0]
    check_revision(schema)
    return Health(schema, has_vectors)
