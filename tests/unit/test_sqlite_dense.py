"""The meaning leg over SQLite where models or NumPy fail, and the matrix that it keeps in memory."""

import math
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes import ToyEmbedder
from making import about, id_of, make_memory, make_query, ref_of
from recollect.core.errors import EmbedderBusy, EmbedderError, LegError, LegTimeout
from recollect.core.vectors import Vector, pack
from recollect.service.embed import build
from recollect.service.gate import Gate, Gates
from recollect.service.recall import explain_missing, recall, weigh_evidence
from recollect.stores.sqlite.database import time_limit
from recollect.stores.sqlite.dense import _OF_ONE
from recollect.stores.sqlite.matrix import Matrix
from recollect.stores.sqlite.queue import work_of
from recollect.stores.sqlite.store import SqliteStore
from recollect.stores.sqlite.vectors import _NEXT, _SETS, _TAKE

_TABLE = """
CREATE TABLE vectors (space INTEGER, vector_set INTEGER, memory INTEGER, revision INTEGER, vector BLOB)
"""
QUERY = (1.0, 0.0)
ROOM = 100_000


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    opened = sqlite3.connect(":memory:", isolation_level=None)
    opened.execute(_TABLE)
    yield opened
    opened.close()


def _put(connection: sqlite3.Connection, revision: int, *keys: int) -> None:
    for key in keys:
        vector = pack([math.cos(key / 1000), math.sin(key / 1000)])
        connection.execute("INSERT INTO vectors VALUES (1, 1, ?, ?, ?)", (key, revision, vector))


def _keys(matrix: Matrix, connection: sqlite3.Connection, revision: int) -> list[int]:
    near = matrix.best(connection, revision, QUERY, ROOM, None)
    assert all(score == about(math.cos(key / 1000), 1e-3) for key, score in near.cosines.items())
    assert (near.count, near.total) == (len(near.cosines), about(sum(near.cosines.values()), 1e-3))
    return sorted(near.cosines)


def test_a_matrix_follows_the_table(connection: sqlite3.Connection) -> None:
    """Vectors that came, went, and came again are those of the revision asked for, however many there are."""
    matrix = Matrix(1, 1, 2)
    assert _keys(matrix, connection, 0) == []
    _put(connection, 1, *range(1, 11))
    assert _keys(matrix, connection, 1) == list(range(1, 11))
    connection.execute("DELETE FROM vectors WHERE memory IN (1, 5, 10)")
    assert _keys(matrix, connection, 2) == [2, 3, 4, 6, 7, 8, 9]
    _put(connection, 3, 5, *range(11, 100))
    connection.execute("DELETE FROM vectors WHERE memory = 2")
    assert _keys(matrix, connection, 3) == [3, 4, 5, 6, 7, 8, 9, *range(11, 100)]


def test_a_matrix_holds_one_space_and_one_set(connection: sqlite3.Connection) -> None:
    """Vectors of other spaces and sets are not its own."""
    _put(connection, 1, 1)
    connection.execute("INSERT INTO vectors SELECT 2, 1, 2, 1, vector FROM vectors")
    connection.execute("INSERT INTO vectors SELECT 1, 2, 3, 1, vector FROM vectors WHERE space = 1")
    assert _keys(Matrix(1, 1, 2), connection, 1) == [1]


def test_a_vector_in_place_of_another_is_read(connection: sqlite3.Connection) -> None:
    """A memory embedded anew between two looks has its new vector, though the number of vectors is the same."""
    matrix = Matrix(1, 1, 2)
    _put(connection, 1, 1, 2)
    assert _keys(matrix, connection, 1) == [1, 2]
    connection.execute("UPDATE vectors SET vector = ?, revision = 2 WHERE memory = 1", (pack([0.0, 1.0]),))
    assert matrix.best(connection, 2, QUERY, ROOM, None).cosines[1] == 0.0


