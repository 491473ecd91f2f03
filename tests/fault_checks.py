"""What has to hold after faults, looked up in the database and asked of the server."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Any

from fakes import ToyEmbedder, expect_vectors
from fault_clients import Known, Tally
from faults import Estate, Outages
from provider_server import vector_of
from recollect.core.vectors import Vector, pack
from recollect.stores.postgres.database import Database
from recollect.stores.postgres.store import PostgresStore
from serving import Client
from watching import ask


class KnownEmbedder(ToyEmbedder):
    """Makes what the embedding server makes, without asking it."""

    def vector(self, text: str) -> Vector:
        return vector_of(text)


def left_to_do(estate: Estate) -> int:
    """Count what waits to be embedded or read, and the jobs that wait, run or failed."""
    counts = ask(
        estate.postgres.url,
        "SELECT count(*) FROM outbox UNION ALL SELECT count(*) FROM unread UNION ALL "
        "SELECT count(*) FROM procrastinate_jobs",
    )
    return sum(count for (count,) in counts)


def check_requests(tally: Tally, outages: Outages) -> None:
    """No answer was wrong, none a fault, and none was missing without a cause."""
    assert tally.wrong == []
    assert 500 not in tally.answers
    assert [each for each in tally.failures if not outages.excuse(each.began, each.ended)] == []


def check_memories(estate: Estate, known: Sequence[Known]) -> None:
    """Each memory went through the states that were acknowledged, in that order and once, and at most one more."""
    expected = {each.ref: each for each in known}
    with closing(Database.open(estate.postgres.url)) as database:
        store = PostgresStore(database)
        kept = list(store.memories.walk())
        assert len(kept) == len(set(kept))
        assert set(kept) <= expected.keys()
        for ref, each in expected.items():
            past = [revision.memory for revision in store.memories.history(ref)]
            states = [(memory.content, memory.deleted_at is not None) for memory in past]
            acknowledged = [(state.content, state.is_gone) for state in each.acknowledged]
            unknown = [] if each.unknown is None else [(each.unknown.content, each.unknown.is_gone)]
            assert states in (acknowledged, acknowledged + unknown), each
            assert [memory.version for memory in past] == list(range(1, len(past) + 1))
        live = {ref.id for ref in kept if store.memories.get([ref])[ref].deleted_at is None}
        assert store.examine(lambda _done, _total: None) == []
    with estate.client() as client:
        spaces = sorted({ref.space for ref in expected})
        listed = [memory["id"] for space in spaces for memory in _list_all(client, space)]
    assert len(listed) == len(live)
    assert set(listed) == live


def _list_all(client: Client, space: str) -> Iterator[dict[str, Any]]:
    asked: dict[str, Any] = {"space": space, "limit": 100}
    while True:
        page = client.ok("GET", "/v1/memories", params=asked)
        yield from page["memories"]
        if page["next"] is None:
            return
        asked["cursor"] = page["next"]


def check_vectors(estate: Estate) -> None:
    """Every memory that may be embedded has one vector, that of its present text; no other has, nor left the house."""
    with closing(Database.open(estate.postgres.url)) as database:
        store = PostgresStore(database)
        refs = list(store.memories.walk())
        memories = list(store.memories.get(refs).values())
    (vector_set,) = ask(estate.postgres.url, "SELECT key FROM vector_sets")
    rows = ask(
        estate.postgres.url,
        f"SELECT m.id::text, v.vector::text FROM vectors_{vector_set[0]} AS v "
        "LEFT JOIN memories AS m ON m.space = v.space AND m.key = v.memory",
    )
    vectors = {identity: pack([float(part) for part in text.strip("[]").split(",")]) for identity, text in rows}
    assert len(vectors) == len(rows)
    assert vectors == expect_vectors(memories, KnownEmbedder(estate.model, dimension=None))
    assert b"secret-" not in estate.provider.received
