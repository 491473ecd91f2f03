"""How fast a recall is in a large store, as a ratio to a bare FTS5 query in the same run, and what a memory weighs.

    python benchmarks/speed.py [MEMORIES]

Texts and questions come from the public sets, cut at the default length limit. FTS5 holds the same terms of the
same texts in a file of its own and is asked for the same terms, best ten, with nothing around it.
"""

import os
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

import recollect
from recollect.bench.datasets import Dataset, find_folder
from recollect.core.analysis import analyse, analyse_query
from recollect.core.memory import DEFAULT_LENGTH_LIMIT, Memory, make_id

CORPORA = (
    "locomo", "realmem", "beam_100k", "factconsolidation", "2wiki1000", "musique_dev200", "fiqa_gold", "scifact",
    "hotpotqa_dev200", "musique_train100", "banking77", "beam_500k",
)  # fmt: skip
ASKED = ("locomo", "realmem", "beam_100k", "scifact", "fiqa_gold", "musique_dev200", "2wiki1000")
QUESTIONS_A_SET = 40
BATCH = 1000
LARGEST_RATIO = 1.5


def read(name: str) -> Dataset:
    return Dataset(find_folder(os.environ.get("RECOLLECT_DATASETS")) / name)


def texts(count: int) -> list[str]:
    """Give so many texts, mixed; past the end of the sets they come again, numbered."""
    found = [document.text[:DEFAULT_LENGTH_LIMIT] for name in CORPORA for document in read(name).documents()]
    random.Random(1).shuffle(found)
    while len(found) < count:
        found += [f"{text[: DEFAULT_LENGTH_LIMIT - 10]} {len(found)}" for text in found[: count - len(found)]]
    return found[:count]


def fill(path: Path, contents: list[str]) -> recollect.Recollect:
    store = recollect.open(path)
    begin, source = datetime(2026, 1, 1, tzinfo=UTC), random.Random(2)

    def memories() -> Iterator[Memory]:
        for number, content in enumerate(contents):
            moment = begin + timedelta(seconds=number)
            identity = make_id(int(moment.timestamp() * 1000), source.getrandbits(74))
            yield Memory(identity, "personal", content, moment, moment, project=f"project-{number % 20}")

    stream = memories()
    while batch := list(islice(stream, BATCH)):
        store.store.memories.add(batch)
    return store


def fill_fts5(path: Path, contents: list[str]) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA cache_size = -32768")
    connection.execute("CREATE VIRTUAL TABLE terms USING fts5(content, content='')")
    connection.executemany(
        "INSERT INTO terms (rowid, content) VALUES (?, ?)",
        ((number, " ".join(as_words(analyse(content)))) for number, content in enumerate(contents, 1)),
    )
    connection.commit()
    return connection


def as_words(terms: list[str]) -> list[str]:
    """Write identifiers so that FTS5 does not split them again."""
    return [term if term.isalnum() else f"x{term.encode().hex()}" for term in terms]


def measure(runs: dict[str, Callable[[str], object]], questions: list[str]) -> dict[str, list[float]]:
    """Time each run on each question, side by side, after a round to warm up."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for counted in (False, True):
        for question in questions:
            for name, run in runs.items():
                begin = time.perf_counter()
                run(question)
                if counted:
                    times[name].append((time.perf_counter() - begin) * 1000)
    return times


def main(count: int = 100_000) -> int:
    contents = texts(count)
    picker = random.Random(3)
    questions = [q.text for name in ASKED for q in picker.sample(list(read(name).questions()), QUESTIONS_A_SET)]
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        memory = fill(Path(folder) / "speed.db", contents)
        filled = time.perf_counter() - begin
        fts5 = fill_fts5(Path(folder) / "fts5.db", contents)

        def ask_fts5(question: str) -> object:
            terms = as_words(list(analyse_query(question).terms))
            expression = " OR ".join(f'"{term}"' for term in terms)
            return fts5.execute(
                "SELECT rowid FROM terms WHERE terms MATCH ? ORDER BY rank LIMIT 10", (expression,)
            ).fetchall()

        times = measure(
            {
                "bare FTS5": ask_fts5,
                "recall": lambda question: memory.recall(question, limit=10),
                "recall in a project": lambda question: memory.recall(question, limit=10, project="project-7"),
            },
            questions,
        )
        memory.close()
        size = sum(file.stat().st_size for file in Path(folder).glob("speed.db*"))
    characters = statistics.mean(map(len, contents))
    print(f"{count:,} memories of {characters:.0f} characters, {len(questions)} questions")
    print(
        f"stored at {count / filled:,.0f} a second in batches of {BATCH:,}; "
        f"{size / count:,.0f} bytes a memory in the file"
    )
    base = statistics.median(times["bare FTS5"])
    for name, taken in times.items():
        p50, p95 = statistics.median(taken), statistics.quantiles(taken, n=20)[-1]
        print(f"{name:<22} p50 {p50:7.2f} ms   p95 {p95:7.2f} ms   p50 ratio {p50 / base:.2f}")
    return int(statistics.median(times["recall"]) > LARGEST_RATIO * base)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
