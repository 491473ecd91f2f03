"""Fills a database by COPY with what the store itself would have written, space by space.

Each space is one transaction: a load that was broken off goes on with the first space that is missing. Every space
has an owner and a key, so that it can be asked for from behind the walls.
"""

import hashlib
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

import psycopg

from pg_texts import BEGINNING, SETS, Pool
from pg_vectors import Cloud, to_binary
from recollect.core.access import Caller
from recollect.core.analysis import weigh_terms
from recollect.core.memory import Memory
from recollect.core.moments import to_micros
from recollect.stores.lives import length_of
from recollect.stores.postgres.migrate import upgrade
from recollect.stores.rows import STATE, to_row

_HEADER: Final = b"PGCOPY\n\xff\r\n\0" + struct.pack("!ii", 0, 0)
_TRAILER: Final = struct.pack("!h", -1)
_POSTING: Final = struct.Struct("!hiiiiiqififi")
"""Six fields, each behind its length: space, memory, since, frequency, length, and the term to follow."""
_VECTOR: Final = struct.Struct("!hiiiii")
_POSTINGS: Final = "COPY postings (space, memory, valid_from, tf, length, term) FROM STDIN (FORMAT binary)"
_MEMORIES: Final = f"COPY memories (space, key, change, length, indexed_at, {STATE}) FROM STDIN"
# The owner, the space and a key to it, as the server's own functions would make them.
_SPACE: Final = """
WITH person AS (
    INSERT INTO people (id, admin, created_at) VALUES (%(space)s, false, 0) RETURNING key
), space AS (
    INSERT INTO spaces (id, owner) SELECT %(space)s, key FROM person RETURNING key
), membership AS (
    INSERT INTO memberships (space, person, role) SELECT space.key, person.key, 'admin' FROM space, person
), api_key AS (
    INSERT INTO api_keys (prefix, person, hash, name, scope, created_at)
    SELECT %(prefix)s, key, %(hash)s, 'benchmark', 'write', 0 FROM person
)
SELECT key FROM space
"""
# The number of a space's last change is also that of its last memory.
_GROW: Final = """
UPDATE spaces SET memories = memories + %s, change = change + %s, length = length + %s WHERE key = %s
RETURNING change
"""
_BUFFER: Final = 1 << 20

Progress = Callable[[int, int], None]
"""Told how many memories of how many are there."""


@dataclass(frozen=True, slots=True)
class Plan:
    url: str
    datasets: Path
    spaces: int = 200
    size: int = 5000
    dimension: int = 384
    seed: int = 1
    workers: int = 2
    sets: tuple[str, ...] = SETS
    model: str = "synthetic"

    @property
    def names(self) -> list[str]:
        return [f"space-{number:05}" for number in range(self.spaces)]

    def cloud(self, space: str) -> Cloud:
        return Cloud(int.from_bytes(hashlib.sha256(f"{self.seed} {space}".encode()).digest()[:4]), self.dimension)


def caller_of(space: str) -> Caller:
    return Caller(key_of(space), space, "write", space, {space: "admin"})


def key_of(space: str) -> str:
    return f"key-{space}"


def connect(url: str) -> psycopg.Connection[tuple[Any, ...]]:
    """Connect as the owner, who is behind no wall, and lose the last second rather than wait for the disk."""
    connection = psycopg.connect(url, autocommit=True)
    connection.execute("SET synchronous_commit = off")
    return connection


def prepare(plan: Plan) -> int:
    """Bring the schema up to date and make the vector set; give its number."""
    upgrade(plan.url)
    with closing(connect(plan.url)) as connection, connection.transaction():
        row = connection.execute("SELECT key FROM vector_sets WHERE model = %s", (plan.model,)).fetchone()
        if row is not None:
            return int(row[0])
        made = connection.execute(
            "INSERT INTO vector_sets (model, dimension, active) VALUES (%s, %s, true) RETURNING key",
            (plan.model, plan.dimension),
        ).fetchone()
        assert made is not None
        connection.execute("SELECT recollect_make_vectors(%s, %s)", (made[0], plan.dimension))
        return int(made[0])


def loaded(plan: Plan) -> list[str]:
    """Give the spaces that are there, whole."""
    with closing(connect(plan.url)) as connection:
        rows = connection.execute("SELECT id FROM spaces WHERE memories > 0")
        there = {space for (space,) in rows}
    return [space for space in plan.names if space in there]


def load(plan: Plan, spaces: int, progress: Progress = lambda *_: None) -> None:
    """Load the spaces that are missing among the first so many."""
    vector_set = prepare(plan)
    there = set(loaded(plan))
    missing = [space for space in plan.names[:spaces] if space not in there]
    done = spaces - len(missing)
    for _ in _run(plan, vector_set, missing):
        done += 1
        progress(done * plan.size, spaces * plan.size)


