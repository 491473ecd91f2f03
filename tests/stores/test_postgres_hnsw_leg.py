"""The dense leg over a space that has an HNSW index: it is used, scores are exact, and an explanation says so."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import pytest
from psycopg.errors import Diagnostic

from callers import open_walled
from fakes import ToyEmbedder
from making import at, make_memory, make_query, use_model
from postgres import made_database
from recollect.core.access import Caller
from recollect.core.hits import Hit
from recollect.core.query import Query
from recollect.core.vectors import pack
from recollect.service.gate import Gates
from recollect.stores.postgres import dense, hnsw
from recollect.stores.postgres.database import Database
from recollect.stores.postgres.store import PostgresStore
from watching import ask

SIZE: Final = 2000
DIMENSION: Final = 384
DEPTH: Final = 10
EF_SEARCH: Final = 20
"""Enough to find the best ten of so few; with a longer search the planner would rather compare all."""
SEVERAL: Final = 8
"""Searches until psycopg has prepared the statement, which it does after five, and Postgres planned it for all."""
QUERY: Final = make_query("a query")

# Memories like the first one. Their vectors differ in few of their dimensions, as those of real texts do, and are the
# same every time.
_FILL: Final = """
SELECT setseed(0.5);
INSERT INTO memories
SELECT m.space, m.key + g, md5(g::text)::uuid, NULL, m.project, NULL, NULL, m.category, m.created_at, m.updated_at,
       m.importance, m.sensitive, 1, m.action, m.length, m.change, m.indexed_at, m.tags, m.keywords, m.content
FROM memories AS m, generate_series(1, {size}) AS g;
INSERT INTO vectors_1
SELECT m.space, m.key, l2_normalize(ARRAY(
    SELECT CASE WHEN i <= 12 THEN random() - 0.5 + 0 * m.key ELSE 0 END FROM generate_series(1, {dimension}) AS i
)::vector)::halfvec
FROM memories AS m WHERE m.key > 1;
UPDATE spaces SET memories = {size} + 1 WHERE id = 'personal';
ANALYZE memories, vectors_1
"""
_EXPLAIN: Final = """
ALTER DATABASE {database} SET session_preload_libraries = 'auto_explain';
ALTER DATABASE {database} SET auto_explain.log_min_duration = 0;
ALTER DATABASE {database} SET auto_explain.log_level = 'notice'
"""


@dataclass
class Plans:
    """How Postgres carried out the statements of a pool's only connection, as it says itself."""

    shown: list[str] = field(default_factory=list)

    def of(self, search: Callable[[], object]) -> str:
        """Give the plans of what a search asks of the vectors."""
        self.shown.clear()
        search()
        return "\n".join(plan for plan in self.shown if re.search(r"Scan .*on vectors_1", plan))

    def note(self, diagnostic: Diagnostic) -> None:
        self.shown.append(diagnostic.message_primary or "")


def _embedder(model: str) -> ToyEmbedder:
    return ToyEmbedder(model, DIMENSION)


@pytest.fixture(scope="module")
def url(postgres_url: str, template_database: str) -> Iterator[str]:
    """Give a database with a space that is large for these tests, and that says how it carries statements out."""
    with made_database(postgres_url, f"TEMPLATE {template_database}") as made, pytest.MonkeyPatch.context() as patch:
        patch.setattr(dense, "EF_SEARCH", EF_SEARCH)
        store = open_walled(made, ["personal", "ours"])
        store.memories.add([make_memory(1)])
        use_model(store)
        (waiting,) = store.vectors.waiting("toy", 1)
        store.vectors.keep("toy", [(waiting, pack(_embedder("toy").vector("one")))])
        store.close()
        ask(made, _FILL.format(size=SIZE, dimension=DIMENSION))
        ask(made, _EXPLAIN.format(database=made.rpartition("/")[2]))
        yield made


@pytest.fixture(scope="module")
def exact(url: str) -> list[Hit]:
    """Give what comparing all finds, while there is no index."""
    database = Database.open(url, size=1)
    found = _search(_open(database), depth=SIZE + 1)
    database.close()
    assert len(found) == SIZE + 1
    return found


@pytest.fixture(scope="module")
def index(url: str, exact: list[Hit]) -> str:  # noqa: ARG001 - comes first
    """Have the worker's own code make the index, and give its name."""
    database = Database.open(url, size=1)
    name = _carry_out(database, SIZE)
    database.close()
    return name


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    """Give a database over one connection, so that what is prepared is used again."""
    opened = Database.open(url, size=1)
    yield opened
    opened.close()


@pytest.fixture
def store(database: Database) -> PostgresStore:
    return _open(database)


def _open(database: Database) -> PostgresStore:
    """Open a store as a caller has it, behind the walls."""
    caller = Caller("tester", "tester", "admin", "personal", {"personal": "admin", "ours": "admin"})
    return PostgresStore(database.as_caller(caller), embed_query=Gates(_embedder).embed_query)


