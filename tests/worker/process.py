"""A worker process over a toy model that says what reaches it, a line each.

Told to `hold`, its model then waits for ever; told to `listen`, it looks for jobs only when they are announced.
"""

import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fakes import ToyEmbedder
from recollect.core.vectors import Vector
from recollect.service.gate import Gates
from recollect.stores.postgres.database import Database
from recollect.stores.postgres.store import PostgresStore
from recollect.worker.run import Worker
from recollect.worker.tasks import Workshop
from working import EAGER


@dataclass
class TellingEmbedder(ToyEmbedder):
    hold: bool = False

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        sys.stdout.write(f"{len(texts)} texts\n")
        sys.stdout.flush()
        if self.hold:
            threading.Event().wait()
        return super().embed_documents(texts)


def main(url: str, how: str) -> None:
    database = Database.open(url, size=4)
    gates = Gates(lambda model: TellingEmbedder(model, hold=how == "hold"))
    pace = replace(EAGER, poll=600.0) if how == "listen" else EAGER
    Worker(url, Workshop(database, PostgresStore(database), gates), pace=pace).run()
    database.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
