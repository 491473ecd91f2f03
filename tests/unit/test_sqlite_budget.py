"""What is SQLite's own in keeping budgets: claims of those who died."""

import sqlite3
from contextlib import closing
from pathlib import Path

from making import make_memory
from recollect.stores.answers import CLAIM_SECONDS
from recollect.stores.sqlite.store import SqliteStore

MODEL = "llm 1 openai:m"


def test_a_claim_of_somebody_who_died_ends(tmp_path: Path) -> None:
    """After a quarter of an hour a text that was never answered is there for others, and then theirs alone."""
    path = tmp_path / "memory.db"
    store = SqliteStore(str(path))
    store.memories.add([make_memory()])
    store.concepts.begin(MODEL)
    assert store.budgets.claim(MODEL, "personal", ["text"])
    for seconds, claimed in ((CLAIM_SECONDS - 60, set()), (CLAIM_SECONDS + 60, {"text"})):
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("UPDATE extracted SET asked_at = strftime('%s', 'now') - ?", (seconds,))
            connection.commit()
        assert store.budgets.claim(MODEL, "personal", ["text"]) == claimed
    assert not store.budgets.claim(MODEL, "personal", ["text"])
    store.close()
