"""The store behind a real PgBouncer in transaction mode, where many clients share two connections to Postgres."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from fakes import ToyEmbedder
from making import change_memory, forget_memory, id_of, make_memory, make_query, ref_of, use_model
from pgbouncer import bounced
from recollect.core.access import Caller
from recollect.core.errors import NotFound, StoreBusy, StoreError
from recollect.core.memory import Link
from recollect.service.embed import embed_waiting
from recollect.service.gate import Gate, Gates
from recollect.service.recall import recall
from recollect.stores.postgres.database import Database
from recollect.stores.postgres.migrate import check, upgrade
from recollect.stores.postgres.store import PostgresStore
from watching import ask

SEVERAL = 8
"""Times to do something: psycopg would have prepared it after five."""
CLIENTS = 4
MINE = """
SELECT current_setting('role'), coalesce(current_setting('recollect.key', true), ''),
       coalesce(current_setting('recollect.admin', true), ''), current_setting('statement_timeout'),
       (SELECT string_agg(id, ' ' ORDER BY id) FROM spaces)
"""


@pytest.fixture
def url(empty_store_database: str) -> str:
    return empty_store_database


@pytest.fixture
def behind(url: str) -> Iterator[str]:
    with bounced(url, pool_size=2) as address:
        yield address


def _make_people(url: str, *people: str) -> None:
    """Make people, each with their own space and a key to administer it."""
    database = Database.open(url, size=1)
    with database.write() as connection:
        for person in people:
            connection.execute("SELECT recollect_make_person(%s, false, 0)", (person,))
            connection.execute(
                "INSERT INTO api_keys (prefix, person, hash, name, scope, created_at) "
                "SELECT id, key, '', '', 'admin', 0 FROM people WHERE id = %s",
                (person,),
            )
    database.close()


def _view(database: Database, person: str) -> Database:
    return database.as_caller(Caller(person, person, "admin", person, {person: "admin"}))


def _live(url: str, number: int) -> None:
    """Do something of everything, as a person over connections of their own, and as the operator."""
    space = f"person {number}"
    database = Database.open(url, size=2)
    store = PostgresStore(_view(database, space), embed_query=Gates(ToyEmbedder).embed_query)
    operator = PostgresStore(database)
    for each in range(number * 100, number * 100 + SEVERAL):
        memory = make_memory(each, f"Note {each} of {number}.", space=space, session="s", place=each)
        store.memories.add([memory])
        store.memories.change(change_memory(memory, 1000, content=f"Note {each} of {number}, mended."))
        embed_waiting(operator, Gate(ToyEmbedder()), space=space)
        answer = recall(store, make_query(f"note {each} mended", space))
        assert id_of(each) in {found.memory.id for found in answer.results}
        assert answer.notices == ()
        assert {found.memory.space for found in answer.results} == {space}
        assert store.memories.history(ref_of(each, space))[0].memory == memory
        if each % 100:
            link = Link(space, id_of(each), "supersedes", id_of(each - 1), memory.created_at)
            assert store.links.add(link)
            assert store.links.among([ref_of(each, space)]) == [link]
            assert store.links.end(link, memory.created_at)
        store.settings.set("depth", 50 + each, space)
        assert store.settings.read(space).whole("depth") == 50 + each
    last = store.memories.get([ref_of(number * 100, space)])[ref_of(number * 100, space)]
    store.memories.change(forget_memory(last, 2000))
    store.memories.purge(ref_of(number * 100, space))
    # What was said after it is read without it from now on.
    assert embed_waiting(operator, Gate(ToyEmbedder()), space=space).kept > 0
    assert [count.memories for count in store.count()] == [SEVERAL - 1]
    operator.close()


def test_the_store_works_behind_it(url: str, behind: str) -> None:
    """Several people write, recall, link, embed and set at once, over fewer connections than there are people."""
    operator = PostgresStore(Database.open(url, size=1))
    use_model(operator)
    _make_people(url, *(f"person {number}" for number in range(1, CLIENTS + 1)))
    with ThreadPoolExecutor(CLIENTS) as clients:
        for client in [clients.submit(_live, behind, number) for number in range(1, CLIENTS + 1)]:
            client.result()
    assert operator.examine(lambda _done, _total: None) == []
    (found,) = operator.vectors.sets()
    assert (found.vectors, found.waiting) == (CLIENTS * (SEVERAL - 1), 0)
    operator.close()


def test_nothing_is_prepared_behind_it(behind: str) -> None:
    """Whatever is done often stays unprepared: the next statement may reach another process."""
    database = Database.open(behind, size=1)
    for _ in range(SEVERAL):
        PostgresStore(database).count()
    with database.pool.connection() as connection:
        assert connection.prepare_threshold is None
        assert connection.execute("SELECT count(*) FROM pg_prepared_statements").fetchone() == (0,)
    database.close()


def _trouble(view: Database, number: int) -> None:
    """End a transaction in one of the ways there are."""
    if number % 3 == 1:
        with pytest.raises(NotFound):
            PostgresStore(view).memories.purge(ref_of(1, "nowhere"))
    elif number % 3 == 2:
        with pytest.raises(StoreBusy), view.read() as connection:
            connection.execute("SET LOCAL statement_timeout = 1; SELECT pg_sleep(60)")


def test_nobody_finds_what_another_left_on_a_connection(url: str, behind: str) -> None:
    """Role, key and limits are those of the transaction's own caller, however the one before it ended."""
    _make_people(url, "ann", "bob", "eve")
    database = Database.open(behind, size=CLIENTS + 1)

    def look(view: Database) -> tuple[object, ...]:
        with view.read() as connection:
            (row,) = connection.execute(MINE).fetchall()
            return row

    def be(person: str) -> None:
        view = _view(database, person)
        for number in range(SEVERAL * 3):
            assert look(view) == ("recollect_app", person, "false", "30s", person)
            _trouble(view, number)

    def operate() -> None:
        for number in range(SEVERAL * 3):
            assert look(database) == ("recollect_system", "", "true", "30s", "ann bob eve")
            _trouble(database, number)

    def look_around() -> None:
        """Be connected to the pooler, and be nobody."""
        with psycopg.connect(behind, autocommit=True, prepare_threshold=None) as connection:
            for _ in range(SEVERAL * 3):
                (row,) = connection.execute(MINE).fetchall()
                assert row[:4] == ("none", "", "", "0")

    deeds: list[Callable[[], None]] = [lambda: be("ann"), lambda: be("bob"), lambda: be("eve"), operate, look_around]
    with ThreadPoolExecutor(len(deeds)) as clients:
        for client in [clients.submit(deed) for deed in deeds]:
            client.result()
    database.close()


def test_an_upgrade_wants_the_database_itself(url: str, behind: str) -> None:
    """Behind a pooler an upgrade's lock would stay on somebody else's connection: it refuses, and holds nothing."""
    check(behind)
    with pytest.raises(StoreError, match="naming the database itself"):
        upgrade(behind)
    assert ask(url, "SELECT 1 FROM pg_locks WHERE locktype = 'advisory'") == []
