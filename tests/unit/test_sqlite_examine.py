"""What `doctor` finds wrong in a SQLite store, and what mending does."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes import ToyEmbedder
from making import StandingClock, open_recollect
from recollect.core.concepts import Extraction, Relation
from recollect.service.embed import build, embed_waiting
from recollect.service.extract import Rules, extract_waiting
from recollect.service.gate import Gate
from recollect.service.recollect import Recollect


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Recollect]:
    clock = StandingClock()
    with open_recollect(tmp_path / "memory.db", clock) as opened:
        for number, word in enumerate(("alpha", "beta", "gamma")):
            opened.remember(f"{word} common words", id=f"01900000-0000-7000-8000-00000000000{number}")
            clock.move()
        opened.edit("000000000001", content="beta rather different words")
        clock.move()
        opened.forget("000000000002")
        clock.move()
        opened.edit("000000000000", importance=1.0)
        yield opened


def _problems(memory: Recollect) -> list[str]:
    return [problem.what for problem in memory.store.examine(lambda _done, _total: None)]


def _damage(tmp_path: Path, statement: str) -> None:
    connection = sqlite3.connect(tmp_path / "memory.db")
    connection.execute(statement)
    connection.commit()
    connection.close()


def test_a_healthy_store_has_no_problems(memory: Recollect) -> None:
    """Nothing is wrong after remembering, editing and forgetting, and every memory was looked at."""
    told: list[tuple[int, int]] = []
    assert memory.store.examine(lambda done, total: told.append((done, total))) == []
    assert told == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("DELETE FROM postings WHERE term = 'alpha'", "words of memory 01900000-0000-7000-8000-000000000000"),
        ("UPDATE postings SET tf = 9 WHERE term = 'alpha'", "not indexed as they stand"),
        ("UPDATE postings SET valid_to = NULL WHERE term = 'gamma'", "not indexed as they stand"),
        ("INSERT INTO postings VALUES (1, 'stray', 1, 0, NULL, 1, 1)", "index entries where its memories call for"),
        ("UPDATE spaces SET memories = 7", "its counts differ"),
        ("UPDATE spaces SET length = 1000", "its counts differ"),
    ],
)
def test_a_wrong_index_is_found_and_mended(memory: Recollect, tmp_path: Path, statement: str, problem: str) -> None:
    """Words or counts that disagree with the rows are told, and mending makes them agree again."""
    before = [(found.memory.id, found.score) for found in memory.recall("common alpha beta words").results]
    _damage(tmp_path, statement)
    assert any(problem in what for what in _problems(memory))
    assert all("--mend" in each.remedy for each in memory.store.examine(lambda _done, _total: None))
    memory.store.mend()
    assert _problems(memory) == []
    assert [(found.memory.id, found.score) for found in memory.recall("common alpha beta words").results] == before


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM revisions WHERE version = 1",
        "UPDATE revisions SET valid_to = valid_to + 1",
        "UPDATE memories SET version = 5 WHERE version = 2",
    ],
)
def test_a_gap_in_the_past_is_found(memory: Recollect, tmp_path: Path, statement: str) -> None:
    """A missing or misplaced state is told, with the advice to restore: mending cannot invent it."""
    _damage(tmp_path, statement)
    problems = memory.store.examine(lambda _done, _total: None)
    assert any("The past of memory" in problem.what and "import" in problem.remedy for problem in problems)


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("INSERT INTO outbox VALUES (1, 'vector 1', 1, 1)", "there and waited for: 1"),
        ("DELETE FROM vectors WHERE memory = 1", "wait for none: 1"),
        ("UPDATE vectors SET vector = X'0000' WHERE memory = 1", "no memory which may have one: 1"),
        ("UPDATE memories SET sensitive = 1 WHERE key = 1", "no memory which may have one: 1"),
        ("UPDATE vectors SET space = 7 WHERE memory = 1", "no memory which may have one: 1"),
        ("INSERT INTO outbox VALUES (1, 'vector 1', 3, 1)", "no memory which may be embedded: 1"),
    ],
)
def test_vectors_that_do_not_belong_are_found_and_mended(
    memory: Recollect, tmp_path: Path, statement: str, problem: str
) -> None:
    """A vector too many, too few, or of the wrong length is told; mending removes it, and what is missing waits."""
    build(memory.store, Gate(ToyEmbedder()))
    assert _problems(memory) == []
    _damage(tmp_path, statement)
    assert any(problem in what for what in _problems(memory))
    memory.store.mend()
    assert _problems(memory) == []
    embed_waiting(memory.store, Gate(ToyEmbedder()))
    (only,) = memory.store.vectors.sets()
    assert (only.vectors, only.waiting) == (1 if "sensitive" in statement else 2, 0)
    assert _problems(memory) == []


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("DELETE FROM memory_concepts WHERE memory = 1", "are not those in their text, and which wait for nobody: 1"),
        ("UPDATE concept_names SET folded = 'x' WHERE folded = 'alpha common'", "which wait for nobody: 1"),
        ("INSERT INTO memory_concepts VALUES (1, 3, 1, 1, 'name')", "nobody may read, or that are gone"),
        ("UPDATE memory_concepts SET space = 7 WHERE memory = 1", "nobody may read, or that are gone"),
        ("INSERT INTO memory_concepts VALUES (1, 1, 1, 77, 'name')", "nobody may read, or that are gone"),
        ("INSERT INTO edge_evidence VALUES (1, 1, 77, 2, NULL)", "nobody may read, or that are gone"),
        ("INSERT INTO memory_concepts VALUES (1, 1, 77, 1, 'name')", "nobody may read, or that are gone"),
        ("INSERT INTO concept_names VALUES (1, 'nobody', 77, 0)", "lead to no concept: 1"),
        ("DELETE FROM edge_evidence", "that no memory states: 1"),
        ("INSERT INTO outbox VALUES (1, 'concepts 1', 3, 1)", "Entries of the queue"),
    ],
)
def test_concepts_that_do_not_belong_are_found_and_mended(
    memory: Recollect, tmp_path: Path, statement: str, problem: str
) -> None:
    """What was read too much or too little is told; mending removes it, and what is missing waits and is read."""
    (one, *_) = (ref for ref in memory.store.memories.walk() if ref.id.endswith("0"))
    extract_waiting(memory.store, Rules())
    memory.store.concepts.load("import", {one: Extraction((), (Relation("Alpha", "knows", "Beta"),))})
    assert _problems(memory) == []
    _damage(tmp_path, statement)
    assert any(problem in what for what in _problems(memory))
    memory.store.mend()
    assert _problems(memory) == []
    extract_waiting(memory.store, Rules())
    assert _problems(memory) == []
    concept = memory.store.concepts.find("personal", "alpha common")
    assert concept is not None
    assert [ref for ref, _ in concept.mentions] == [one]


def test_a_damaged_file_is_found(memory: Recollect, tmp_path: Path) -> None:
    """When SQLite itself finds the file damaged, that is the one problem told."""
    _damage(tmp_path, "PRAGMA wal_checkpoint(TRUNCATE)")
    connection = sqlite3.connect(tmp_path / "memory.db")
    connection.execute("PRAGMA writable_schema = ON")
    connection.execute(
        "UPDATE sqlite_master SET sql = 'CREATE INDEX memories_by_time ON memories (space, updated_at)' "
        "WHERE name = 'memories_by_time'"
    )
    connection.commit()
    connection.close()
    with open_recollect(tmp_path / "memory.db", StandingClock()) as again:
        problems = again.store.examine(lambda _done, _total: None)
    assert problems
    assert all("SQLite finds the file damaged" in problem.what for problem in problems)
    assert "import your last export" in problems[0].remedy
    memory.close()
