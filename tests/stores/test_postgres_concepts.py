"""Concepts on a server: who reads and who writes at once, spaces one after the other, few statements, what is mended.

As in `test_postgres_race`, a lock stands in the way until both stand before it.
"""

import re
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import psycopg
import pytest

from making import at, change_memory, id_of, make_link, make_memory, make_query, ref_of
from recollect.core.concepts import RULES, Extraction, Mention, Relation
from recollect.core.errors import NotAllowed, NotFound
from recollect.core.ports import Waiting
from recollect.core.settings import CONSTANTS, Setting
from recollect.core.spread import TIE_KINDS
from recollect.service.extract import Rules, extract_waiting
from recollect.service.recall import recall
from recollect.stores.postgres.database import Database
from recollect.stores.postgres.store import PostgresStore
from watching import ask, await_waiting, held
from world import World

ALL = 1000
HOLD_SPACE = "SELECT FROM spaces WHERE id = 'personal' FOR UPDATE"
Start = Callable[..., Future[object]]


@pytest.fixture
def url(empty_store_database: str) -> str:
    return empty_store_database


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    opened = PostgresStore(Database.open(url, size=6))
    yield opened
    opened.close()


@pytest.fixture
def start() -> Iterator[Start]:
    with ThreadPoolExecutor(8) as threads:
        yield threads.submit


def _made(waiting: list[Waiting], name: str = "Anna") -> list[tuple[Waiting, Extraction]]:
    return [(each, Extraction((Mention(name),), (Relation(name, "knows", "Berta"),))) for each in waiting]


def _outcomes(*futures: Future[object]) -> list[object]:
    """Give what each came to: its result, or the kind of its error."""
    return [type(future.exception()) if future.exception() else future.result() for future in futures]


def _queued(store: PostgresStore) -> list[str]:
    return sorted(each.memory.id for each in store.concepts.waiting(RULES, ALL))


def _is_healthy(store: PostgresStore) -> bool:
    return store.examine(lambda _done, _total: None) == []


def test_an_extractor_is_given_space_after_space(url: str, store: PostgresStore) -> None:
    """A beginning that was broken off goes on where it stood; what is written meanwhile waits too, each once."""
    store.memories.add([make_memory(n, space=space) for n, space in enumerate(("one", "two", "three"), 1)])
    ask(url, "INSERT INTO extractors (name, queued_to) VALUES (%s, 0)", RULES)
    assert store.concepts.queue_next_space(RULES)
    assert _queued(store) == [id_of(1)]
    assert _is_healthy(store)
    store.memories.add([make_memory(4, space="two"), make_memory(5, space="new")])
    store.concepts.begin(RULES)
    assert _queued(store) == [id_of(n) for n in (1, 2, 3, 4, 5)]
    assert not store.concepts.queue_next_space(RULES)
    assert not store.concepts.queue_next_space("nobody")
    jobs = ask(url, "SELECT count(*) FROM procrastinate_jobs WHERE task_name = 'extract'")
    assert jobs == [(4,)]
    assert extract_waiting(store, Rules()) == 5
    assert _is_healthy(store)


def test_what_is_written_while_an_extractor_is_made_known_waits(url: str, store: PostgresStore, start: Start) -> None:
    """A write that was under way before, and one that had to wait, are both queued."""
    store.memories.add([make_memory(1)])
    with held(url, "LOCK TABLE memories IN EXCLUSIVE MODE"):
        ours = [start(store.memories.add, [make_memory(n, space="personal")]) for n in (2, 3)]
        await_waiting(url, 2)
        begin = start(store.concepts.begin, RULES)
        await_waiting(url, 3)
        later = start(store.memories.add, [make_memory(4)])
        await_waiting(url, 4)
    assert _outcomes(*ours, begin, later) == [None] * 4
    assert _queued(store) == [id_of(n) for n in (1, 2, 3, 4)]


