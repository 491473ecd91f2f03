"""How SQLite looks links up."""

from pathlib import Path

from making import StandingClock, open_recollect
from recollect.core.hits import Ref


def test_links_are_looked_up_by_their_ends(tmp_path: Path) -> None:
    """No statement about links reads all links of a space: with many of them every recall would pay for it."""
    with open_recollect(tmp_path / "memory.db", StandingClock()) as memory:
        one, two = memory.remember("one"), memory.remember("two")
        memory.link(two.id, "supersedes", one.id)
        database = memory.store._database  # type: ignore[attr-defined]  # noqa: SLF001
        with database.read() as connection:
            asked: list[str] = []
            connection.set_trace_callback(asked.append)
        memory.store.links.among([Ref(one.space, one.id)])
        with database.read() as connection:
            connection.set_trace_callback(None)
            plans = [
                step
                for statement in asked
                if "links" in statement and "IN (" in statement
                for (*_, step) in connection.execute(f"EXPLAIN QUERY PLAN {statement}")
                if " l " in step
            ]
    assert plans
    assert all("source=?" in step or "target=?" in step for step in plans if step.startswith("SEARCH")), plans
    assert not any("SCAN links" in step for step in plans)
