"""Many at once: 64 clients recall and store for five minutes; the server must neither fail, nor slow down, nor grow.

    python benchmarks/load.py [--url postgresql://OWNER@HOST/] [--seconds 300] [--output build/load]

A real `recollect serve` and `recollect worker`; nine requests of ten are recalls. The clients are one process that
waits for all its sockets at once and looks at no more of an answer than its head, so that the cores are left to the
server. What is measured goes into a report and a picture.
"""

import argparse
import json
import os
import random
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl

mpl.use("Agg")
import numpy as np
import psutil  # type: ignore[import-untyped]
from matplotlib import pyplot as plt

from load_clients import Answer, Kind, Request, drive
from pg_load import Plan, connect, load, settle
from pg_texts import SETS, Pool
from recollect.bench.datasets import find_folder
from running import embedding_model, find_backends, make_key, open_database, open_postgres, run_server

MOST_SPREAD: Final = 10.0
"""How many times the p50 the p99 may be."""
MOST_GROWTH: Final = 0.05
"""By what part of itself the server's memory may grow from the first fifth after the warm-up to the last."""
LEAST_GROWTH: Final = 16 << 20
"""Growth below so many bytes is noise."""
SETTINGS: Final = {"shared_buffers": "1GB", "max_wal_size": "4GB"}
_STORES: Final = 0.1
_LOOKS: Final = 150
"""How often memory is looked at."""


@dataclass(frozen=True, slots=True)
class Look:
    """What the processes hold at one moment, in bytes."""

    second: float
    server: int
    worker: int
    postgres: int


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    datasets = find_folder(options.datasets)
    pool = Pool.read(datasets, options.sets)
    with ExitStack() as stack:
        server_url = stack.enter_context(open_postgres(options.url, SETTINGS))
        url = stack.enter_context(open_database(server_url, f"load_{os.getpid()}"))
        model = stack.enter_context(embedding_model(options.dimension))
        plan = Plan(
            url,
            datasets,
            options.spaces,
            options.size,
            options.dimension,
            sets=options.sets,
            model=model,
            workers=options.workers,
        )
        load(plan, plan.spaces)
        settle(url)
        tokens = [make_key(url, space) for space in plan.names]
        running = stack.enter_context(run_server(url, worker=True))
        watched = {name: psutil.Process(process.pid) for name, process in running.processes.items()}
        connection = stack.enter_context(connect(url))
        looks: list[Look] = []
        begin = time.perf_counter()

        def look() -> None:
            backends = find_backends(connection)
            held = {name: process.memory_info().rss for name, process in watched.items()}
            looks.append(Look(time.perf_counter() - begin, held["server"], held["worker"], _private(backends)))

        answers = drive(
            running.port,
            [_requests(token, pool, seed) for seed, token in zip(range(options.clients), _cycle(tokens))],  # noqa: B905
            options.seconds,
            look,
            options.seconds / _LOOKS,
        )
    results = summarise(answers, looks, options)
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "load.json").write_text(json.dumps(results, indent=1) + "\n")
    page = show(results)
    (options.output / "load.md").write_text(page)
    draw(answers, looks, options.output / "load.png")
    print(page)
    return int(bool(results["failed"]))


def summarise(answers: Sequence[Answer], looks: Sequence[Look], options: argparse.Namespace) -> dict[str, Any]:
    warm = options.seconds * options.warming
    counted = [answer for answer in answers if answer.second >= warm]
    times = {kind: [answer.milliseconds for answer in counted if answer.kind == kind] for kind in Kind}
    quantiles = {
        kind.value: {f"p{part:g}": float(np.quantile(taken, part / 100)) for part in (50, 95, 99, 99.9)}
        for kind, taken in times.items()
        if taken
    }
    errors = [f"{answer.status} {answer.kind.value}" for answer in answers if answer.status >= 400 or not answer.status]
    growth = {name: _growth(looks, name, warm) for name in ("server", "worker", "postgres")}
    failed = []
    if errors:
        failed.append(f"{len(errors)} errors: {', '.join(sorted(set(errors)))}")
    failed += [
        f"p99 of a {kind} is {each['p99'] / each['p50']:.1f} times its p50 (at most {MOST_SPREAD:g})"
        for kind, each in quantiles.items()
        if each["p99"] >= MOST_SPREAD * each["p50"]
    ]
    failed += [f"the {name} grew by {each['bytes'] / 1e6:.0f} MB" for name, each in growth.items() if each["grows"]]
    return {
        "clients": options.clients,
        "seconds": options.seconds,
        "spaces": options.spaces,
        "memories": options.spaces * options.size,
        "requests": len(answers),
        "a_second": len(counted) / (options.seconds - warm),
        "errors": len(errors),
        "milliseconds": quantiles,
        "growth": growth,
        "failed": failed,
    }


