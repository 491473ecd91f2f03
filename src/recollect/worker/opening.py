"""Opens a worker as the configuration has it."""

from dataclasses import replace

from recollect.config import Config
from recollect.service.gate import Gates
from recollect.stores.postgres.database import Database
from recollect.stores.postgres.store import PostgresStore
from recollect.wiring import database_address, open_embedder
from recollect.worker.run import OWN_CONNECTIONS, Worker
from recollect.worker.tasks import Workshop


def open_worker(config: Config, *, concurrency: int) -> Worker:
    """Put a worker together; whether its database answers, and has the right schema, it finds out when it runs."""
    address = database_address(replace(config, database=config.worker_database or config.database))
    database = Database.open(address, size=concurrency + OWN_CONNECTIONS)
    gates = Gates(lambda model: open_embedder(model, config))
    store = PostgresStore(database, embed_query=gates.embed_query)
    return Worker(address, Workshop(database, store, gates), concurrency=concurrency)
