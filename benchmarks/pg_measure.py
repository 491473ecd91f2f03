"""Asks questions of a loaded database: how long the store's legs and the reference take, and whether all was found.

Every question goes to another space, in a random order, so that what is in the cache is what would be in life.
"""

import random
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any, Final

import numpy as np

from pg_load import Plan, caller_of, connect
from pg_reference import Reference
from pg_texts import Pool
from pg_vectors import Floats, Halves, to_text
from recollect.core.hits import Hit
from recollect.core.query import Query, Scope
from recollect.service.ask import ask_legs
from recollect.stores.postgres.database import Database
from recollect.stores.postgres.store import PostgresStore

DEPTH: Final = 100
AT: Final = 50
"""Recall is measured at so many hits."""
_SECONDS: Final = 60.0
_CLOSE: Final = 2e-6
"""Scores that a sum in single precision cannot tell apart."""
_WARMING: Final = 20

Times = dict[str, list[float]]


@dataclass(frozen=True, slots=True)
class Asked:
    space: str
    text: str
    vector: Floats
    best: frozenset[int]
    """The numbers of the best, found by comparing all."""

    @property
    def query(self) -> Query:
        return Query(self.text, Scope((self.space,)))


def find_best(memories: Halves, question: Floats) -> frozenset[int]:
    """Give the numbers of the best memories, counted from 1 on, with those that tie with the last."""
    scores = memories.astype(np.float64) @ question.astype(np.float64)
    least = np.sort(scores)[-min(AT, len(scores))]
    return frozenset((np.flatnonzero(scores >= least - _CLOSE) + 1).tolist())


def make_questions(plan: Plan, pool: Pool, spaces: Sequence[str], count: int) -> list[Asked]:
    """Make so many questions, as many for each space."""
    texts = chain.from_iterable(repeat(pool.questions))
    made: list[Asked] = []
    for number, space in enumerate(spaces):
        cloud = plan.cloud(space)
        memories = cloud.memories(plan.size)
        wanted = count // len(spaces) + (number < count % len(spaces))
        made += [
            Asked(space, next(texts), vector, find_best(memories, vector))
            for vector in cloud.questions(memories, wanted)
        ]
    random.Random(4).shuffle(made)
    return made


def measure(url: str, vector_set: int, questions: Sequence[Asked]) -> dict[str, Any]:
    """Ask each question of the store, as the space's owner, and of the reference, each first every other time."""
    times: Times = {}
    recalls: list[float] = []
    with closing(Database.open(url, size=1)) as database, closing(Reference.open(url, vector_set)) as reference:
        numbers = _Numbers(url)
        runs: list[Callable[[Asked, Times], Sequence[Hit]]] = [
            lambda asked, into: ask_store(database, asked, into),
            lambda asked, into: _ask_reference(reference, numbers.space(asked.space), asked, into),
        ]
        for asked in questions[:_WARMING]:
            for run in runs:
                run(asked, {})
        for number, asked in enumerate(questions):
            for run in runs if number % 2 else reversed(runs):
                hits = run(asked, times)
                if hits:
                    recalls.append(numbers.recall(asked, hits))
    return {
        "questions": len(questions),
        "recall@50": statistics.mean(recalls),
        "milliseconds": {name: summarise(taken) for name, taken in times.items()},
    }


def ask_store(database: Database, asked: Asked, times: Times) -> Sequence[Hit]:
    """Ask all legs, as a recall does, and give what the dense one found."""
    vector = asked.vector.tolist()
    store = PostgresStore(
        database.as_caller(caller_of(asked.space)),
        embed_query=lambda *_: vector,
        recall_query=lambda *_: vector,
    )
    begin = time.perf_counter()
    with store.reading(asked.query):
        answers = ask_legs(store.legs, asked.query, DEPTH, _SECONDS, in_turn=True)
    _note(times, "store", begin)
    for answer in answers:
        assert answer.failure is None, answer.failure
        times.setdefault(f"store, {answer.leg}", []).append(answer.milliseconds)
    return next(answer.hits for answer in answers if answer.leg == "dense")


def _ask_reference(reference: Reference, space: int, asked: Asked, times: Times) -> Sequence[Hit]:
    vector = to_text(asked.vector.astype(np.float16))
    begin = time.perf_counter()
    reference.recall(space, asked.text, vector)
    _note(times, "reference", begin)
    return ()


def _note(times: Times, name: str, begin: float) -> None:
    times.setdefault(name, []).append((time.perf_counter() - begin) * 1000)


def summarise(taken: Sequence[float]) -> dict[str, float]:
    return {f"p{part}": float(np.quantile(taken, part / 100)) for part in (50, 95, 99)}


class _Numbers:
    """Which number a memory has in its space."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._spaces = dict(self._read("SELECT id, key FROM spaces"))
        self._memories: dict[str, dict[str, int]] = {}

    def space(self, space: str) -> int:
        return int(self._spaces[space])

    def recall(self, asked: Asked, hits: Sequence[Hit]) -> float:
        if asked.space not in self._memories:
            statement = f"SELECT id::text, key FROM memories WHERE space = {self.space(asked.space)}"
            self._memories[asked.space] = dict(self._read(statement))
        numbers = self._memories[asked.space]
        found = {numbers[hit.ref.id] for hit in hits[:AT]}
        return len(found & asked.best) / min(AT, len(numbers))

    def _read(self, statement: str) -> Iterator[tuple[Any, Any]]:
        with closing(connect(self._url)) as connection:
            yield from connection.execute(statement.encode()).fetchall()