@pytest.fixture
def plans(database: Database) -> Plans:
    noted = Plans()
    with database.pool.connection() as connection:
        connection.add_notice_handler(noted.note)
    return noted


def _search(store: PostgresStore, query: Query = QUERY, depth: int = DEPTH) -> list[Hit]:
    (leg,) = [leg for leg in store.legs if leg.name == "dense"]
    return list(leg.search(query, depth, 30.0))


def _carry_out(database: Database, large: int) -> str:
    """Make or drop the index of the space, as it is due, and give its name."""
    with database.read() as connection:
        ((space,),) = connection.execute("SELECT key FROM spaces WHERE id = 'personal'").fetchall()
    (change,) = hnsw.carry_out(database, space, large)
    return f"vectors_{change.vector_set}_s{space}"


def _explain(store: PostgresStore, hit: Hit) -> str:
    (leg,) = [leg for leg in store.legs if leg.name == "dense"]
    return leg.weigh(QUERY, hit.ref).summary


def test_the_index_is_used(database: Database, store: PostgresStore, index: str, plans: Plans) -> None:
    """The very statement of the leg goes through the index: the first time, prepared, and planned for any vector."""
    for _ in range(SEVERAL):
        assert f"Index Scan using {index}" in plans.of(lambda: _search(store))
    with database.pool.connection() as connection:
        prepared = connection.execute(
            "SELECT generic_plans FROM pg_prepared_statements WHERE statement ~ 'vectors_1 .*LIMIT 10'"
        ).fetchall()
    assert len(prepared) == 1
    assert prepared[0][0] > 0


def test_what_the_index_brings_is_scored_and_sorted_exactly(
    store: PostgresStore, exact: list[Hit], index: str, plans: Plans
) -> None:
    """Hits have the scores and the order that comparing all gives them, and few of the best are missed."""
    hits: list[Hit] = []
    assert index in plans.of(lambda: hits.extend(_search(store)))
    assert hits == [hit for hit in exact if hit in hits]
    assert len(set(hits) & set(exact[:DEPTH])) >= DEPTH - 2


@pytest.mark.usefixtures("index")
def test_what_is_excluded_makes_room_for_others(store: PostgresStore) -> None:
    """Through the index too, as many are found without those that the prompt holds already."""
    first = _search(store)
    others = _search(store, make_query(QUERY.text, exclude=frozenset(hit.ref.id for hit in first)))
    assert len(others) == DEPTH
    assert not {hit.ref for hit in others} & {hit.ref for hit in first}


@pytest.mark.usefixtures("index")
def test_an_explanation_names_the_index(store: PostgresStore, exact: list[Hit]) -> None:
    """Why a memory scores as it does includes how its space was searched."""
    assert f"searched through an HNSW index, ef_search {EF_SEARCH + SIZE // 1000}" in _explain(store, exact[0])


@pytest.mark.usefixtures("index")
def test_a_larger_space_is_looked_about_in_further(
    store: PostgresStore, exact: list[Hit], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index is searched the further the more memories the space has, as it would find less otherwise."""
    for growth, ef_search in ((100, EF_SEARCH + SIZE // 100), (1, 1000)):
        monkeypatch.setattr(dense, "EF_GROWTH", growth)
        assert _explain(store, exact[0]).endswith(f"ef_search {ef_search}")


@pytest.mark.parametrize("narrowing", [{"categories": frozenset({"facts"})}, {"as_of": at(1000)}, {"project": "p"}])
def test_part_of_a_space_is_compared_one_by_one(
    store: PostgresStore, exact: list[Hit], index: str, plans: Plans, narrowing: dict[str, Any]
) -> None:
    """A narrower scope is searched exactly, index or not: the index knows nothing of scopes."""
    hits: list[Hit] = []
    plan = plans.of(lambda: hits.extend(_search(store, make_query(QUERY.text, **narrowing))))
    assert plan
    assert index not in plan
    assert hits == exact[:DEPTH]


def test_other_spaces_do_not_use_it(store: PostgresStore, index: str, plans: Plans) -> None:
    """The index is of one space; another one in the same recall is compared."""
    plan = plans.of(lambda: _search(store, make_query(QUERY.text, "personal", "ours")))
    assert plan.count(f"Index Scan using {index}") == 1
    assert plan.count("Query Text") == 2


def test_an_index_that_was_dropped_is_no_longer_counted_on(
    database: Database, store: PostgresStore, exact: list[Hit], index: str, plans: Plans
) -> None:
    """A space that has shrunk is compared one by one again, also over a connection that knew the index."""
    for _ in range(SEVERAL):
        _search(store)
    assert _carry_out(database, 3 * SIZE) == index
    hits: list[Hit] = []
    assert index not in plans.of(lambda: hits.extend(_search(store)))
    assert hits == exact[:DEPTH]
    assert "HNSW" not in _explain(store, hits[0])
    # The tests after this one have it again.
    assert _carry_out(database, SIZE) == index
