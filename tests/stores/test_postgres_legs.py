"""A leg's trouble is its own: a recall goes on in its transaction, and says what it left out."""

from collections.abc import Iterator

import pytest

from callers import open_walled
from fakes import ToyEmbedder
from making import make_memory, make_query
from recollect.core.errors import LegTimeout, StoreAway
from recollect.core.hits import LegAnswer
from recollect.core.query import Query
from recollect.service.ask import ask_legs
from recollect.service.embed import build
from recollect.service.gate import Gate, Gates
from recollect.service.recall import Recall, recall
from recollect.stores.postgres.database import Database
from recollect.stores.postgres.store import PostgresStore
from watching import ask, held

STATE = "SELECT pg_current_snapshot()::text, now(), current_setting('statement_timeout')"
QUERY = make_query("deploys on tuesdays")


@pytest.fixture
def url(cloned_database: str) -> str:
    """Give a database of our own: one whose tables are broken is not to be used again."""
    return cloned_database


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    """Give a store as a caller has it, with two memories and their vectors."""
    opened = open_walled(url, ["personal"], embed_query=Gates(ToyEmbedder).embed_query)
    opened.memories.add([make_memory(1), make_memory(2, "Figs ripen in August.")])
    build(opened, Gate(ToyEmbedder()))
    opened.settings.set("leg-timeout-ms", 500)
    yield opened
    opened.close()


def _found(answer: Recall) -> list[str]:
    return [found.memory.content for found in answer.results]


def _answers(answers: tuple[LegAnswer, ...]) -> dict[str, bool]:
    """Say which legs answered."""
    return {answer.leg: answer.failure is None for answer in answers}


def _break(url: str, table: str) -> None:
    ask(url, f"ALTER TABLE {table} RENAME TO gone")


def test_without_trouble_every_leg_answers(store: PostgresStore) -> None:
    """Nothing is left out, and nothing is said."""
    answer = recall(store, QUERY)
    assert answer.notices == ()
    assert {each.leg for each in answer.trace.answers} >= {"lexical", "dense"}


@pytest.mark.parametrize(
    ("table", "broken", "other"), [("vectors_1", "dense", "lexical"), ("postings", "lexical", "dense")]
)
def test_a_leg_that_fails_is_left_out(url: str, store: PostgresStore, table: str, broken: str, other: str) -> None:
    """Where a leg's table is gone, the others answer, and a notice says which leg is missing and why."""
    _break(url, table)
    answer = recall(store, QUERY)
    assert "Deploys run on Tuesdays." in _found(answer)
    (notice,) = [notice for notice in answer.notices if broken in notice]
    assert f"{broken} was left out" in notice
    assert table in notice
    assert _answers(answer.trace.answers)[other]


def test_a_leg_that_is_held_up_is_left_out(url: str, store: PostgresStore) -> None:
    """A leg that stands before a locked table past its time is left out, and the rest answers."""
    with held(url, "LOCK TABLE vectors_1"):
        answer = recall(store, QUERY)
    assert answer.notices == ("dense was left out: it took longer than 500 ms.",)
    assert "Deploys run on Tuesdays." in _found(answer)


def test_a_spread_that_fails_is_left_out(url: str, store: PostgresStore) -> None:
    """Where what memories share cannot be read, what the legs found is the answer, and a notice says so."""
    _break(url, "memory_concepts")
    answer = recall(store, QUERY)
    assert "Deploys run on Tuesdays." in _found(answer)
    (notice,) = answer.notices
    assert notice.startswith("spread was left out: it failed:")
    assert "memory_concepts" in notice


def test_a_spread_that_is_held_up_is_left_out(url: str, store: PostgresStore) -> None:
    """What memories share is waited for no longer than a leg is."""
    with held(url, "LOCK TABLE memory_concepts"):
        answer = recall(store, QUERY)
    assert answer.notices == ("spread was left out: it took longer than 500 ms.",)
    assert "Deploys run on Tuesdays." in _found(answer)


def test_the_next_recall_is_not_touched(url: str, store: PostgresStore) -> None:
    """What was wrong with a leg once is forgotten once it is mended."""
    _break(url, "vectors_1")
    recall(store, QUERY)
    ask(url, "ALTER TABLE gone RENAME TO vectors_1")
    assert recall(store, QUERY).notices == ()


@pytest.mark.parametrize("broken", [["vectors_1"], ["postings"], ["vectors_1", "postings"], []])
def test_the_transaction_goes_on_as_it_was(url: str, broken: list[str]) -> None:
    """After legs that answered or failed, in any order, the reading is of the same state and has its own time limit."""
    database = Database.open(url, size=1, seconds=20)
    store = PostgresStore(database, embed_query=Gates(ToyEmbedder).embed_query)
    store.memories.add([make_memory(1)])
    build(store, Gate(ToyEmbedder()))
    for number, table in enumerate(broken):
        ask(url, f"ALTER TABLE {table} RENAME TO gone_{number}")
    with store.reading(QUERY):
        before = _state(database)
        ask(url, "INSERT INTO spaces (id) VALUES ('since then')")
        first = ask_legs(store.legs, QUERY, 10, 5.0, in_turn=True)
        again = ask_legs(store.legs[::-1], QUERY, 10, 5.0, in_turn=True)
        assert _state(database) == before
    assert (
        _answers(first)
        == _answers(again)
        == {"lexical": "postings" not in broken, "dense": "vectors_1" not in broken, "exact": "postings" not in broken}
    )
    store.close()


def _state(database: Database) -> tuple[object, ...]:
    with database.read() as connection:
        (row,) = connection.execute(STATE).fetchall()
    assert row[2] == "20s"
    return row


def test_a_leg_alone_has_its_time_too(url: str, store: PostgresStore) -> None:
    """Outside of a recall, as in an explanation, a leg that runs past its time says so."""
    (dense,) = [leg for leg in store.legs if leg.name == "dense"]
    with held(url, "LOCK TABLE vectors_1"), pytest.raises(LegTimeout, match="longer than 50 ms"):
        dense.search(QUERY, 10, 0.05)
    assert dense.search(QUERY, 10, 5.0) != []


def test_a_connection_that_is_lost_is_no_empty_answer(url: str) -> None:
    """Where the connection breaks in the middle of a recall, it ends in an error and not with nothing found."""
    database = Database.open(url, size=1)
    store = PostgresStore(database)
    store.memories.add([make_memory(1)])

    def lose() -> None:
        ask(
            url,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
            "AND datname = current_database() AND state = 'idle in transaction'",
        )

    with pytest.raises(StoreAway):
        _recall_and(store, QUERY, lose)
    assert _found(recall(store, QUERY)) == ["Deploys run on Tuesdays."]
    store.close()


def _recall_and(store: PostgresStore, query: Query, meanwhile: object) -> None:
    with store.reading(query):
        assert callable(meanwhile)
        meanwhile()
        answers = ask_legs(store.legs, query, 10, 5.0, in_turn=True)
        assert not any(_answers(answers).values())
