"""What a write does to concepts costs as much in a large space as in a small one."""

from pathlib import Path

import pytest

from recollect.stores.sqlite import mentions
from recollect.stores.sqlite.store import SqliteStore


@pytest.mark.parametrize("name", ["_UNNAME", "_REMOVE_UNNAMED"])
def test_a_concept_is_pruned_without_reading_the_space(tmp_path: Path, name: str) -> None:
    """Every table is searched by the concept, none by the space alone: a space may have a million names."""
    store = SqliteStore(str(tmp_path / "memory.db"))
    with store._database.read() as connection:  # noqa: SLF001 - what SQLite makes of a statement
        plan = connection.execute(f"EXPLAIN QUERY PLAN {getattr(mentions, name)}", (1, 1)).fetchall()
    store.close()
    steps = [step for *_, step in plan if step.startswith(("SEARCH", "SCAN"))]
    assert steps
    assert [step for step in steps if "concept=?" not in step and "=? AND" not in step and "rowid=?" not in step] == []
