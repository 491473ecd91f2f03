"""Large spaces get an HNSW index of their own, and lose it when they are no longer large."""

import logging

import psycopg
import pytest

from making import forget_memory, make_memory
from recollect.core.errors import StoreBusy
from recollect.stores.postgres import hnsw
from recollect.stores.postgres.database import Database
from recollect.worker import tasks
from working import Shop

LARGE = 20

_INDEXES = """
SELECT c.relname, i.indisvalid, pg_get_expr(i.indpred, i.indrelid), pg_get_indexdef(c.oid)
FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid JOIN pg_am AS a ON a.oid = c.relam
WHERE a.amname = 'hnsw'
"""


@pytest.fixture(autouse=True)
def _small_is_large(shop: Shop) -> None:
    shop.workshop.large = LARGE


def _fill(shop: Shop, count: int, space: str = "personal", first: int = 1) -> None:
    numbers = range(first, first + count)
    shop.store.memories.add([make_memory(number, f"Memory {number}.", space=space) for number in numbers])
    shop.work()


def _indexed(shop: Shop) -> list[tuple[object, ...]]:
    return shop.ask("SELECT space, vector_set FROM vector_indexes")


def test_a_space_that_grows_large_gets_an_index(shop: Shop) -> None:
    """From a number of vectors on, a space has an index over its own rows, and the store knows of it."""
    _fill(shop, LARGE - 1)
    assert _indexed(shop) == []
    assert shop.ask(_INDEXES) == []
    _fill(shop, 5, "ours", 100)
    _fill(shop, 1, first=LARGE)
    key = shop.key_of()
    assert _indexed(shop) == [(key, 1)]
    ((name, valid, condition, definition),) = shop.ask(_INDEXES)
    assert (name, valid, condition) == (f"vectors_1_s{key}", True, f"(space = {key})")
    assert "halfvec_ip_ops" in definition
    assert "WITH (m='16', ef_construction='64')" in definition
    assert shop.jobs() == []
    # It has the rows: the partition is the one that the space is in.
    table = definition.split(" ON public.")[1].split(" ")[0]
    assert shop.ask(f"SELECT count(*) FROM {table} WHERE space = %s", key) == [(LARGE,)]


def test_a_space_that_shrinks_loses_its_index(shop: Shop) -> None:
    """Under half the size the index goes, at the next look around; just under the whole size it stays."""
    _fill(shop, LARGE)
    for number in range(1, LARGE // 2 + 1):
        shop.store.memories.change(forget_memory(make_memory(number, f"Memory {number}."), 1000))
    tasks.tend(shop.workshop)
    shop.work()
    assert len(_indexed(shop)) == 1
    shop.store.memories.change(forget_memory(make_memory(LARGE, f"Memory {LARGE}."), 1000))
    tasks.tend(shop.workshop)
    assert [(job.task, job.space) for job in shop.jobs()] == [("index", "personal")]
    shop.work()
    assert _indexed(shop) == []
    assert shop.ask(_INDEXES) == []


def test_a_look_around_finds_what_no_job_told_of(shop: Shop) -> None:
    """A space that was large before there was a worker is found; one with few vectors is looked at in vain."""
    shop.workshop.large = 1000
    _fill(shop, LARGE)
    shop.store.memories.add([make_memory(number, space="ours", sensitive=True) for number in range(100, 100 + LARGE)])
    shop.workshop.large = LARGE
    tasks.tend(shop.workshop)
    shop.work()
    assert _indexed(shop) == [(shop.key_of(), 1)]


def test_what_a_broken_off_build_left_is_made_anew(shop: Shop) -> None:
    """An index that is not valid is dropped and built again; one that is, and was not noted, is noted."""
    _fill(shop, LARGE)
    name = f"vectors_1_s{shop.key_of()}"
    shop.ask("UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass", name)
    shop.ask("DELETE FROM vector_indexes")
    (before,) = shop.ask("SELECT %s::regclass::oid", name)
    assert len(hnsw.carry_out(shop.database, shop.key_of(), LARGE)) == 1
    ((_, valid, *_),) = shop.ask(_INDEXES)
    (after,) = shop.ask("SELECT %s::regclass::oid", name)
    assert valid
    assert after != before
    shop.ask("DELETE FROM vector_indexes")
    assert len(hnsw.carry_out(shop.database, shop.key_of(), LARGE)) == 1
    assert shop.ask("SELECT %s::regclass::oid", name) == [after]
    assert len(_indexed(shop)) == 1
    assert hnsw.carry_out(shop.database, shop.key_of(), LARGE) == []


def test_a_removed_spaces_index_goes_too(shop: Shop) -> None:
    """What is left of the index of a space that is gone is dropped."""
    _fill(shop, LARGE)
    key = shop.key_of()
    shop.ask("DELETE FROM vectors_1 WHERE space = %s", key)
    shop.ask("DELETE FROM spaces WHERE key = %s", key)
    tasks.tend(shop.workshop)
    shop.work()
    assert _indexed(shop) == []
    assert shop.ask(_INDEXES) == []


def test_one_index_of_a_partition_at_a_time(shop: Shop) -> None:
    """While another index of the same partition is built, the job is put back."""
    shop.workshop.large = 1000
    _fill(shop, LARGE)
    key = shop.key_of()
    (partition,) = shop.ask("SELECT tableoid::regclass::text FROM vectors_1 WHERE space = %s LIMIT 1", key)[0]
    with psycopg.connect(shop.url, autocommit=True) as other:
        other.execute("SELECT pg_advisory_lock(hashtext(%s))", (f"recollect hnsw {partition}",))
        with pytest.raises(StoreBusy, match="being built"):
            hnsw.carry_out(shop.database, key, LARGE)
    assert len(hnsw.carry_out(shop.database, key, LARGE)) == 1


def test_a_login_that_does_not_own_the_tables_stays_exact(shop: Shop, caplog: pytest.LogCaptureFixture) -> None:
    """Without the rights to make an index there is none, and the log says what to do; the work goes on."""
    shop.workshop.large = 1000
    _fill(shop, LARGE)
    shop.ask("CREATE ROLE recollect_test_guest LOGIN; GRANT recollect_system TO recollect_test_guest")
    guest = Database.open(shop.url.replace("postgres@", "recollect_test_guest@"), size=1)
    try:
        with caplog.at_level(logging.WARNING):
            assert hnsw.carry_out(guest, shop.key_of(), LARGE) == []
    finally:
        guest.close()
        shop.ask("DROP ROLE recollect_test_guest")
    assert "Run the worker as the login that ran `recollect db upgrade`" in caplog.text
    assert _indexed(shop) == []
