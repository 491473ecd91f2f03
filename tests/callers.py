"""People of a test's server, and stores as they see them: behind the walls that the database itself has."""

from collections.abc import Sequence

from recollect.core.access import Caller
from recollect.core.ports import EmbedQuery
from recollect.stores.postgres.concepts import PostgresConcepts
from recollect.stores.postgres.database import Database
from recollect.stores.postgres.store import PostgresStore

_MEMBER = """
WITH person AS (
    INSERT INTO people (id, admin, created_at) VALUES (%(person)s, true, 0)
    ON CONFLICT (id) DO UPDATE SET admin = true RETURNING key
), space AS (
    INSERT INTO spaces (id) SELECT unnest(%(spaces)s::text[])
    ON CONFLICT (id) DO UPDATE SET id = excluded.id RETURNING key
), membership AS (
    INSERT INTO memberships (space, person, role)
    SELECT space.key, person.key, 'admin' FROM space, person ON CONFLICT DO NOTHING
)
INSERT INTO api_keys (prefix, person, hash, name, scope, created_at)
SELECT %(person)s, key, '', 'tests', 'admin', 0 FROM person ON CONFLICT DO NOTHING
"""


class WalledConcepts(PostgresConcepts):
    """A caller's concepts. Extractors, their queues and what they read are the operator's."""

    def __init__(self, database: Database, operator: PostgresConcepts) -> None:
        super().__init__(database, "english")
        for deed in ("begin", "drop", "readers", "waiting", "keep", "load"):
            setattr(self, deed, getattr(operator, deed))


class WalledStore(PostgresStore):
    """A caller's store. What only the operator does, embedding, reading and mending, is done as the operator."""

    def __init__(self, database: Database, caller: Caller, embed_query: EmbedQuery | None) -> None:
        super().__init__(database.as_caller(caller), embed_query=embed_query)
        operator = PostgresStore(database, embed_query=embed_query)
        self.vectors = operator.vectors
        self.concepts = WalledConcepts(database.as_caller(caller), operator.concepts)
        self.budgets = operator.budgets
        self.examine = operator.examine  # type: ignore[method-assign]
        self.mend = operator.mend  # type: ignore[method-assign]
        self.close = operator.close  # type: ignore[method-assign]


def open_walled(url: str, spaces: Sequence[str], embed_query: EmbedQuery | None = None) -> WalledStore:
    """Open a store as a person who administers some spaces, which are made, and is let into no other."""
    database = Database.open(url, size=6)
    with database.write() as connection:
        connection.execute(_MEMBER, {"person": "tester", "spaces": list(spaces)})
    caller = Caller("tester", "tester", "admin", spaces[0], dict.fromkeys(spaces, "admin"), admin=True)
    return WalledStore(database, caller, embed_query)
