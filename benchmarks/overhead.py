"""What the server adds to its SQL: a recall and a store over HTTP against the reference, bare on one connection.

    python benchmarks/overhead.py [--url postgresql://OWNER@HOST/] [--vectors FILE] [--output build/overhead]

One space of 5,000 real memories, a real `recollect serve`, one client with one connection, the queries' vectors cached.
Product and reference take turns at every question, so that whatever else the machine does hits both alike: only the
ratio of the medians means anything. So do the same steps in this process, without HTTP, each timed by itself. Reads are
logged by the server while it is measured, a second behind; the log of a write is one of its rows.
"""

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any, Final

import numpy as np
import psutil  # type: ignore[import-untyped]

from embedding_server import Vectors
from pg_load import Plan, append, connect, make_space, prepare, settle
from pg_reference import Reference
from pg_vectors import to_binary, to_text
from recollect.api.answers import respond
from recollect.api.showing import show_recall
from recollect.bench.datasets import Dataset, find_folder
from recollect.bench.load import make_memory
from recollect.config import read_config
from recollect.core.hits import Ref
from recollect.core.memory import DEFAULT_LENGTH_LIMIT, Memory
from recollect.service.access import authenticate
from recollect.service.server import Server
from recollect.wiring import open_server
from running import (
    Client,
    Running,
    busy_seconds,
    embedding_model,
    find_backends,
    make_key,
    open_database,
    open_postgres,
    run_server,
)

SPACE: Final = "ada"
SERVED: Final = "served"
"""What the server calls itself in the database, where others work too."""
MOST_RECALL: Final = 2.0
MOST_STORE: Final = 2.5
SETTINGS: Final = {"shared_buffers": "1GB", "max_wal_size": "4GB"}

Times = dict[str, list[float]]


@dataclass(frozen=True, slots=True)
class Material:
    kept: Sequence[Memory]
    spare: Sequence[Memory]
    """To be stored while it is measured."""
    questions: Sequence[str]

    @classmethod
    def read(cls, folder: Path, sets: Sequence[str], memories: int, questions: int) -> "Material":
        chosen = [Dataset(folder / name) for name in sets]
        found = [
            replace(make_memory(document), space=SPACE)
            for dataset in chosen
            for document in dataset.documents()
            if len(document.text) <= DEFAULT_LENGTH_LIMIT
        ]
        # Of each set the beginning is kept, so that sessions are whole.
        share = memories // len(sets)
        by_set = (found[start : start + share] for start in _starts(chosen, found))
        kept = list(islice(chain.from_iterable(by_set), memories))
        there = {memory.id for memory in kept}
        asked = zip_longest(*([question.text for question in dataset.questions()] for dataset in chosen))
        texts = [text for some in asked for text in some if text is not None]
        return cls(kept, [memory for memory in found if memory.id not in there], texts[:questions])


def _starts(chosen: Sequence[Dataset], found: Sequence[Memory]) -> list[int]:
    """Give where each set begins among what was found."""
    counts = [sum(len(document.text) <= DEFAULT_LENGTH_LIMIT for document in dataset.documents()) for dataset in chosen]
    assert sum(counts) == len(found)
    return [sum(counts[:number]) for number in range(len(counts))]


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    material = Material.read(find_folder(options.datasets), options.sets, options.memories, options.questions)
    with ExitStack() as stack:
        server_url = stack.enter_context(open_postgres(options.url, SETTINGS))
        url = stack.enter_context(open_database(server_url, f"overhead_{os.getpid()}"))
        model = stack.enter_context(embedding_model(options.dimension, options.vectors))
        vectors = Vectors(options.dimension, options.vectors)
        plan = Plan(url, Path(), dimension=options.dimension, model=model)
        vector_set = fill(plan, material.kept, vectors)
        token = make_key(url, SPACE)
        reference = stack.enter_context(closing(Reference.open(url, vector_set)))
        server = stack.enter_context(closing(open_server(replace(read_config({}), database=url))))
        inside = Inside(server, token)
        with run_server(f"{url}?application_name={SERVED}") as running, closing(Client(running.port, token)) as client:
            recall, busy = time_recalls(
                running, client, reference, inside, questions=material.questions, vectors=vectors
            )
            store = time_stores(client, reference, material.spare, options.stores)
    results = {**summarise(recall, store, inside.times), "busy": busy, "memories": len(material.kept)}
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "overhead.json").write_text(json.dumps(results, indent=1) + "\n")
    page = show(results)
    (options.output / "overhead.md").write_text(page)
    print(page)
    return int(results["recall_ratio"] > MOST_RECALL or results["store_ratio"] > MOST_STORE)


