"""The benchmarks of the server write what the store writes, measure what they say, and run from end to end."""

import gzip
import json
import socket
import threading
import uuid
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import cycle, islice, repeat
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest

import load
import million
import overhead
import pg_load
from load_clients import Kind, Request, drive
from pg_large import crossover
from pg_measure import make_questions, measure
from pg_reference import Reference
from pg_sizes import weigh
from pg_texts import Pool
from pg_vectors import Cloud, split, to_binary, to_text
from recollect.core.vectors import pack
from recollect.stores.postgres.database import Database
from recollect.stores.postgres.store import PostgresStore

SETS = ("locomo", "realmem")
# Words that are analysed each in their own way.
WORDS = ("harbour", "lantern", "timetables", "Zürich", "naïve", "build-17", "東京の地図", "don't", "C++", "winter")


def write_set(folder: Path, name: str) -> None:
    """Write a set of conversations whose turns differ in a word or two."""
    (folder / name).mkdir(parents=True)
    turns = (" ".join(islice(cycle(WORDS), number * 7 % 10, number * 7 % 10 + 1 + number % 6)) for number in range(90))
    corpus = [
        {"id": f"{name}-{number}", "text": f"Turn {number}: {turn}.", "session": f"s{number // 9}", "seq": number % 9}
        for number, turn in enumerate(turns)
    ]
    queries = [{"id": f"q{number}", "text": f"Where is the {word}?"} for number, word in enumerate(WORDS)]
    for file, records in (("corpus", corpus), ("queries", queries)):
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (folder / name / f"{file}.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    judged = "".join(f"{query['id']}\t{name}-0\t1\n" for query in queries)
    (folder / name / "qrels.tsv").write_text(judged)


@pytest.fixture(scope="module")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("datasets")
    for name in SETS:
        write_set(folder, name)
    return folder


@pytest.fixture
def plan(cloned_database: str, datasets: Path) -> pg_load.Plan:
    return pg_load.Plan(cloned_database, datasets, spaces=3, size=60, dimension=16, workers=1, sets=SETS)


@pytest.fixture
def own_databases(postgres_url: str) -> Iterator[str]:
    """Give the beginning of names for databases that are dropped afterwards."""
    name = f"recollect_test_bench_{uuid.uuid4().hex[:8]}"
    yield name
    with closing(psycopg.connect(postgres_url, autocommit=True)) as connection:
        made = connection.execute("SELECT datname FROM pg_database WHERE starts_with(datname, %s)", (name,)).fetchall()
        for (database,) in made:
            connection.execute(f'DROP DATABASE "{database}" WITH (FORCE)'.encode())


def rows_of(url: str, space: str, vector_set: int) -> dict[str, list[tuple[Any, ...]]]:
    """Give all that a space has, but for its own number."""
    columns = {
        "memories": "*",
        "postings": "memory, valid_from, valid_to, tf, length, term",
        f"vectors_{vector_set}": "memory, vector::text",
        "outbox": "vector_set, memory",
        "revisions": "memory",
        "links": "source",
    }
    with closing(psycopg.connect(url)) as connection:
        (key,) = connection.execute("SELECT key FROM spaces WHERE id = %s", (space,)).fetchone() or (0,)
        found = {}
        for table, those in columns.items():
            rows = f"SELECT {those} FROM {table} WHERE space = {key}"
            statement = f"SELECT to_jsonb(r) - 'space' FROM ({rows}) AS r ORDER BY 1"
            found[table] = connection.execute(statement.encode()).fetchall()
        found["space"] = connection.execute(
            "SELECT memories, length, links, change FROM spaces WHERE key = %s", (key,)
        ).fetchall()
    return found


def test_a_load_writes_what_the_store_writes(plan: pg_load.Plan) -> None:
    """Rows, terms, vectors and statistics of a space that was copied are those of one that was written to."""
    pg_load.load(plan, 1)
    vector_set = pg_load.prepare(plan)
    copied = plan.names[0]
    vectors = plan.cloud(copied).memories(plan.size)
    memories = list(Pool.read(plan.datasets, SETS).memories(copied, plan.size, plan.seed))
    with closing(PostgresStore(Database.open(plan.url))) as store:
        store.memories.add([replace(memory, space="written") for memory in memories])
        numbers = {memory.id: number for number, memory in enumerate(memories)}
        waiting = store.vectors.waiting(plan.model, plan.size)
        store.vectors.keep(plan.model, [(each, pack(vectors[numbers[each.memory.id]].tolist())) for each in waiting])
        problems = store.examine(lambda *_: None)
    found = rows_of(plan.url, copied, vector_set)
    assert found == rows_of(plan.url, "written", vector_set)
    assert len(found["memories"]) == len(found[f"vectors_{vector_set}"]) == plan.size
    assert problems == []


def test_a_load_goes_on_where_it_stopped(plan: pg_load.Plan) -> None:
    """Spaces that are there are left alone; one that was broken off left nothing behind."""
    pg_load.load(plan, 1)
    with pytest.raises(psycopg.errors.DataException):
        pg_load.load(replace(plan, dimension=17), 2)
    assert pg_load.loaded(plan) == plan.names[:1]
    told: list[int] = []
    pg_load.load(plan, 3, lambda done, _: told.append(done))
    assert told == [120, 180]
    assert pg_load.loaded(plan) == plan.names


def test_workers_load_the_same_as_one_process(plan: pg_load.Plan, datasets: Path) -> None:
    """What a space holds depends on its name alone."""
    pool = Pool.read(datasets, SETS)
    pg_load.load(replace(plan, workers=2), 2)
    for space in plan.names[:2]:
        rows = rows_of(plan.url, space, 1)["memories"]
        expected = [memory.content for memory in pool.memories(space, plan.size, plan.seed)]
        assert [row["content"] for (row,) in sorted(rows, key=lambda row: int(row[0]["key"]))] == expected


def test_the_measurement_finds_all_that_comparing_all_finds(plan: pg_load.Plan) -> None:
    """The dense leg of every space brings exactly the best, and the reference agrees with the store."""
    pg_load.load(plan, 3)
    pool = Pool.read(plan.datasets, SETS)
    vector_set = pg_load.prepare(plan)
    questions = make_questions(plan, pool, plan.names, 9)
    measured = measure(plan.url, vector_set, questions)
    assert measured["recall@50"] == 1.0
    assert set(measured["milliseconds"]) == {"store", "store, lexical", "store, dense", "store, exact", "reference"}
    assert weigh(plan.url)["bytes_a_memory"]["postings"] > 0


def test_the_reference_ranks_as_the_store_does(plan: pg_load.Plan) -> None:
    """BM25 in one statement gives the scores of the lexical leg; the dense products are off by their rounding only."""
    pg_load.load(plan, 1)
    pool = Pool.read(plan.datasets, SETS)
    vector_set = pg_load.prepare(plan)
    (asked,) = make_questions(plan, pool, plan.names[:1], 1)
    vector = asked.vector.tolist()
    with (
        closing(PostgresStore(Database.open(plan.url), embed_query=lambda *_: vector)) as store,
        closing(Reference.open(plan.url, vector_set)) as reference,
    ):
        legs = {leg.name: leg.search(asked.query, 100, 60.0) for leg in store.legs}
        words, meaning = reference.recall(
            reference.key_of(asked.space), asked.text, to_text(asked.vector.astype(np.float16))
        )
    assert {hit.ref.id: hit.score for hit in legs["lexical"]} == pytest.approx(dict(words), abs=1e-5)
    assert {hit.ref.id: hit.score for hit in legs["dense"]} == pytest.approx(dict(meaning), abs=1e-3)


def test_made_up_vectors_are_of_unit_length_and_always_the_same() -> None:
    """The same seed gives the same vectors, near those of their subject; other seeds give others."""
    vectors = Cloud(1, 384).memories(500)
    assert np.array_equal(vectors, Cloud(1, 384).memories(500))
    assert not np.array_equal(vectors, Cloud(2, 384).memories(500))
    assert np.allclose(np.linalg.norm(vectors.astype(np.float64), axis=1), 1, atol=1e-3)
    products = np.sort(vectors.astype(np.float32) @ vectors.astype(np.float32).T, axis=1)
    assert products[:, -2].mean() > 0.5
    assert products.mean() < 0.3


def test_a_vector_travels_as_two_halves(database_url: str) -> None:
    """The binary form is the one that pgvector reads, and the two halves of a query add up to it."""
    question = Cloud(3, 8).questions(Cloud(3, 8).memories(10), 1)[0]
    near, rest = (json.loads(text) for text in split(question))
    assert np.allclose(np.add(near, rest), question, atol=1e-6)
    halves = question[None].astype(np.float16)
    with closing(psycopg.connect(database_url)) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE kept (vector halfvec(8))")
        pg_load.copy_rows(cursor, "COPY kept FROM STDIN (FORMAT binary)", [_one_field(to_binary(halves)[0])])
        row = cursor.execute("SELECT vector::text FROM kept").fetchone()
    assert row is not None
    assert np.array_equal(np.array(json.loads(row[0]), dtype=np.float16), halves[0])


def _one_field(octets: bytes) -> bytes:
    return (1).to_bytes(2) + len(octets).to_bytes(4) + octets


def test_the_crossover_is_where_an_index_stays_ahead() -> None:
    """A size where it is slower, or finds too little, is not above the crossover, nor is any below that."""
    ways = [(1000, 1.0, 2.0, 0.99), (2000, 2.0, 1.5, 0.9), (3000, 3.0, 2.0, 0.97), (4000, 4.0, 2.0, 0.96)]
    points = [
        {"size": size, "ways": {"exact": {"p50": exact}, "hnsw": {"p50": taken, "recall@50": recall}}}
        for size, exact, taken, recall in ways
    ]
    assert crossover(points, "hnsw") == 3000
    assert crossover(points[:2], "hnsw") is None


def test_million_runs_from_end_to_end(
    postgres_url: str, own_databases: str, datasets: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All parts are measured once; a second run finds the results and only shows them."""
    arguments = [
        *("--url", postgres_url, "--name", own_databases, "--datasets", str(datasets), "--sets", ",".join(SETS)),
        *("--memories", "120", "--size", "40", "--large", "80", "--questions", "8", "--workers", "1"),
        *("--output", str(tmp_path)),
    ]
    assert million.main(arguments) == 0
    results = json.loads((tmp_path / "results.json").read_text())
    assert [point["memories"] for point in results["curve"]] == [120]
    assert [point["size"] for point in results["large"]] == [80]
    assert results["wide"]["dimension"] == 1024
    assert {"million.md", "curve.png", "large.png"} <= {path.name for path in tmp_path.iterdir()}
    assert million.main(arguments) == 0
    assert json.loads((tmp_path / "results.json").read_text()) == results
    assert "recall@50" in capsys.readouterr().out


def test_overhead_runs_from_end_to_end(postgres_url: str, datasets: Path, tmp_path: Path) -> None:
    """A real server is compared with the reference, and every part of a recall has its time."""
    overhead.main(
        [
            *("--url", postgres_url, "--datasets", str(datasets), "--sets", ",".join(SETS), "--dimension", "16"),
            *("--memories", "60", "--questions", "6", "--stores", "6", "--output", str(tmp_path)),
        ]
    )
    results = json.loads((tmp_path / "overhead.json").read_text())
    assert results["memories"] == 60
    parts = {"auth", "recall", "recall: legs: dense", "recall: fusion", "recall: pack", "serialise", "audit", "http"}
    assert parts <= set(results["parts"])
    assert results["recall_ratio"] > 0
    assert results["store_ratio"] > 0


def test_load_runs_from_end_to_end(postgres_url: str, datasets: Path, tmp_path: Path) -> None:
    """Clients recall and store at a real server and worker without an error, and memory is looked at."""
    load.main(
        [
            *("--url", postgres_url, "--datasets", str(datasets), "--sets", ",".join(SETS), "--dimension", "16"),
            *("--clients", "8", "--seconds", "2", "--spaces", "2", "--size", "40", "--workers", "1"),
            *("--output", str(tmp_path)),
        ]
    )
    results = json.loads((tmp_path / "load.json").read_text())
    assert results["errors"] == 0
    assert results["requests"] > 0
    assert results["growth"]["server"]["last"] > 0
    assert (tmp_path / "load.png").exists()


@pytest.fixture
def moody_server() -> Iterator[int]:
    """Serve one client after the other: the first request is answered in two pieces, then refused, then dropped."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                for pieces in (
                    (b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab", b"cd"),
                    (b"HTTP/1.1 503 X\r\n\r\n",),
                ):
                    if not connection.recv(1 << 16):
                        break
                    for piece in pieces:
                        connection.sendall(piece)
                else:
                    connection.recv(1 << 16)

    thread = threading.Thread(target=serve)
    thread.start()
    yield listening.getsockname()[1]
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    thread.join()


def test_clients_take_note_of_every_answer_and_of_none(moody_server: int) -> None:
    """An answer in pieces counts once, a refusal has its status, and whoever was hung up on asks again."""
    looks: list[None] = []
    requests = repeat(Request.make(Kind.RECALL, "token", {"query": "what?"}))
    answers = drive(moody_server, [requests], 0.2, lambda: looks.append(None), 0.05)
    assert [answer.status for answer in answers[:4]] == [200, 503, 0, 200]
    assert all(answer.kind is Kind.RECALL and answer.milliseconds >= 0 for answer in answers)
    assert looks
