"""Searching words inside a project, in SQLite: the same memories whichever way is shorter, and no dearer than all."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from making import StandingClock, make_memory, open_recollect, ref_of
from recollect.core.query import Scope
from recollect.service.recollect import Recollect
from recollect.stores.sqlite.lexical import SqliteWords, TermCounts

HERE, THERE = "m/here", "m/there"


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Recollect]:
    with open_recollect(tmp_path / "memory.db", StandingClock()) as opened:
        yield opened


def _search(path: Path, project: str | None) -> tuple[set[str], int]:
    """Give the ids found, and how many hundreds of instructions SQLite took for it."""
    scope, steps = Scope(("personal",), project), 0

    def step() -> None:
        nonlocal steps
        steps += 1

    with closing(sqlite3.connect(path / "memory.db", isolation_level=None)) as connection:
        words = SqliteWords(connection, TermCounts())
        space = words.space("personal", scope)
        assert space is not None
        connection.set_progress_handler(step, 100)
        found = words.best(space, {"crane": 1.0}, scope, bm25=True, least=0.0, most=10_000)
    return {identity for identity, _, _ in found}, steps


@pytest.mark.parametrize(("mine", "others"), [(9, 1), (1, 9), (5, 5), (0, 9), (9, 0)])
def test_a_project_is_searched_by_what_is_in_it_or_by_what_is_not(
    memory: Recollect, tmp_path: Path, mine: int, others: int
) -> None:
    """What is found is the project's and nobody's, and neither what was forgotten nor what moved away."""
    inside = [make_memory(number, "A crane.", project=HERE) for number in range(100, 100 + mine)]
    outside = [make_memory(number, "A crane.", project=THERE) for number in range(200, 200 + others)]
    first = make_memory(300, "A crane.", project="a/first")
    general, forgotten = make_memory(1, "A crane."), make_memory(2, "A crane.", project=HERE)
    moving = make_memory(3, "A crane.", project=HERE)
    memory.store.memories.add([*inside, *outside, first, general, forgotten, moving])
    memory.forget(forgotten.id)
    memory.edit(moving.id, project=THERE)
    found, _ = _search(tmp_path, HERE)
    assert found == {general.id, *(each.id for each in inside)}


def test_a_project_that_is_nearly_all_costs_no_more_than_all(memory: Recollect, tmp_path: Path) -> None:
    """Where few memories lie elsewhere, it is not the many here that are listed before each search."""
    memory.store.memories.add([make_memory(number, "A bird.", project=HERE) for number in range(10, 2010)])
    memory.store.memories.add([make_memory(1, "A crane.", project=HERE), make_memory(2, "A crane.", project=THERE)])
    found, steps = _search(tmp_path, HERE)
    assert found == {ref_of(1).id}
    _, everywhere = _search(tmp_path, None)
    assert steps <= everywhere + 10