def test_an_edit_under_way_makes_a_reading_worthless(url: str, store: PostgresStore, start: Start) -> None:
    """What was read of the old text is not kept if the edit comes first, and taken away if it comes second."""
    memories = [make_memory(n) for n in (1, 2)]
    store.memories.add(memories)
    store.concepts.begin(RULES)
    old = store.concepts.waiting(RULES, ALL)
    with held(url, HOLD_SPACE):
        first = start(store.memories.change, change_memory(memories[0], 10, content="We met Carla."))
        await_waiting(url, 1)
        keep = start(store.concepts.keep, RULES, _made(old))
        await_waiting(url, 2)
        second = start(store.memories.change, change_memory(memories[1], 10, content="We met Dora."))
        await_waiting(url, 3)
    assert _outcomes(first, keep, second) == [None, 1, None]
    concept = store.concepts.find("personal", "Anna")
    assert concept is not None
    assert (concept.mentions, [said.until for said in concept.relations]) == ((), [at(10)])
    assert _queued(store) == [id_of(1), id_of(2)]
    extract_waiting(store, Rules())
    assert _is_healthy(store)


def test_of_two_that_keep_the_same_one_does(url: str, store: PostgresStore, start: Start) -> None:
    """Each memory is taken out of the queue once, and both workers make one concept of one name."""
    store.memories.add([make_memory(n) for n in (1, 2, 3)])
    store.concepts.begin(RULES)
    waiting = store.concepts.waiting(RULES, ALL)
    with held(url, HOLD_SPACE):
        keeping = [start(store.concepts.keep, RULES, _made(some)) for some in (waiting[:2], waiting[1:])]
        await_waiting(url, 2)
    assert sum(map(int, map(str, _outcomes(*keeping)))) == 3
    assert ask(url, "SELECT name FROM concepts ORDER BY name") == [("Anna",), ("Berta",)]
    assert ask(url, "SELECT count(*) FROM edge_evidence") == [(3,)]


def test_what_is_kept_while_its_extractor_is_dropped_is_gone(url: str, store: PostgresStore, start: Start) -> None:
    """Neither waits for the other in a circle, and nothing is left by an extractor that is no more."""
    store.memories.add([make_memory(1)])
    store.concepts.begin(RULES)
    waiting = store.concepts.waiting(RULES, ALL)
    with held(url, HOLD_SPACE):
        keep = start(store.concepts.keep, RULES, _made(waiting))
        await_waiting(url, 1)
        drop = start(store.concepts.drop, RULES)
        await_waiting(url, 2)
    assert _outcomes(keep, drop) == [1, None]
    for table in ("memory_concepts", "edge_evidence", "concept_edges", "concept_names", "concepts", "unread"):
        assert ask(url, f"SELECT count(*) FROM {table}") == [(0,)]
    assert _outcomes(start(store.concepts.keep, RULES, _made(waiting))) == [NotFound]


def test_what_is_read_of_a_space_that_is_gone_is_not_kept(url: str, store: PostgresStore) -> None:
    """The rest of the same batch is."""
    store.memories.add([make_memory(1), make_memory(2, space="ours")])
    store.concepts.begin(RULES)
    waiting = store.concepts.waiting(RULES, ALL)
    ask(url, "SELECT recollect_erase_space(key) FROM spaces WHERE id = 'ours'")
    assert store.concepts.keep(RULES, _made(waiting)) == 1
    assert store.concepts.load("import", {ref_of(2, "ours"): Extraction((Mention("Anna"),))}) == 0


