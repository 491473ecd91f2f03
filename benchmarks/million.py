"""How the server's store grows: a million memories in 200 spaces, one space of 200,000, and vectors of 1,024.

    python benchmarks/million.py [--url postgresql://OWNER@HOST/] [--memories 1000000] [--output build/million]

Loads by COPY, and measures on the way: the SQL of a recall at each size, whether the dense leg finds what comparing all
in NumPy finds, from what size on HNSW pays, and what a memory weighs. A run that was broken off goes on where it stood;
what was measured is kept in the output folder, so remove `results.json` to measure again. Without --url a Postgres of
its own is started there, with settings for a machine of this size.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit, urlunsplit

import pg_large
import pg_report
from pg_load import Plan, connect, load, loaded, prepare, settle
from pg_measure import make_questions, measure
from pg_sizes import weigh
from pg_texts import SETS, Pool
from recollect.bench.datasets import find_folder

CURVE: Final = (10_000, 50_000, 100_000, 300_000, 1_000_000)
WIDE: Final = 1024
PARTS: Final = ("curve", "large", "wide")
SETTINGS: Final = {
    "shared_buffers": "2GB",
    "effective_cache_size": "12GB",
    "maintenance_work_mem": "1GB",
    "max_wal_size": "8GB",
    "checkpoint_timeout": "30min",
    "wal_level": "minimal",
    "max_wal_senders": "0",
}


class Results:
    """What was measured, on disk after every step."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / "results.json"
        self.found: dict[str, Any] = json.loads(self._path.read_text()) if self._path.exists() else {}

    def keep(self, name: str, value: Any) -> None:  # noqa: ANN401 - whatever JSON can hold
        self.found[name] = value
        self._path.write_text(json.dumps(self.found, indent=1) + "\n")

    def add(self, name: str, point: dict[str, Any]) -> None:
        self.keep(name, [*self.found.get(name, []), point])


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    results = Results(options.output)
    datasets = find_folder(options.datasets)
    pool = Pool.read(datasets, options.sets)
    with _server(options) as url:
        plan = Plan(
            url, datasets, options.memories // options.size, options.size, workers=options.workers, sets=options.sets
        )
        if "curve" in options.parts:
            run_curve(replace(plan, url=database_at(url, options.name)), pool, options.questions, results)
        if "large" in options.parts:
            run_large(replace(plan, url=database_at(url, f"{options.name}_large")), pool, options, results)
        if "wide" in options.parts:
            spaces = max(1, plan.spaces // 10)
            wide = replace(plan, url=database_at(url, f"{options.name}_wide"), spaces=spaces, dimension=WIDE)
            run_wide(wide, pool, options.questions, results)
    print(pg_report.write(results.found, options.output))
    failed = pg_report.verdict(results.found)
    print("\n".join(f"FAILED: {each}" for each in failed) or "All as promised.")
    return int(bool(failed))


def run_curve(plan: Plan, pool: Pool, questions: int, results: Results) -> None:
    whole = plan.spaces * plan.size
    sizes = [size for size in CURVE if size < whole] + [whole]
    measured = {point["memories"] for point in results.found.get("curve", [])}
    there = len(loaded_in(plan)) * plan.size
    for size in sizes:
        if size in measured:
            continue
        if there > size:
            _say(f"{size:,} cannot be measured any more: {there:,} are there. Drop the database for the whole curve.")
            continue
        seconds = _load(plan, -(-size // plan.size))
        vector_set = prepare(plan)
        spaces = loaded(plan)
        asked = make_questions(plan, pool, spaces, questions)
        _say(f"asking {len(asked)} questions of {len(spaces)} spaces")
        point = {"memories": len(spaces) * plan.size, "load_seconds": seconds, **measure(plan.url, vector_set, asked)}
        results.add("curve", point)
    if "bytes" not in results.found:
        results.keep("bytes", weigh(plan.url))


def run_large(plan: Plan, pool: Pool, options: argparse.Namespace, results: Results) -> None:
    sizes = [size for size in pg_large.SIZES if size < options.large] + [options.large]
    wanted = [size for size in sizes if size not in {point["size"] for point in results.found.get("large", [])}]
    if not wanted:
        return

    def tell(point: dict[str, Any]) -> None:
        results.add("large", point)
        _say(f"measured one space of {point['size']:,}")

    pg_large.measure_growth(plan, pool, wanted, options.questions // 4, tell)


def run_wide(plan: Plan, pool: Pool, questions: int, results: Results) -> None:
    if "wide" in results.found:
        return
    _load(plan, plan.spaces)
    asked = make_questions(plan, pool, plan.names, questions // 2)
    point = {"memories": plan.spaces * plan.size, "dimension": plan.dimension, "bytes": weigh(plan.url)}
    results.keep("wide", {**point, **measure(plan.url, prepare(plan), asked)})


def loaded_in(plan: Plan) -> list[str]:
    prepare(plan)
    return loaded(plan)


def _load(plan: Plan, spaces: int) -> float:
    begin = time.perf_counter()
    load(plan, spaces, lambda done, whole: _say(f"loaded {done:,} of {whole:,}") if done % 50_000 == 0 else None)
    seconds = time.perf_counter() - begin
    settle(plan.url)
    return seconds


@contextmanager
def _server(options: argparse.Namespace) -> Iterator[str]:
    if options.url:
        yield options.url
        return
    from recollect.stores.postgres.embedded import start

    with start(options.output / "postgres", settings=SETTINGS) as server:
        yield server.url


def database_at(url: str, name: str) -> str:
    """Give the address of a database on the server, made if it is not there."""
    with closing(connect(url)) as connection:
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone() is None:
            connection.execute(f'CREATE DATABASE "{name}"'.encode())
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))


def _say(words: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {words}", flush=True)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default=os.environ.get("RECOLLECT_BENCH_DATABASE_URL"), help="of a Postgres to fill")
    parser.add_argument("--name", default="million", help="of the database to fill; others begin with it")
    parser.add_argument("--datasets", default=os.environ.get("RECOLLECT_DATASETS"), help="where the texts are")
    parser.add_argument("--sets", type=lambda names: tuple(names.split(",")), default=SETS, help="which of them")
    parser.add_argument("--memories", type=int, default=1_000_000)
    parser.add_argument("--size", type=int, default=5000, help="memories of a space")
    parser.add_argument("--large", type=int, default=200_000, help="memories of the one large space")
    parser.add_argument("--questions", type=int, default=400, help="questions at each size")
    parser.add_argument("--workers", type=int, default=2, help="processes that load")
    parser.add_argument("--parts", type=lambda names: tuple(names.split(",")), default=PARTS, help=", ".join(PARTS))
    parser.add_argument("--output", type=Path, default=Path("build") / "million")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
