"""A process that has a language model read what waits, and says how it ended."""

import json
import sys

from provider_server import Provider
from reading import open_model
from recollect.core.errors import BudgetSpent
from recollect.service.extract_llm import extract_by_model
from recollect.stores.sqlite.store import SqliteStore


def main(path: str, address: str) -> None:
    store = SqliteStore(path)
    kept = 0

    def count(done: int, _total: int) -> None:
        nonlocal kept
        kept = done

    try:
        extract_by_model(store, open_model(Provider(address), store), progress=count)
        ended = "done"
    except BudgetSpent:
        ended = "spent"
    store.close()
    sys.stdout.write(json.dumps([ended, kept]))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