def test_a_recall_that_began_earlier_gets_its_own_state(connection: sqlite3.Connection) -> None:
    """Whoever reads an older snapshot is not shown what came later, and the next one is not shown less."""
    matrix = Matrix(1, 1, 2)
    _put(connection, 1, 1, 2)
    _put(connection, 2, 3)
    assert _keys(matrix, connection, 2) == [1, 2, 3]
    connection.execute("BEGIN")
    connection.execute("DELETE FROM vectors WHERE revision = 2")
    assert _keys(matrix, connection, 1) == [1, 2]
    connection.execute("ROLLBACK")
    assert _keys(matrix, connection, 2) == [1, 2, 3]


@pytest.mark.parametrize("cut_short", [1, 3])
def test_a_reading_that_was_cut_short_is_done_again(connection: sqlite3.Connection, cut_short: int) -> None:
    """A search of an older or a newer state that ran out of time leaves no half of a matrix behind."""
    matrix = Matrix(1, 1, 2)
    _put(connection, 1, *range(1, 3001))
    _put(connection, 2, *range(3001, 6001))
    assert len(_keys(matrix, connection, 2)) == 6000
    _put(connection, 3, *range(6001, 9001))
    with pytest.raises(LegTimeout), time_limit(connection, -1.0):
        matrix.best(connection, cut_short, QUERY, ROOM, None)
    connection.execute("DELETE FROM vectors WHERE revision = 3")
    assert len(_keys(matrix, connection, 2)) == 6000
    _put(connection, 4, 6001)
    assert len(_keys(matrix, connection, 4)) == 6001


def test_a_matrix_gives_the_nearest_and_all_that_tie(connection: sqlite3.Connection) -> None:
    """There is room for so many, more only where the last place is shared; keys that are not admitted take none."""
    _put(connection, 1, 0, 100, 200, 300)
    connection.execute("INSERT INTO vectors SELECT 1, 1, 201, 1, vector FROM vectors WHERE memory = 200")
    matrix = Matrix(1, 1, 2)

    def nearest(room: int, admitted: list[int] | None = None) -> set[int]:
        return set(matrix.best(connection, 1, QUERY, room, admitted).cosines)

    assert (nearest(1), nearest(2), nearest(3)) == ({0}, {0, 100}, {0, 100, 200, 201})
    assert (nearest(2, [300, 200, 999]), nearest(1, [])) == ({200, 300}, set())


@pytest.fixture
def embedded(tmp_path: Path) -> str:
    """Give the path of a store whose two memories were embedded by a toy model."""
    path = str(tmp_path / "memory.db")
    store = SqliteStore(path)
    store.memories.add([make_memory(1, "alpha"), make_memory(2, "beta")])
    build(store, Gate(ToyEmbedder()))
    store.close()
    return path


def _fail(_model: str, _text: str, _seconds: float) -> list[float]:
    raise EmbedderBusy("The model is busy: try later.")


def test_a_model_that_fails_leaves_the_leg_out(embedded: str) -> None:
    """Recall goes by words and says why, and so do its explanations, which do not fail either."""
    store = SqliteStore(embedded, embed_query=_fail)
    query = make_query("alpha")
    answer = recall(store, query)
    assert [found.memory.id for found in answer.results] == [id_of(1)]
    assert answer.notices == ("dense was left out: The model is busy: try later.",)
    assert "dense" not in weigh_evidence(store, answer, ref_of(1))
    assert explain_missing(store, query, ref_of(2)).reason.count("busy") == 1
    (dense,) = (leg for leg in store.legs if leg.name == "dense")
    assert "busy" in dense.weigh(query, ref_of(1)).summary
    store.close()


def test_a_process_without_models_leaves_the_leg_out(embedded: str) -> None:
    """A store that was embedded elsewhere is recalled by words where no model can be opened."""
    for store, said in (
        (SqliteStore(embedded), "no embedding model is set up"),
        (SqliteStore(embedded, embed_query=Gates().embed_query), "has no way to open toy"),
    ):
        (notice,) = recall(store, make_query("alpha")).notices
        assert said in notice
        assert notice.endswith(".")
        assert ".." not in notice
        store.close()


