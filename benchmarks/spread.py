"""What spread adds to a recall: one space that grows to 100,000 memories, in both stores, with and without it.

    python benchmarks/spread.py [--url postgresql://OWNER@HOST/] [--sizes 20000,100000] [--output build/spread]

Texts come from the public sets, vectors are made up, the query's is at hand: nothing is embedded. Recalls with spread
and without take turns at every question; only the ratio of the medians means anything, and how long the stage itself
takes. With its weights at zero it must cost nothing. Without --url a Postgres of its own is started.
"""

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, Final

from million import SETTINGS, database_at
from pg_texts import Pool
from pg_vectors import Cloud
from recollect.bench.arm_store import as_arm
from recollect.bench.datasets import find_folder
from recollect.core.ports import Store
from recollect.core.query import Query, Scope
from recollect.core.settings import Value
from recollect.core.vectors import Vector, to_unit
from recollect.service.extract import Rules, extract_waiting
from recollect.service.recall import recall
from recollect.stores.sqlite.store import SqliteStore

SPACE: Final = "personal"
MODEL: Final = "synthetic"
DIMENSION: Final = 384
BATCH: Final = 1000
QUESTIONS: Final = 150
MOST: Final = {20_000: 2.0, 100_000: 3.0}
"""How many times as long a recall may take with spread, by the size of its space."""
WAYS: Final[dict[str, dict[str, Value]]] = {
    "with": {},
    "without": {"spread": 0.0},
    "all weights zero": {f"spread.{kind}": 0.0 for kind in ("names", "terms", "relations", "links")},
}


class Asker:
    """The vectors of questions, at hand."""

    def __init__(self, questions: Sequence[str], size: int) -> None:
        cloud = Cloud(1, DIMENSION)
        made = cloud.questions(cloud.memories(size), len(questions))
        self._vectors = {text: to_unit(vector.tolist()) for text, vector in zip(questions, made, strict=True)}

    def __call__(self, _model: str, text: str, _seconds: float = 0.0) -> Vector:
        return self._vectors[text]


def grow(store: Store, pool: Pool, size: int, largest: int) -> None:
    """Add memories up to a size, give them vectors, and read their concepts."""
    there = sum(count.memories for count in store.count())
    coming = islice(pool.memories(SPACE, largest, seed=1), there, size)
    while batch := list(islice(coming, BATCH)):
        store.memories.add(batch)
    vectors = iter([vector.astype("<f2").tobytes() for vector in Cloud(1, DIMENSION).memories(largest)[there:size]])
    store.vectors.begin(MODEL)
    while waiting := store.vectors.waiting(MODEL, BATCH):
        store.vectors.keep(MODEL, [(each, next(vectors)) for each in waiting])
    store.vectors.switch(MODEL)
    extract_waiting(store, Rules(), batch=BATCH)


def measure(store: Store, questions: Sequence[str]) -> dict[str, Any]:
    arms = {name: as_arm(store, {"leg-timeout-ms": 600_000, **values}) for name, values in WAYS.items()}
    times: dict[str, list[float]] = {name: [] for name in (*arms, "stage")}
    for counted in (False, True):
        for text in questions:
            for name, arm in arms.items():
                begin = time.perf_counter()
                answer = recall(arm, Query(text, Scope((SPACE,))))
                taken = (time.perf_counter() - begin) * 1000
                assert not answer.notices, answer.notices
                if counted:
                    times[name].append(taken)
                if counted and name == "with":
                    times["stage"] += [stage.milliseconds for stage in answer.trace.stages if stage.name == "spread"]
    return {
        name: {"p50": statistics.median(all_), "p95": statistics.quantiles(all_, n=20)[-1]}
        for name, all_ in times.items()
    }


@contextmanager
def open_stores(options: argparse.Namespace, asker: Asker) -> Iterator[dict[str, Store]]:
    from recollect.stores.postgres.database import Database
    from recollect.stores.postgres.embedded import start
    from recollect.stores.postgres.migrate import upgrade
    from recollect.stores.postgres.store import PostgresStore

    options.output.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        url = options.url or stack.enter_context(start(options.output / "postgres", settings=SETTINGS)).url
        url = database_at(url, "spread")
        upgrade(url)
        laptop = stack.enter_context(closing(SqliteStore(str(options.output / "spread.db"), embed_query=asker)))
        server = stack.enter_context(closing(PostgresStore(Database.open(url, size=4), embed_query=asker)))
        yield {"SQLite": laptop, "Postgres": server}


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    pool = Pool.read(find_folder(options.datasets))
    questions = pool.questions[:QUESTIONS]
    largest = max(options.sizes)
    found: list[dict[str, Any]] = []
    with open_stores(options, Asker(questions, min(options.sizes))) as stores:
        for size in options.sizes:
            for name, store in stores.items():
                grow(store, pool, size, largest)
                point = {"memories": size, "store": name, **measure(store, questions)}
                found.append(point)
                ratio = point["with"]["p50"] / point["without"]["p50"]
                idle = point["all weights zero"]["p50"] / point["without"]["p50"]
                print(
                    f"{name}, {size:,} memories: p50 {point['without']['p50']:.1f} ms without spread, "
                    f"{point['with']['p50']:.1f} ms with it ({ratio:.2f} times), {idle:.2f} times with all weights at "
                    f"zero; the stage itself p50 {point['stage']['p50']:.1f}, p95 {point['stage']['p95']:.1f} ms",
                    flush=True,
                )
                (options.output / "spread.json").write_text(json.dumps(found, indent=1) + "\n")
    late = [p for p in found if p["with"]["p50"] > MOST.get(p["memories"], 3.0) * p["without"]["p50"]]
    print("\n".join(f"FAILED: {p['store']} at {p['memories']:,}" for p in late) or "All as promised.")
    return int(bool(late))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default=os.environ.get("RECOLLECT_BENCH_DATABASE_URL"), help="of a Postgres to fill")
    parser.add_argument("--datasets", default=os.environ.get("RECOLLECT_DATASETS"), help="where the texts are")
    parser.add_argument("--sizes", type=lambda text: [int(each) for each in text.split(",")], default=[20_000, 100_000])
    parser.add_argument("--output", type=Path, default=Path("build") / "spread")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
