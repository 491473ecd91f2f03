"""What is Postgres's own in keeping budgets: claims of those who died."""

import psycopg

from callers import open_walled
from making import make_memory
from recollect.stores.answers import CLAIM_SECONDS

MODEL = "llm 1 openai:m"


def test_a_claim_of_somebody_who_died_ends(empty_store_database: str) -> None:
    """After a quarter of an hour a text that was never answered is there for others, and then theirs alone."""
    store = open_walled(empty_store_database, ["personal"])
    store.memories.add([make_memory()])
    store.concepts.begin(MODEL)
    assert store.budgets.claim(MODEL, "personal", ["text"])
    for seconds, claimed in ((CLAIM_SECONDS - 60, set()), (CLAIM_SECONDS + 60, {"text"})):
        with psycopg.connect(empty_store_database) as connection:
            connection.execute("UPDATE extracted SET asked_at = EXTRACT(epoch FROM now())::bigint - %s", (seconds,))
        assert store.budgets.claim(MODEL, "personal", ["text"]) == claimed
    assert not store.budgets.claim(MODEL, "personal", ["text"])
    store.close()