def _growth(looks: Sequence[Look], name: str, warm: float) -> dict[str, Any]:
    """Compare what was held after the warm-up with what was held in the end, each the median of a fifth."""
    held = [(look.second, getattr(look, name)) for look in looks if look.second >= warm] or [(0.0, 0)]
    fifth = -(-len(held) // 5)
    first, last = (float(np.median([size for _, size in part])) for part in (held[:fifth], held[-fifth:]))
    seconds, sizes = np.array(held, dtype=float).T
    slope = np.polyfit(seconds, sizes, 1)[0] if len(held) > 1 else 0.0
    return {
        "first": first,
        "last": last,
        "bytes": last - first,
        "bytes_a_minute": float(slope) * 60,
        "grows": last - first > max(LEAST_GROWTH, MOST_GROWTH * first),
    }


def show(results: dict[str, Any]) -> str:
    lines = [
        f"{results['clients']} clients for {results['seconds']:g} seconds, {results['spaces']} spaces,",
        f"{results['memories']:,} memories: {results['requests']:,} requests, {results['a_second']:.0f} a second.",
        "",
        "| request | p50 | p95 | p99 | p99.9 |",
        "| --- | --- | --- | --- | --- |",
    ]
    for kind, each in results["milliseconds"].items():
        lines.append(f"| {kind} | {' | '.join(f'{taken:.1f} ms' for taken in each.values())} |")
    lines += ["", "| memory of | after the warm-up | at the end | a minute |", "| --- | --- | --- | --- |"]
    for name, each in results["growth"].items():
        sizes = " | ".join(f"{each[what] / 1e6:.1f} MB" for what in ("first", "last", "bytes_a_minute"))
        lines.append(f"| {name} | {sizes} |")
    verdict = [f"FAILED: {each}" for each in results["failed"]] or ["No error, no growth, no long tail."]
    return "\n".join([*lines, "", *verdict, ""])


def draw(answers: Sequence[Answer], looks: Sequence[Look], path: Path) -> None:
    figure, (times, memory) = plt.subplots(2, 1, figsize=(9, 7), sharex=True)
    for kind in Kind:
        of_kind = [answer for answer in answers if answer.kind == kind]
        times.plot(
            [answer.second for answer in of_kind], [answer.milliseconds for answer in of_kind], ".", markersize=1
        )
    times.set(ylabel="milliseconds", yscale="log", title="Each answer")
    for name in ("server", "worker", "postgres"):
        memory.plot([look.second for look in looks], [getattr(look, name) / 1e6 for look in looks], label=name)
    memory.set(xlabel="seconds", ylabel="megabytes", ylim=(0, None))
    memory.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)


def _requests(token: str, pool: Pool, seed: int) -> Iterator[Request]:
    source = random.Random(seed)
    while True:
        if source.random() < _STORES:
            content = f"{source.choice(pool.texts).content}\n{' '.join(source.choices(pool.words, k=5))}"
            yield Request.make(Kind.STORE, token, {"content": content})
        else:
            yield Request.make(Kind.RECALL, token, {"query": source.choice(pool.questions)})


def _cycle(tokens: Sequence[str]) -> Iterator[str]:
    while True:
        yield from tokens


def _private(processes: Sequence[psutil.Process]) -> int:
    """Give what processes hold for themselves: the cache that Postgres shares among them fills by design."""
    held = 0
    for process in processes:
        try:
            memory = process.memory_info()
        except psutil.Error:
            continue
        held += memory.rss - memory.shared
    return held


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default=os.environ.get("RECOLLECT_BENCH_DATABASE_URL"), help="of a Postgres to use")
    parser.add_argument("--datasets", default=os.environ.get("RECOLLECT_DATASETS"), help="where the texts are")
    parser.add_argument("--sets", type=lambda names: tuple(names.split(",")), default=SETS, help="which of them")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=300.0)
    parser.add_argument("--warming", type=float, default=0.2, help="part of the time that does not count")
    parser.add_argument("--spaces", type=int, default=16)
    parser.add_argument("--size", type=int, default=5000, help="memories of a space at the beginning")
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--workers", type=int, default=2, help="processes that load the spaces")
    parser.add_argument("--output", type=Path, default=Path("build") / "load")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