def settle(url: str) -> None:
    """Do what autovacuum would have done by and by."""
    with closing(connect(url)) as connection:
        connection.execute("VACUUM ANALYZE")
        connection.execute("CHECKPOINT")


def _run(plan: Plan, vector_set: int, missing: Sequence[str]) -> Iterator[None]:
    if plan.workers < 2 or len(missing) < 2:
        _begin(plan, vector_set)
        for space in missing:
            load_space(space)
            yield
        return
    # Analysing and packing take about as long as the database takes for the rows, so two at a time fill two cores.
    with ProcessPoolExecutor(plan.workers, get_context("spawn"), _begin, (plan, vector_set)) as workers:
        for done in as_completed([workers.submit(load_space, space) for space in missing]):
            done.result()
            yield


class _Worker:
    """What a process keeps from one space to the next."""

    plan: Plan
    pool: Pool
    vector_set: int


def _begin(plan: Plan, vector_set: int) -> None:
    _Worker.plan, _Worker.vector_set = plan, vector_set
    _Worker.pool = Pool.read(plan.datasets, plan.sets)


def load_space(space: str) -> None:
    plan = _Worker.plan
    memories = list(_Worker.pool.memories(space, plan.size, plan.seed))
    vectors = to_binary(plan.cloud(space).memories(plan.size))
    with closing(connect(plan.url)) as connection, connection.transaction(), connection.cursor() as cursor:
        append(cursor, make_space(cursor, space), memories, _Worker.vector_set, vectors)


def make_space(cursor: psycopg.Cursor[Any], space: str) -> int:
    given = {"space": space, "prefix": key_of(space), "hash": hashlib.sha256(space.encode()).digest()}
    row = cursor.execute(_SPACE, given).fetchone()
    assert row is not None
    return int(row[0])


def append(
    cursor: psycopg.Cursor[Any], space: int, memories: Sequence[Memory], vector_set: int, vectors: Sequence[bytes]
) -> None:
    """Write memories behind those that a space has, each with its vector."""
    terms = [weigh(memory) for memory in memories]
    lengths = [length_of(each) for each in terms]
    count = len(memories)
    row = cursor.execute(_GROW, (count, count, sum(lengths), space)).fetchone()
    assert row is not None
    keys = range(row[0] - count + 1, row[0] + 1)
    with cursor.copy(_MEMORIES) as copy:
        for key, memory, length in zip(keys, memories, lengths, strict=True):
            copy.write_row((space, key, key, length, to_micros(memory.updated_at), *to_row(memory)))
    copy_rows(cursor, _POSTINGS, _pack_postings(space, keys, memories, terms, lengths))
    copy_rows(
        cursor,
        f"COPY vectors_{vector_set} (space, memory, vector) FROM STDIN (FORMAT binary)",
        (_VECTOR.pack(3, 4, space, 4, key, len(vector)) + vector for key, vector in zip(keys, vectors, strict=True)),
    )


def weigh(memory: Memory) -> dict[str, float]:
    """Do as `weigh_terms`, with the text before the tail looked at only once: analysing is most of the work."""
    text, _, tail = memory.content.rpartition("\n")
    weighed = weigh_terms(replace(memory, content=tail))
    for term, frequency in _weigh_text(text).items():
        weighed[term] = weighed.get(term, 0.0) + frequency
    return weighed


@cache
def _weigh_text(text: str) -> dict[str, float]:
    return weigh_terms(Memory("", "", text, BEGINNING, BEGINNING, category=""))


def _pack_postings(
    space: int,
    keys: Iterable[int],
    memories: Sequence[Memory],
    terms: Sequence[dict[str, float]],
    lengths: Sequence[float],
) -> Iterator[bytes]:
    """Pack the postings memory by memory, as they come in life: sorted, the index would be denser than it ever is."""
    pack = _POSTING.pack
    for key, memory, weighed, length in zip(keys, memories, terms, lengths, strict=True):
        since = to_micros(memory.updated_at)
        for term, frequency in sorted(weighed.items()):
            octets = term.encode()
            yield pack(6, 4, space, 4, key, 8, since, 4, frequency, 4, length, len(octets)) + octets


def copy_rows(cursor: psycopg.Cursor[Any], statement: str, rows: Iterable[bytes]) -> None:
    with cursor.copy(statement) as copy:
        waiting, size = [_HEADER], 0
        for row in rows:
            waiting.append(row)
            size += len(row)
            if size > _BUFFER:
                copy.write(b"".join(waiting))
                waiting, size = [], 0
        copy.write(b"".join([*waiting, _TRAILER]))
