"""A process that embeds what waits for a toy model until it is done or killed, a line for each text and each batch."""

import sys

from fakes import ToyEmbedder
from recollect.core.vectors import Vector
from recollect.service.embed import embed_waiting
from recollect.service.gate import Gate
from recollect.stores.sqlite.store import SqliteStore


class TellingEmbedder(ToyEmbedder):
    def vector(self, text: str) -> Vector:
        say("text")
        return super().vector(text)


def say(what: str) -> None:
    """Write a line at once: what stays in a buffer dies with the process."""
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


def main(path: str, model: str) -> None:
    store = SqliteStore(path)
    embed_waiting(store, Gate(TellingEmbedder(model)), progress=lambda kept, _total: say(f"kept {kept}"))
    store.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
