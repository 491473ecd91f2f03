"""Two at once. Each test holds a lock in the way until both stand before it, so that they meet as they are meant to."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from fakes import TOY_DIMENSION, ToyEmbedder
from making import change_memory, id_of, make_memory, ref_of
from recollect.core.errors import Conflict, NotFound
from recollect.core.memory import Memory
from recollect.core.ports import Waiting
from recollect.core.vectors import pack
from recollect.service.embed import build
from recollect.service.gate import Gate
from recollect.stores.postgres.database import Database
from recollect.stores.postgres.store import PostgresStore
from watching import ask, await_waiting, held

ALL = 1000
HOLD_SPACE = "SELECT FROM spaces WHERE id = %s FOR UPDATE"
HOLD_QUEUE = "SELECT FROM outbox WHERE space = (SELECT key FROM spaces WHERE id = %s) FOR UPDATE"


@pytest.fixture
def url(empty_store_database: str) -> str:
    return empty_store_database


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    opened = PostgresStore(Database.open(url, size=6))
    yield opened
    opened.close()


@pytest.fixture
def start() -> Iterator[Callable[..., Future[object]]]:
    with ThreadPoolExecutor(8) as threads:
        yield threads.submit


def _made(waiting: list[Waiting]) -> list[tuple[Waiting, bytes]]:
    return [(each, pack([1.0] + [0.0] * (TOY_DIMENSION - 1))) for each in waiting]


def _outcomes(*futures: Future[object]) -> list[object]:
    """Give what each came to: its result, or the kind of its error."""
    return [type(future.exception()) if future.exception() else future.result() for future in futures]


def _queued(store: PostgresStore, model: str = "toy") -> list[str]:
    return sorted(each.memory.id for each in store.vectors.waiting(model, ALL))


def _vectors(url: str) -> int:
    return int(ask(url, "SELECT count(*) FROM vectors_1")[0][0])


def test_an_edit_under_way_makes_a_vector_worthless(
    url: str, store: PostgresStore, start: Callable[..., Future[object]]
) -> None:
    """A vector of the old text that comes while the edit has not ended yet is not kept, and the memory waits anew."""
    store.memories.add([make_memory(1), make_memory(2, space="ours")])
    build(store, Gate(ToyEmbedder("other")))
    store.vectors.begin("toy")
    old = store.vectors.waiting("toy", ALL, "personal")
    # The edit has queued the memory anew, and then wants to take away the vector of the other set, which is held.
    with held(url, "SELECT FROM vectors_1 FOR UPDATE"):
        edit = start(store.memories.change, change_memory(make_memory(1), 10, content="Deploys run on Mondays."))
        await_waiting(url, 1)
        keep = start(store.vectors.keep, "toy", _made(old))
        await_waiting(url, 2)
    assert _outcomes(edit, keep) == [None, 0]
    (again,) = store.vectors.waiting("toy", ALL, "personal")
    assert again.memory.content == "Deploys run on Mondays."
    assert again.ticket > old[0].ticket
    assert store.examine(lambda _done, _total: None) == []


def test_an_edit_takes_away_a_vector_that_is_just_being_kept(
    url: str, store: PostgresStore, start: Callable[..., Future[object]]
) -> None:
    """An edit waits for the vector of the old text, even the first of all, and then removes it."""
    store.memories.add([make_memory(1, space="another"), make_memory(2)])
    store.vectors.begin("toy")
    old = store.vectors.waiting("toy", ALL)
    # The vector of the first has been made and kept, and the second is held.
    with held(url, HOLD_QUEUE, "personal"):
        keep = start(store.vectors.keep, "toy", _made(old))
        await_waiting(url, 1)
        changed = change_memory(make_memory(1, space="another"), 10, content="Deploys run on Mondays.")
        edit = start(store.memories.change, changed)
        await_waiting(url, 2)
    assert _outcomes(keep, edit) == [2, None]
    assert _queued(store) == [id_of(1)]
    assert _vectors(url) == 1
    assert store.examine(lambda _done, _total: None) == []


def test_a_purge_takes_away_a_vector_that_is_just_being_kept(
    url: str, store: PostgresStore, start: Callable[..., Future[object]]
) -> None:
    """What is removed for good leaves no vector, whoever was about to keep one."""
    store.memories.add([make_memory(1, space="another"), make_memory(2)])
    store.vectors.begin("toy")
    with held(url, HOLD_QUEUE, "personal"):
        keep = start(store.vectors.keep, "toy", _made(store.vectors.waiting("toy", ALL)))
        await_waiting(url, 1)
        purge = start(store.memories.purge, ref_of(1, "another"))
        await_waiting(url, 2)
    assert _outcomes(keep, purge) == [2, None]
    assert _vectors(url) == 1
    assert store.examine(lambda _done, _total: None) == []


def test_a_purge_misses_no_state_that_is_just_being_written(
    url: str, store: PostgresStore, start: Callable[..., Future[object]]
) -> None:
    """The words of an edit that a purge had to wait for are removed with the memory."""
    store.memories.add([make_memory(1)])
    with held(url, HOLD_SPACE, "personal"):
        futures = [start(store.memories.change, change_memory(make_memory(1), 10, content="Figs and plums."))]
        await_waiting(url, 1)
        futures.append(start(store.memories.purge, ref_of(1)))
        await_waiting(url, 2)
    assert _outcomes(*futures) == [None, None]
    assert ask(url, "SELECT count(*) FROM postings") == [(0,)]
    assert store.examine(lambda _done, _total: None) == []


def test_an_edit_and_a_worker_take_the_queue_in_one_order(
    url: str, store: PostgresStore, start: Callable[..., Future[object]]
) -> None:
    """An edit that takes several out of the queue and a worker that keeps their vectors do not wait in a circle."""
    turns = [make_memory(number, f"Turn {number}.", session="s", place=number) for number in (1, 2, 3)]
    store.memories.add(turns)
    store.vectors.begin("toy")
    waiting = store.vectors.waiting("toy", ALL)
    # As the rows lie in the table now, whoever reads it from the start meets the last one first.
    rows = ask(url, "DELETE FROM outbox RETURNING space, vector_set, memory, change")
    for row in sorted(rows, reverse=True):
        ask(url, "INSERT INTO outbox VALUES (%s, %s, %s, %s)", *row)
    ask(url, "VACUUM ANALYZE outbox")
    with held(url, "SELECT FROM outbox WHERE memory = 2 FOR UPDATE"):
        keep = start(store.vectors.keep, "toy", _made(waiting))
        await_waiting(url, 1)
        edit = start(store.memories.change, change_memory(turns[0], 10, content="Turn one."))
        await_waiting(url, 2)
    assert _outcomes(keep, edit) == [3, None]
    assert len(_queued(store)) == 3
    assert store.examine(lambda _done, _total: None) == []


def test_of_two_that_keep_the_same_vector_one_does(
    url: str, store: PostgresStore, start: Callable[..., Future[object]]
) -> None:
    """Each memory is taken out of the queue once, and has one vector."""
    store.memories.add([make_memory(n) for n in (1, 2)])
    store.vectors.begin("toy")
    waiting = store.vectors.waiting("toy", ALL)
    with held(url, HOLD_QUEUE, "personal"):
        keeping = [start(store.vectors.keep, "toy", _made(waiting)) for _ in range(2)]
        await_waiting(url, 2)
    assert sorted(map(int, map(str, _outcomes(*keeping)))) == [0, 2]
    assert _vectors(url) == 2


def test_the_table_of_a_set_is_made_once(url: str, store: PostgresStore, start: Callable[..., Future[object]]) -> None:
    """Of two workers that bring the first vectors of a set, one makes its table, and both keep theirs."""
    store.memories.add([make_memory(n) for n in (1, 2)])
    store.vectors.begin("toy")
    one, other = store.vectors.waiting("toy", ALL)
    with held(url, "SELECT FROM vector_sets FOR UPDATE"):
        keeping = [start(store.vectors.keep, "toy", _made([each])) for each in (one, other)]
        await_waiting(url, 2)
    assert _outcomes(*keeping) == [1, 1]
    assert (_vectors(url), _queued(store)) == (2, [])


def test_of_two_that_add_the_same_id_one_does(
    url: str, store: PostgresStore, start: Callable[..., Future[object]]
) -> None:
    """The other is told that the id is taken, and nothing of it is left."""
    store.memories.add([make_memory(9)])
    with held(url, HOLD_SPACE, "personal"):
        adding = [start(store.memories.add, [make_memory(1, f"{word} figs")]) for word in ("sour", "sweet")]
        await_waiting(url, 2)
    assert sorted(_outcomes(*adding), key=str) == [Conflict, None]
    assert len(store.memories.history(ref_of(1))) == 1
    assert store.examine(lambda _done, _total: None) == []


def test_of_two_that_change_the_same_version_one_does(
    url: str, store: PostgresStore, start: Callable[..., Future[object]]
) -> None:
    """The other is told that it was changed meanwhile."""
    store.memories.add([make_memory(1)])
    with held(url, HOLD_SPACE, "personal"):
        changing = [
            start(store.memories.change, change_memory(make_memory(1), seconds, content=f"At {seconds}."))
            for seconds in (10, 20)
        ]
        await_waiting(url, 2)
    assert sorted(_outcomes(*changing), key=str) == [Conflict, None]
    assert len(store.memories.history(ref_of(1))) == 2
    assert store.examine(lambda _done, _total: None) == []


def test_two_that_make_the_same_space_both_write_to_it(
    url: str, store: PostgresStore, start: Callable[..., Future[object]]
) -> None:
    """What the operator adds to a space that somebody else is just making lands there."""
    with held(url, "INSERT INTO spaces (id) VALUES ('personal')"):
        adding = [start(store.memories.add, [make_memory(n)]) for n in (1, 2)]
        await_waiting(url, 2)
    assert _outcomes(*adding) == [None, None]
    assert [count.memories for count in store.count()] == [2]


@pytest.mark.parametrize("first", ["begin", "add"])
def test_what_is_added_while_a_set_is_made_waits_for_it(
    url: str, store: PostgresStore, start: Callable[..., Future[object]], first: str
) -> None:
    """A memory whose writer stands before the same lock as the one who makes a set is queued, whoever goes first."""
    store.memories.add([make_memory(1)])
    deeds: dict[str, Callable[[], Future[object]]] = {
        "begin": lambda: start(store.vectors.begin, "toy"),
        "add": lambda: start(store.memories.add, [make_memory(2)]),
    }
    with held(url, HOLD_SPACE, "personal"):
        futures = [deeds.pop(first)()]
        await_waiting(url, 1)
        futures.append(deeds.popitem()[1]())
        await_waiting(url, 2)
    assert _outcomes(*futures) == [None, None]
    assert _queued(store) == [id_of(1), id_of(2)]
    assert store.examine(lambda _done, _total: None) == []


def test_what_is_added_to_a_space_that_is_just_made_waits_too(
    url: str, store: PostgresStore, start: Callable[..., Future[object]]
) -> None:
    """Whoever makes a set also sees the memories of a space that was not there yet when they began."""
    store.memories.add([make_memory(1)])
    with held(url, HOLD_SPACE, "personal"):
        # The new space has been made, and the other one is held.
        futures = [start(store.memories.add, [make_memory(2, space="another"), make_memory(3)])]
        await_waiting(url, 1)
        futures.append(start(store.vectors.begin, "toy"))
        await_waiting(url, 2)
    assert _outcomes(*futures) == [None, None]
    assert _queued(store) == [id_of(1), id_of(2), id_of(3)]


def test_all_that_is_written_while_a_set_is_made_waits_for_it_once(
    store: PostgresStore, start: Callable[..., Future[object]]
) -> None:
    """Writers that add, edit and forget at full speed while two sets are made leave no memory out and none twice."""
    began = threading.Barrier(5)

    def write(writer: int) -> None:
        began.wait()
        space = "personal" if writer % 2 else "ours"
        for number in range(writer * 100, writer * 100 + 12):
            memory = make_memory(number, space=space)
            store.memories.add([memory])
            if number % 3 == 0:
                store.memories.change(change_memory(memory, 1000, content="Deploys run on Mondays."))

    def begin() -> None:
        began.wait()
        for model in ("toy", "other"):
            store.vectors.begin(model)

    futures = [start(begin), *(start(write, writer) for writer in range(1, 5))]
    assert _outcomes(*futures) == [None] * 5
    for model in ("toy", "other"):
        assert len(_queued(store, model)) == len(set(_queued(store, model))) == 48
    assert store.examine(lambda _done, _total: None) == []


def test_those_who_need_several_spaces_take_them_in_one_order(
    url: str, store: PostgresStore, start: Callable[..., Future[object]]
) -> None:
    """Adding to several spaces, making a set, dropping one and mending hold them all, and never wait in a circle."""
    spaces = ("a", "m", "z")
    # Made in the other order, so that it matters by what they are ordered.
    for number, space in enumerate(reversed(spaces), start=1):
        store.memories.add([make_memory(number, space=space)])
    store.vectors.begin("old")

    def memories(first: int, order: tuple[str, ...]) -> list[Memory]:
        return [make_memory(number, space=space) for number, space in enumerate(order, start=first)]

    with held(url, HOLD_SPACE, "m"):
        futures = [
            start(store.memories.add, memories(10, spaces)),
            start(store.vectors.begin, "toy"),
            start(store.memories.add, memories(20, spaces[::-1])),
            start(store.vectors.drop, "old"),
            start(store.mend),
        ]
        await_waiting(url, len(futures))
    assert _outcomes(*futures) == [None] * len(futures)
    assert len(_queued(store)) == 9
    assert store.examine(lambda _done, _total: None) == []


def test_a_set_may_be_dropped_while_memories_are_edited(
    url: str, store: PostgresStore, start: Callable[..., Future[object]]
) -> None:
    """Whoever is about to remove a vector from a set finds the set there."""
    store.memories.add([make_memory(1)])
    for model in ("toy", "other"):
        build(store, Gate(ToyEmbedder(model)))
    # The edit has seen both sets, and stands before the vector in the first.
    with held(url, "SELECT FROM vectors_1 FOR UPDATE"):
        edit = start(store.memories.change, change_memory(make_memory(1), 10, content="Deploys run on Mondays."))
        await_waiting(url, 1)
        store.vectors.switch("toy")
        drop = start(store.vectors.drop, "other")
        await_waiting(url, 2)
    assert _outcomes(edit, drop) == [None, None]
    assert [each.model for each in store.vectors.sets()] == ["toy"]
    assert store.examine(lambda _done, _total: None) == []


def test_a_worker_learns_that_its_set_was_dropped(
    url: str, store: PostgresStore, start: Callable[..., Future[object]]
) -> None:
    """Keeping a vector of a set that is just being dropped says that the set is not there."""
    store.memories.add([make_memory(1)])
    store.vectors.begin("toy")
    waiting = store.vectors.waiting("toy", ALL)
    with held(url, HOLD_QUEUE, "personal"):
        drop = start(store.vectors.drop, "toy")
        await_waiting(url, 1)
        keep = start(store.vectors.keep, "toy", _made(waiting))
        await_waiting(url, 2)
    assert _outcomes(drop, keep) == [None, NotFound]
    assert ask(url, "SELECT count(*) FROM outbox") == [(0,)]


def test_of_two_that_switch_the_later_one_holds(
    url: str, store: PostgresStore, start: Callable[..., Future[object]]
) -> None:
    """Both succeed one after the other, and one set is active."""
    for model in ("one", "two", "three"):
        store.vectors.begin(model)
    store.vectors.switch("one")
    with held(url, "SELECT FROM vector_sets WHERE model = 'one' FOR UPDATE"):
        futures = []
        for waiting, model in enumerate(("two", "three"), start=1):
            futures.append(start(store.vectors.switch, model))
            await_waiting(url, waiting)
    assert _outcomes(*futures) == [None, None]
    assert store.vectors.active() == "three"


def test_of_two_that_set_the_same_setting_the_later_one_holds(
    url: str, store: PostgresStore, start: Callable[..., Future[object]]
) -> None:
    """Both succeed one after the other."""
    with held(url, "INSERT INTO settings VALUES (0, 'depth', '70')"):
        setting = start(store.settings.set, "depth", 80)
        await_waiting(url, 1)
    assert _outcomes(setting) == [None]
    assert store.settings.read().whole("depth") == 80