def test_a_recall_asks_twice_for_what_memories_share(store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many ties, and kinds of them, there are: one statement for the best two, and one for all they share."""
    texts = ["We met Anna, not in Oslo.", "There is a letter from Anna.", "Oslo is a town.", "A town is near."]
    store.memories.add([make_memory(n, text) for n, text in enumerate(texts, 1)])
    extract_waiting(store, Rules())
    store.links.add(make_link(1, "see-also", 4))
    for kind in TIE_KINDS:
        monkeypatch.setitem(CONSTANTS, f"spread.{kind}", Setting(1.0, "as asked", most=5))
    asked: list[str] = []
    execute = psycopg.Connection.execute

    def count(self: psycopg.Connection, query: str, *arguments: object, **options: object) -> object:
        asked.append(str(query))
        return execute(self, query, *arguments, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(psycopg.Connection, "execute", count)
    query = make_query("Where did we meet Anna?")
    answer = recall(store, query)
    assert {way.kind for ways in answer.trace.ways.values() for way in ways} == {"names", "terms", "links"}
    assert len([each for each in asked if "memory_concepts" in each or "AS unchanged" in each]) == 2
    assert len([each for each in asked if "concept_names" in each]) == 1


def test_names_are_given_by_those_who_may_write(world: World) -> None:
    """A reader finds a concept and gives it no name; a stranger finds none; who writes is noted."""
    operator = PostgresStore(world.database)
    operator.memories.add([make_memory(1, "We met Anna.", space="team")])
    extract_waiting(operator, Rules())
    reader, writer = (PostgresStore(world.as_(world.caller(person))) for person in ("bob", "ana"))
    stranger = PostgresStore(world.as_(world.caller("eve")))
    assert reader.concepts.find("team", "Anna") == writer.concepts.find("team", "Anna") is not None
    assert stranger.concepts.find("team", "Anna") is None
    assert not stranger.concepts.knows(["team"], ["Anna"])
    assert stranger.concepts.ties([ref_of(1, "team")], TIE_KINDS) == {ref_of(1, "team"): []}
    for other in (reader, stranger):
        with pytest.raises(NotFound):
            other.concepts.alias("team", "Anna", "Annie")
        with pytest.raises(NotAllowed):
            other.concepts.begin("another")
    writer.concepts.alias("team", "Anna", "Annie")
    assert [(entry.person, entry.deed) for entry in world.operator.audit("team", 1)] == [("ana", "named a concept")]


@pytest.fixture
def world(url: str) -> Iterator[World]:
    database = Database.open(url, size=4)
    made = World(database)
    made.populate()
    yield made
    database.close()


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("DELETE FROM memory_concepts WHERE memory = 1", "are not those in their text, and which wait for nobody: 1"),
        ("UPDATE concept_names SET folded = 'x' WHERE folded = 'anna'", "which wait for nobody: 2"),
        ("INSERT INTO memory_concepts VALUES (1, 3, 1, 1, 'name')", "nobody may read, or that are gone, .*: 1"),
        ("INSERT INTO memory_concepts VALUES (1, 77, 1, 1, 'name')", "nobody may read, or that are gone, .*: 1"),
        ("INSERT INTO memory_concepts VALUES (1, 1, 1, 77, 'name')", "nobody may read, or that are gone, .*: 1"),
        ("INSERT INTO edge_evidence VALUES (1, 1, 4, 2, NULL)", "nobody may read, or that are gone, .*: 1"),
        ("INSERT INTO memory_concepts VALUES (1, 1, 77, 1, 'name')", "nobody may read, or that are gone, .*: 1"),
        ("INSERT INTO concept_names VALUES (1, 77, false, 'nobody')", "lead to no concept: 1"),
        ("DELETE FROM edge_evidence", "that no memory states: 1"),
        ("INSERT INTO unread VALUES (1, 1, 3, 1)", "no memory which may be read: 1"),
        ("INSERT INTO unread VALUES (1, 77, 1, 1)", "no memory which may be read: 1"),
    ],
)
def test_concepts_that_do_not_belong_are_found_and_mended(
    url: str, store: PostgresStore, statement: str, problem: str
) -> None:
    """What was read too much or too little is told; mending removes it, and what is missing waits and is read."""
    texts = ["We met Anna.", "They met Anna.", "The code is Zebra."]
    store.memories.add([make_memory(n, text, sensitive=n == 3) for n, text in enumerate(texts, 1)])
    extract_waiting(store, Rules())
    store.concepts.load("import", {ref_of(2): Extraction((), (Relation("Anna", "knows", "Berta"),))})
    assert _is_healthy(store)
    ask(url, statement)
    (found, *_) = store.examine(lambda _done, _total: None)
    assert re.search(problem, found.what)
    assert "--mend" in found.remedy
    store.mend()
    assert _is_healthy(store)
    extract_waiting(store, Rules())
    assert _is_healthy(store)
    concept = store.concepts.find("personal", "Anna")
    assert concept is not None
    assert {ref for ref, _ in concept.mentions} == {ref_of(1), ref_of(2)}