def test_without_numpy_the_leg_says_what_brings_it(embedded: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy comes with the local models; who has none is told, and recalls by words."""
    monkeypatch.delitem(sys.modules, "recollect.stores.sqlite.matrix")
    monkeypatch.setitem(sys.modules, "numpy", None)
    store = SqliteStore(embedded, embed_query=Gates(ToyEmbedder).embed_query)
    (dense,) = (leg for leg in store.legs if leg.name == "dense")
    with pytest.raises(LegError, match=r"NumPy is missing .*pip install"):
        dense.search(make_query("alpha"), 10, 60)
    store.close()


def test_a_model_that_gives_nonsense_is_told(embedded: str) -> None:
    """A query's vector goes through the gate like any other: zeros are refused."""

    class Zeroing(ToyEmbedder):
        def embed_query(self, text: str, seconds: float) -> list[float]:
            assert text
            return [0.0 * seconds] * 16

    store = SqliteStore(embedded, embed_query=Gates(Zeroing).embed_query)
    (dense,) = (leg for leg in store.legs if leg.name == "dense")
    with pytest.raises(EmbedderError, match="no direction"):
        dense.search(make_query("alpha"), 10, 60)
    store.close()


def test_a_switch_while_the_query_is_embedded_mixes_nothing(embedded: str) -> None:
    """The query is compared with vectors of the model that embedded it, even if another one is in use by then."""
    toy, other = ToyEmbedder(), ToyEmbedder("other")
    writer = SqliteStore(embedded)
    writer.memories.add([make_memory(3, "gamma")])

    def embed_and_switch(model: str, text: str, seconds: float) -> Vector:
        assert model == "toy"
        build(writer, Gate(other))
        return toy.embed_query(text, seconds)

    reader = SqliteStore(embedded, embed_query=embed_and_switch)
    (dense,) = (leg for leg in reader.legs if leg.name == "dense")
    hits = dense.search(make_query("alpha"), 10, 60)
    assert (hits[0].ref, hits[0].score, len(hits)) == (ref_of(1), about(1.0, 1e-3), 2)
    for store in (reader, writer):
        store.close()


def test_a_set_that_is_dropped_while_the_query_is_embedded_is_told(embedded: str) -> None:
    """The leg is left out of this one recall, and says why."""
    writer = SqliteStore(embedded)

    def embed_and_drop(_model: str, text: str, seconds: float) -> Vector:
        writer.vectors.switch(None)
        writer.vectors.drop("toy")
        return ToyEmbedder().embed_query(text, seconds)

    reader = SqliteStore(embedded, embed_query=embed_and_drop)
    answer = recall(reader, make_query("alpha"))
    assert answer.notices == ("dense was left out: the vectors of toy were just dropped.",)
    for store in (reader, writer):
        store.close()


def _plan(path: str, statement: str, *values: object) -> list[str]:
    connection = sqlite3.connect(path)
    steps = [str(row[3]) for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}", values)]
    connection.close()
    return steps


def test_the_queue_is_read_no_further_than_asked(embedded: str) -> None:
    """Neither reading nor taking work, nor weighing one memory, looks through all there is: that costs hours."""
    next_steps = _plan(embedded, _NEXT, work_of(1), None, None, 64)
    assert not [step for step in next_steps if step.startswith("SCAN o") or "TEMP B-TREE" in step]
    take = _plan(embedded, _TAKE, "personal", work_of(1), 1, b"")
    assert "SEARCH outbox USING PRIMARY KEY (space=? AND work=? AND memory=?)" in take
    weigh = _plan(embedded, _OF_ONE, "personal", 1, b"")
    assert any("memory=?" in step for step in weigh)
    assert not [step for step in _plan(embedded, _SETS) if step.startswith(("SCAN x", "SCAN o"))]