def fill(plan: Plan, memories: Sequence[Memory], vectors: Vectors) -> int:
    vector_set = prepare(plan)
    made = to_binary(np.stack([vectors.of(memory.content) for memory in memories]))
    with closing(connect(plan.url)) as connection, connection.transaction(), connection.cursor() as cursor:
        append(cursor, make_space(cursor, SPACE), memories, vector_set, made)
    settle(plan.url)
    return vector_set


def time_recalls(
    running: Running,
    client: Client,
    reference: Reference,
    inside: "Inside",
    *,
    questions: Sequence[str],
    vectors: Vectors,
) -> tuple[Times, dict[str, float]]:
    """Give the times, and for how many milliseconds of each recall which process had a core."""
    space = reference.key_of(SPACE)
    written = {text: to_text(vectors.of(text)) for text in questions}
    runs: dict[str, Callable[[str], object]] = {
        "http": lambda text: client.post("/v1/recall", {"query": text}),
        "reference": lambda text: reference.recall(space, text, written[text]),
        "without HTTP": inside.recall,
    }
    # The first round has the queries embedded and the statements prepared.
    take_turns(runs, questions)
    inside.times.clear()
    processes = {
        "server": [psutil.Process(running.processes["server"].pid)],
        "server, in Postgres": find_backends(reference.connection, SERVED),
        "reference, in Postgres": [psutil.Process(reference.connection.info.backend_pid)],
    }
    before = {name: busy_seconds(those) for name, those in processes.items()}
    times = take_turns(runs, questions)
    return times, {
        name: (busy_seconds(those) - before[name]) * 1000 / len(questions) for name, those in processes.items()
    }


