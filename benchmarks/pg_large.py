"""One large space that grows: from what size on an HNSW index of its own answers sooner than comparing all.

At each size the same questions are put to both, bare and through the store's dense leg, and the index is built and
dropped by the product's own code.
"""

import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any, Final

import psycopg

from pg_load import Plan, append, caller_of, connect, make_space, prepare, settle
from pg_measure import AT, DEPTH, Asked, find_best, summarise
from pg_texts import Pool
from pg_vectors import Halves, split, to_binary
from recollect.core.query import Query, Scope
from recollect.stores.postgres import hnsw
from recollect.stores.postgres.database import Database
from recollect.stores.postgres.store import PostgresStore

SIZES: Final = (5_000, 10_000, 20_000, 50_000, 100_000, 200_000)
EF_SEARCH: Final = (100, 200, 400, 600)
SCANS: Final = ("strict_order", "relaxed_order")
SPACE: Final = "large"
ENOUGH: Final = 0.95
_BATCH: Final = 5000
_NEVER: Final = 1 << 30

# What the dense leg compares: the query as the sum of two in halves.
_SCORE: Final = "-((vector <#> %(near)s::halfvec) + (vector <#> %(rest)s::halfvec))"
_EXACT: Final = f"""
SELECT memory, {_SCORE} AS score FROM {{vectors}} WHERE space = {{space}} ORDER BY score DESC LIMIT {DEPTH}
"""
_NEAREST: Final = f"""
SELECT memory, {_SCORE} AS score FROM (
    SELECT memory, vector FROM {{vectors}} WHERE space = {{space}} ORDER BY vector <#> %(near)s::halfvec LIMIT {DEPTH}
) AS nearest ORDER BY score DESC
"""

Numbers = Sequence[int]
Search = Callable[[Asked], Numbers]


def measure_growth(
    plan: Plan, pool: Pool, sizes: Sequence[int], questions: int, tell: Callable[[dict[str, Any]], None]
) -> None:
    """Let the space grow to each size that it has not passed yet, and tell what was measured there."""
    vector_set = prepare(plan)
    vectors = plan.cloud(SPACE).memories(max(sizes))
    with closing(connect(plan.url)) as connection, closing(Database.open(plan.url, size=2)) as database:
        space, there = _find_space(connection)
        for size in sizes:
            if size < there:
                continue
            _grow(connection, plan, pool, vector_set, space=space, size=size, vectors=vectors)
            settle(plan.url)
            asked = _make_questions(plan, pool, vectors[:size], questions)
            bench = _Bench(connection, database, space, vector_set)
            tell({"size": size, **bench.measure(asked)})


def crossover(points: Sequence[dict[str, Any]], how: str) -> int | None:
    """Give the smallest size from which on an index answers sooner than comparing all, and well enough."""
    found = None
    for point in sorted(points, key=lambda point: -point["size"]):
        ways = point["ways"]
        if ways[how]["recall@50"] < ENOUGH or ways[how]["p50"] >= ways["exact"]["p50"]:
            break
        found = int(point["size"])
    return found


def _find_space(connection: psycopg.Connection[Any]) -> tuple[int, int]:
    row = connection.execute("SELECT key, memories FROM spaces WHERE id = %s", (SPACE,)).fetchone()
    if row is not None:
        return int(row[0]), int(row[1])
    with connection.transaction(), connection.cursor() as cursor:
        return make_space(cursor, SPACE), 0


def _grow(
    connection: psycopg.Connection[Any],
    plan: Plan,
    pool: Pool,
    vector_set: int,
    *,
    space: int,
    size: int,
    vectors: Halves,
) -> None:
    _, there = _find_space(connection)
    if there >= size:
        return
    # The same memories again, of which the first are there.
    memories = list(pool.memories(SPACE, len(vectors), plan.seed))
    for start in range(there, size, _BATCH):
        some = slice(start, min(start + _BATCH, size))
        with connection.transaction(), connection.cursor() as cursor:
            append(cursor, space, memories[some], vector_set, to_binary(vectors[some]))


def _make_questions(plan: Plan, pool: Pool, vectors: Halves, count: int) -> list[Asked]:
    made = plan.cloud(SPACE).questions(vectors, count)
    return [
        Asked(SPACE, text, vector, find_best(vectors, vector))
        for text, vector in zip(pool.questions, made, strict=False)
    ]


class _Bench:
    """The ways to search the space, each timed on the same questions."""

    def __init__(self, connection: psycopg.Connection[Any], database: Database, space: int, vector_set: int) -> None:
        self._connection = connection
        self._database = database
        self._space = space
        self._names = {"vectors": f"vectors_{vector_set}", "space": space}

    def measure(self, asked: Sequence[Asked]) -> dict[str, Any]:
        # What a run that was broken off may have left.
        hnsw.carry_out(self._database, self._space, _NEVER)
        ways = {
            "exact": self._time(asked, self._by("SET LOCAL max_parallel_workers_per_gather = 0", _EXACT)),
            "exact, in parallel": self._time(asked, self._by("SET LOCAL max_parallel_workers_per_gather = 2", _EXACT)),
            "store, exact": self._time(asked, self._by_store),
        }
        begin = time.perf_counter()
        hnsw.carry_out(self._database, self._space, 1)
        built = time.perf_counter() - begin
        for ef_search in EF_SEARCH:
            for scan in SCANS:
                settings = f"SET LOCAL hnsw.ef_search = {ef_search}; SET LOCAL hnsw.iterative_scan = {scan}"
                ways[f"hnsw {ef_search} {scan}"] = self._time(asked, self._by(settings, _NEAREST))
        ways["store, hnsw"] = self._time(asked, self._by_store)
        name = f"{self._names['vectors']}_s{self._space}"
        row = self._connection.execute("SELECT pg_relation_size(to_regclass(%s))", (name,)).fetchone()
        hnsw.carry_out(self._database, self._space, _NEVER)
        return {"build_seconds": built, "index_bytes": row[0] if row else None, "ways": ways}

    def _time(self, asked: Sequence[Asked], search: Search) -> dict[str, float]:
        taken: list[float] = []
        recalls: list[float] = []
        for counted in (False, True):
            for question in asked:
                begin = time.perf_counter()
                found = search(question)
                if counted:
                    taken.append((time.perf_counter() - begin) * 1000)
                    recalls.append(len(question.best.intersection(found[:AT])) / min(AT, len(question.best)))
        return {**summarise(taken), "recall@50": statistics.mean(recalls)}

    def _by(self, settings: str, statement: str) -> Search:
        written = statement.format(**self._names)

        def search(asked: Asked) -> Numbers:
            near, rest = split(asked.vector)
            with self._connection.transaction():
                self._connection.execute(settings.encode())
                rows = self._connection.execute(written.encode(), {"near": near, "rest": rest}).fetchall()
            return [number for number, _ in rows]

        return search

    def _by_store(self, asked: Asked) -> Numbers:
        vector = asked.vector.tolist()
        store = PostgresStore(
            self._database.as_caller(caller_of(SPACE)), embed_query=lambda *_: vector, recall_query=lambda *_: vector
        )
        query = Query(asked.text, Scope((SPACE,)))
        leg = next(leg for leg in store.legs if leg.name == "dense")
        with store.reading(query):
            hits = leg.search(query, DEPTH, 60.0)
        return [self._numbers[hit.ref.id] for hit in hits]

    @property
    def _numbers(self) -> dict[str, int]:
        if not hasattr(self, "_known"):
            rows = self._connection.execute("SELECT id::text, key FROM memories WHERE space = %s", (self._space,))
            self._known = dict(rows.fetchall())
        return self._known
