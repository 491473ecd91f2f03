"""A worker as tests have it: over a toy model, in this process, ending when there is nothing left to do."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

import psycopg

from fakes import ToyEmbedder
from making import use_model
from recollect.core.ports import Embedder
from recollect.service.gate import Gates
from recollect.stores.postgres.database import Database
from recollect.stores.postgres.jobs import Job, list_jobs
from recollect.stores.postgres.store import PostgresStore
from recollect.worker.queue import Backoff
from recollect.worker.run import Pace, Worker
from recollect.worker.tasks import EMBED, Workshop

EAGER: Final = Pace(poll=0.05, heartbeat=0.2, dead=3.0, sweep=0.1, first_pause=0.05, backoff=Backoff(first=0.0))
"""Waits for nothing longer than it must."""


@dataclass
class Shop:
    url: str
    database: Database
    store: PostgresStore
    workshop: Workshop

    def work(self, pace: Pace = EAGER, concurrency: int = 2) -> None:
        """Do all that can be done now, and what that leads to. What has to be tried again is, the next time."""
        self.ask("UPDATE procrastinate_jobs SET scheduled_at = NULL WHERE status = 'todo'")
        # However slow this machine is, a job that is put back is not done once more by the same worker, and a worker
        # that was kept waiting is not taken for dead.
        pace = replace(pace, dead=600.0, backoff=replace(pace.backoff, first=pace.backoff.first or 300.0))
        before: list[int] | None = None
        while before != (waiting := [job.id for job in self.jobs("waiting")]) and waiting:
            before = waiting
            Worker(self.url, self.workshop, concurrency=concurrency, wait=False, pace=pace).run()

    def jobs(self, *states: str) -> list[Job]:
        with self.database.read() as connection:
            return list_jobs(connection, *states)

    def embedding(self) -> list[str]:
        """Give the states of the jobs that embed."""
        return [job.state for job in self.jobs() if job.task == EMBED]

    def ask(self, statement: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Ask the database past our own code."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            answer = connection.execute(statement.encode(), parameters or None)
            return answer.fetchall() if answer.description else []

    def key_of(self, space: str = "personal") -> int:
        return int(self.ask("SELECT key FROM spaces WHERE id = %s", space)[0][0])

    def vectors(self, model: str = "toy") -> dict[str, list[float]]:
        """Give the vector of each memory by its id; each has one at most."""
        (found,) = self.ask("SELECT key, dimension FROM vector_sets WHERE model = %s", model)
        if found[1] is None:
            return {}
        rows = self.ask(
            f"SELECT m.id, v.vector::text FROM vectors_{found[0]} AS v "
            "JOIN memories AS m ON m.space = v.space AND m.key = v.memory"
        )
        assert len(rows) == len({identity for identity, _ in rows})
        return {str(identity): [float(number) for number in text.strip("[]").split(",")] for identity, text in rows}


@contextmanager
def open_shop(url: str, open_embedder: Callable[[str], Embedder] = ToyEmbedder, model: str = "toy") -> Iterator[Shop]:
    """Open a database whose recalls use a toy model."""
    database = Database.open(url, size=6)
    gates = Gates(open_embedder)
    store = PostgresStore(database, embed_query=gates.embed_query)
    try:
        use_model(store, model)
        yield Shop(url, database, store, Workshop(database, store, gates))
    finally:
        database.close()