def time_stores(client: Client, reference: Reference, spare: Sequence[Memory], count: int) -> Times:
    space = reference.key_of(SPACE)
    logged = reference.with_log(SPACE)
    memories = _endlessly(spare)

    def send() -> None:
        memory = next(memories)
        client.post(
            "/v1/memories",
            {"content": memory.content, "session": memory.session, "place": memory.place, "id": memory.id},
        )

    runs: dict[str, Callable[[int], object]] = {
        "http": lambda _: send(),
        "reference": lambda _: logged.insert(space, next(memories)),
        "reference, without its line in the log": lambda _: reference.insert(space, next(memories)),
    }
    take_turns(runs, range(max(1, count // 10)))
    return take_turns(runs, range(count))


def take_turns(runs: dict[str, Callable[[Any], object]], items: Sequence[Any]) -> Times:
    times: Times = {name: [] for name in runs}
    for number, item in enumerate(items):
        for name in list(runs) if number % 2 else reversed(list(runs)):
            begin = time.perf_counter()
            runs[name](item)
            times[name].append((time.perf_counter() - begin) * 1000)
    return times


class Inside:
    """Does what the server does for a recall, step by step, in this process."""

    def __init__(self, server: Server, token: str) -> None:
        self._server = server
        self._token = token
        self.times: Times = {}

    def recall(self, text: str) -> None:
        caller = self._time("auth", lambda: authenticate(self._server.keys, self._token))
        recollect = self._server.recollect(caller, "read")
        query = self._time("query", lambda: recollect.query(text))
        answer = self._time("recall", lambda: recollect.answer(query))
        shown = self._time("show", lambda: show_recall(recollect, answer, explained=False))
        self._time("serialise", lambda: respond(shown))
        refs = [Ref(memory.space, memory.id) for memory in answer.shown]
        self._time("audit", lambda: self._server.log.note(caller, "recall", refs))
        for leg in answer.trace.answers:
            assert leg.failure is None, leg.failure
            self._note(f"recall: legs: {leg.leg}", leg.milliseconds)
        for stage in answer.trace.stages:
            self._note(f"recall: {stage.name}", stage.milliseconds)
        stages = sum(stage.milliseconds for stage in answer.trace.stages)
        self._note("recall: begin and end", self.times["recall"][-1] - stages)

    def _time(self, name: str, action: Callable[[], Any]) -> Any:  # noqa: ANN401 - whatever the action gives
        begin = time.perf_counter()
        made = action()
        self._note(name, (time.perf_counter() - begin) * 1000)
        return made

    def _note(self, name: str, milliseconds: float) -> None:
        self.times.setdefault(name, []).append(milliseconds)


def summarise(recall: Times, store: Times, parts: Times) -> dict[str, Any]:
    medians = {name: statistics.median(taken) for name, taken in parts.items()}
    p50 = {f"recall, {name}": statistics.median(taken) for name, taken in recall.items()}
    p50 |= {f"store, {name}": statistics.median(taken) for name, taken in store.items()}
    return {
        "recall_ratio": p50["recall, http"] / p50["recall, reference"],
        "store_ratio": p50["store, http"] / p50["store, reference"],
        "p50": p50,
        "p95": {
            f"{what}, {name}": float(np.quantile(taken, 0.95))
            for what, times in (("recall", recall), ("store", store))
            for name, taken in times.items()
        },
        "parts": {"http": p50["recall, http"] - p50["recall, without HTTP"], **medians},
    }


def show(results: dict[str, Any]) -> str:
    p50, p95 = results["p50"], results["p95"]
    busy = [f"{taken:.2f} ms ({name})" for name, taken in results["busy"].items()]
    lines = [
        f"A space of {results['memories']:,} memories; milliseconds.",
        "",
        "| | p50 | p95 |",
        "| --- | --- | --- |",
        *(f"| {name} | {p50[name]:.2f} | {p95[name]:.2f} |" for name in p50),
        "",
        f"A recall takes {results['recall_ratio']:.2f} times the reference (at most {MOST_RECALL}),",
        f"a store {results['store_ratio']:.2f} times (at most {MOST_STORE}).",
        "",
        f"For each recall a core was busy for {', '.join(busy)}.",
        "",
        "Where a recall's time goes: `http` is what the server adds to the same steps in one process.",
        "",
        "| part | p50 |",
        "| --- | --- |",
        *(f"| {name} | {taken:.2f} |" for name, taken in results["parts"].items()),
        "",
        "`rerank` holds the reading of the memories, `begin and end` the transaction, the walls and the settings.",
        "",
    ]
    return "\n".join(lines)


def _endlessly(memories: Sequence[Memory]) -> Iterator[Memory]:
    """Give memories to store, each as if it was new."""
    moment = datetime.now(UTC)
    number = 0
    while True:
        for memory in memories:
            number += 1
            identity = f"{number:08x}{memory.id[8:]}"
            yield replace(memory, id=identity, created_at=moment, updated_at=moment)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default=os.environ.get("RECOLLECT_BENCH_DATABASE_URL"), help="of a Postgres to use")
    parser.add_argument("--datasets", default=os.environ.get("RECOLLECT_DATASETS"), help="where the texts are")
    parser.add_argument("--sets", type=lambda names: tuple(names.split(",")), default=("locomo", "realmem"))
    parser.add_argument("--vectors", type=Path, help="a file of vectors that `recollect bench` keeps, of one model")
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--memories", type=int, default=5000)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--stores", type=int, default=500)
    parser.add_argument("--output", type=Path, default=Path("build") / "overhead")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
