"""What every store does with vector sets: queues, vectors kept once and only of the present, switches in one step."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

import pytest

from fakes import TOY_DIMENSION, ToyEmbedder
from making import at, change_memory, forget_memory, id_of, make_memory, ref_of, use_model
from recollect.core.context import TURNS_BEFORE
from recollect.core.errors import EmbedderError, NotFound, Refused
from recollect.core.hits import Ref
from recollect.core.memory import Memory
from recollect.core.ports import Store, VectorSet, Waiting
from recollect.core.vectors import pack
from recollect.service.embed import build
from recollect.service.gate import Gate

ALL = 1000
"""More than any test has waiting."""


def _build(store: Store, model: str = "toy") -> None:
    build(store, Gate(ToyEmbedder(model)))


def _made(waiting: list[Waiting], dimension: int = TOY_DIMENSION) -> list[tuple[Waiting, bytes]]:
    return [(each, pack([1.0] + [0.0] * (dimension - 1))) for each in waiting]


def _number(memory: Memory) -> int:
    return int(memory.id[-12:], 16)


def _queue(store: Store, model: str = "toy") -> list[int]:
    """Give the numbers of the memories that wait, sorted."""
    return sorted(_number(each.memory) for each in store.vectors.waiting(model, ALL))


def _set(store: Store, model: str = "toy") -> VectorSet:
    return next(each for each in store.vectors.sets() if each.model == model)


def _amounts(store: Store, model: str = "toy") -> tuple[int, int]:
    """Give how many vectors a set has, and how many it waits for."""
    return _set(store, model).vectors, _set(store, model).waiting


def test_a_new_set_waits_for_all_that_may_be_embedded(store: Store) -> None:
    """Memories of every space that are neither forgotten nor sensitive wait, each once, and there is no vector yet."""
    store.memories.add([make_memory(n) for n in (1, 2, 3)])
    store.memories.add([make_memory(4, sensitive=True), make_memory(5, space="ours")])
    store.memories.change(forget_memory(make_memory(3), 10))
    store.vectors.begin("toy")
    assert store.vectors.sets() == [VectorSet("toy", None, active=False, vectors=0, waiting=3)]
    waiting = store.vectors.waiting("toy", ALL)
    assert {Ref(each.memory.space, each.memory.id) for each in waiting} == {ref_of(1), ref_of(2), ref_of(5, "ours")}
    assert store.memories.get([ref_of(1)])[ref_of(1)] in [each.memory for each in waiting]


def test_a_set_that_is_there_goes_on_where_it_stood(store: Store) -> None:
    """Beginning again queues nothing twice and nothing that is done."""
    store.memories.add([make_memory(n) for n in (1, 2, 3)])
    store.vectors.begin("toy")
    store.vectors.keep("toy", _made(store.vectors.waiting("toy", 2)))
    store.vectors.begin("toy")
    assert _amounts(store) == (2, 1)
    assert len(store.vectors.sets()) == 1


def test_without_a_set_nothing_waits(store: Store) -> None:
    """What is remembered before there is a model waits for none."""
    store.memories.add([make_memory(1)])
    assert (store.vectors.sets(), store.vectors.active()) == ([], None)
    assert store.vectors.count_waiting(["personal"]) == 0


def test_what_comes_later_waits_for_every_set(store: Store) -> None:
    """A memory that is added, or loaded with its past, waits for each model, whichever is in use."""
    use_model(store, "one")
    store.vectors.begin("another")
    store.memories.add([make_memory(1)])
    loaded = make_memory(2)
    store.memories.load([[loaded, change_memory(loaded, 10, content="as it is now")]])
    assert _queue(store, "one") == _queue(store, "another") == [1, 2]
    assert "as it is now" in [each.memory.content for each in store.vectors.waiting("one", ALL)]


def test_the_queue_gives_no_more_than_asked(store: Store) -> None:
    """The limit is kept, over several spaces, and what was not taken out is given again."""
    store.memories.add([make_memory(n, space="ours" if n > 3 else "personal") for n in range(1, 7)])
    store.vectors.begin("toy")
    assert len(store.vectors.waiting("toy", 4)) == 4
    assert store.vectors.waiting("toy", 4) == store.vectors.waiting("toy", 4)
    store.vectors.keep("toy", _made(store.vectors.waiting("toy", 4)))
    assert len(store.vectors.waiting("toy", 4)) == 2


def test_what_waits_is_counted_by_space(store: Store) -> None:
    """Only the spaces that are asked about count, each memory of the set in use once."""
    store.memories.add([make_memory(1), make_memory(2), make_memory(3, space="ours")])
    store.vectors.begin("other model")
    use_model(store)
    count = store.vectors.count_waiting
    assert (count(["personal"]), count(["ours"]), count(["ours", "personal", "nowhere"]), count([])) == (2, 1, 3, 0)


def test_a_vector_is_kept_once(store: Store) -> None:
    """The same ticket brought twice, in one go or in two, keeps one vector."""
    store.memories.add([make_memory(1), make_memory(2)])
    store.vectors.begin("toy")
    one, two = store.vectors.waiting("toy", ALL)
    assert store.vectors.keep("toy", _made([one, one])) == 1
    assert store.vectors.keep("toy", _made([one, two])) == 1
    assert store.vectors.keep("toy", _made([one, two])) == 0
    assert _amounts(store) == (2, 0)


def test_two_processes_with_the_same_work_keep_it_once(store: Store, other: Store) -> None:
    """Both read the same queue; whoever comes second keeps nothing of it."""
    store.memories.add([make_memory(n) for n in range(1, 6)])
    store.vectors.begin("toy")
    mine, theirs = store.vectors.waiting("toy", ALL), other.vectors.waiting("toy", ALL)
    assert mine == theirs
    assert (other.vectors.keep("toy", _made(theirs[:3])), store.vectors.keep("toy", _made(mine))) == (3, 2)
    assert _amounts(store) == _amounts(other) == (5, 0)


def _edit(store: Store, memory: Memory) -> None:
    store.memories.change(change_memory(memory, 10, content="something else"))


def _forget(store: Store, memory: Memory) -> None:
    store.memories.change(forget_memory(memory, 10))


def _mark(store: Store, memory: Memory) -> None:
    store.memories.change(change_memory(memory, 10, sensitive=True))


def _purge(store: Store, memory: Memory) -> None:
    store.memories.purge(Ref(memory.space, memory.id))


Deed = Callable[[Store, Memory], None]
DEEDS: tuple[Deed, ...] = (_edit, _forget, _mark, _purge)


@pytest.mark.parametrize("deed", DEEDS)
def test_a_vector_of_what_is_no_longer_so_is_not_kept(store: Store, deed: Deed) -> None:
    """What was edited, forgotten, marked or purged while the model worked keeps no vector; the rest does."""
    store.memories.add([make_memory(1), make_memory(2)])
    store.vectors.begin("toy")
    read = store.vectors.waiting("toy", ALL)
    deed(store, make_memory(1))
    assert store.vectors.keep("toy", _made(read)) == 1
    assert _amounts(store) == (1, int(deed is _edit))


def test_a_vector_from_before_a_set_was_dropped_is_not_taken_for_a_new_one(store: Store) -> None:
    """A set that is dropped and made anew under its name keeps nothing of what was read before a turn was edited."""
    turns = _turns(2)
    store.memories.add(turns)
    store.vectors.begin("toy")
    read = store.vectors.waiting("toy", ALL)
    _edit(store, turns[0])
    store.vectors.drop("toy")
    store.vectors.begin("toy")
    assert store.vectors.keep("toy", _made(read)) == 0


def test_an_edited_text_loses_its_vector_and_waits(store: Store) -> None:
    """The vector of the old text is gone with the edit, from every set, and the new text waits."""
    store.memories.add([make_memory(1), make_memory(2)])
    _build(store, "one")
    _build(store, "another")
    _edit(store, make_memory(1))
    for model in ("one", "another"):
        assert _amounts(store, model) == (1, 1)
        assert [each.memory.content for each in store.vectors.waiting(model, ALL)] == ["something else"]


def test_at_no_moment_is_a_memory_without_vector_and_not_waiting(store: Store, other: Store) -> None:
    """Removing a vector and queueing its memory is one step, and so is keeping one: another process sees no other."""
    number = 8
    memories = [make_memory(n) for n in range(1, number + 1)]
    store.memories.add(memories)
    _build(store)
    done = Event()

    def watch() -> set[int]:
        seen = set()
        while not done.is_set():
            now = _set(other)
            seen.add(now.vectors + now.waiting)
        return seen

    with ThreadPoolExecutor(1) as pool:
        watched = pool.submit(watch)
        try:
            for round_ in range(5):
                for place, memory in enumerate(memories):
                    memories[place] = change_memory(memory, 10 * round_ + 10, content=f"text {round_}")
                    store.memories.change(memories[place])
                _build(store)
        finally:
            done.set()
        assert watched.result() == {number}


@pytest.mark.parametrize(
    "fields", [{"importance": 0.9}, {"tags": ("new",)}, {"keywords": ("new",)}, {"category": "people"}]
)
def test_an_edit_of_anything_but_the_text_keeps_the_vector(store: Store, fields: dict[str, Any]) -> None:
    """What the model does not read may change without its work being done again, for the turns after it as well."""
    turns = _turns(3)
    store.memories.add(turns)
    _build(store)
    store.memories.change(change_memory(turns[0], 10, **fields))
    assert _amounts(store) == (3, 0)


def test_an_edit_of_anything_but_the_text_leaves_the_ticket(store: Store) -> None:
    """What the model has in hand is still of the present text when only the importance changed."""
    store.memories.add([make_memory(1)])
    store.vectors.begin("toy")
    read = store.vectors.waiting("toy", ALL)
    store.memories.change(change_memory(make_memory(1), 10, importance=0.9))
    assert store.vectors.keep("toy", _made(read)) == 1


@pytest.mark.parametrize("deed", [_forget, _mark, _purge])
def test_what_may_not_be_embedded_leaves_every_set(store: Store, deed: Deed) -> None:
    """Forgotten, purged or sensitive, a memory has no vector and waits nowhere, in sets done and in sets begun."""
    store.memories.add([make_memory(1), make_memory(2)])
    _build(store, "done")
    store.vectors.begin("begun")
    deed(store, make_memory(1))
    assert (_amounts(store, "done"), _amounts(store, "begun")) == ((1, 0), (0, 1))
    assert _queue(store, "begun") == [2]


@pytest.mark.parametrize(
    ("no", "yes"), [({"deleted_at": at(10)}, {"deleted_at": None}), ({"sensitive": True}, {"sensitive": False})]
)
def test_what_may_be_embedded_again_waits_again(store: Store, no: dict[str, Any], yes: dict[str, Any]) -> None:
    """A memory that is restored, or no longer sensitive, waits for every set."""
    store.memories.add([make_memory(1), make_memory(2)])
    _build(store)
    away = change_memory(make_memory(1), 10, **no)
    store.memories.change(away)
    store.memories.change(change_memory(away, 20, **yes))
    assert (_amounts(store), _queue(store)) == ((1, 1), [1])


def _turns(number: int, first: int = 1, **fields: Any) -> list[Memory]:  # noqa: ANN401
    """Give a session's turns, numbered from `first` on, at places from 1 on."""
    where = {"session": "s1", "project": "site", **fields}
    return [make_memory(first + n, f"turn {first + n}", place=1 + n, **where) for n in range(number)]


def _insert(store: Store, memory: Memory) -> None:
    store.memories.add([make_memory(99, "said in between", session=memory.session, project="site", place=memory.place)])


def _move_away(store: Store, memory: Memory) -> None:
    store.memories.change(change_memory(memory, 10, session="another"))


def _move_to_other_project(store: Store, memory: Memory) -> None:
    store.memories.change(change_memory(memory, 10, project="shop"))


@pytest.mark.parametrize("deed", [*DEEDS, _insert, _move_away, _move_to_other_project])
def test_the_turns_after_a_change_wait_again(store: Store, deed: Deed) -> None:
    """A turn is embedded with those before it: when one of them changes, it waits, and nobody further on does."""
    changed = 4
    turns = _turns(10)
    elsewhere = [
        *_turns(10, 21, session="s2"),
        *_turns(10, 41, project="zoo"),
        *_turns(10, 61, project=None),
        *_turns(10, 81, space="ours"),
    ]
    store.memories.add([*turns, *elsewhere])
    _build(store)
    deed(store, turns[changed - 1])
    after = list(range(changed + 1, changed + TURNS_BEFORE + 1))
    itself: dict[Deed, list[int]] = {
        _edit: [changed],
        _insert: [99],
        _move_away: [changed],
        _move_to_other_project: [changed],
    }
    assert _queue(store) == sorted([*after, *itself.get(deed, [])])
    kept = _set(store)
    gone = deed in {_forget, _mark, _purge}
    assert kept.vectors + kept.waiting == 50 - gone + (deed is _insert)


def test_the_turns_after_wait_where_it_was_and_where_it_is(store: Store) -> None:
    """A turn that moves to another place leaves a gap behind it and stands before others now."""
    turns = _turns(12)
    store.memories.add(turns)
    _build(store)
    store.memories.change(change_memory(turns[1], 10, place=8))
    assert _queue(store) == [2, *range(3, 3 + TURNS_BEFORE), *range(9, 9 + TURNS_BEFORE)]


def test_a_turn_that_moves_on_by_a_place_waits_once(store: Store) -> None:
    """It is one of those that are read after where it was, and waits no more often for that."""
    turns = _turns(4)
    store.memories.add(turns)
    _build(store)
    store.memories.change(change_memory(turns[1], 10, place=3))
    assert _queue(store) == [2, 3, 4]
    assert _set(store).waiting == 3


def test_the_turns_after_a_restored_one_wait_again(store: Store) -> None:
    """What is back is read before them again."""
    turns = _turns(6)
    store.memories.add(turns)
    gone = forget_memory(turns[1], 10)
    store.memories.change(gone)
    _build(store)
    store.memories.change(change_memory(gone, 20, deleted_at=None))
    assert _queue(store) == [2, *range(3, 3 + TURNS_BEFORE)]


def test_a_vector_read_with_a_turn_that_changed_is_not_kept(store: Store) -> None:
    """An edit while the model worked makes the vectors of the turns after it worthless too."""
    turns = _turns(2)
    store.memories.add(turns)
    store.vectors.begin("toy")
    read = store.vectors.waiting("toy", ALL)
    _edit(store, turns[0])
    assert store.vectors.keep("toy", _made(read)) == 0
    assert _queue(store) == [1, 2]


def _before_last(store: Store) -> list[str]:
    """Give what the turn "last" is read after."""
    (last,) = (each for each in store.vectors.waiting("toy", ALL) if each.memory.content == "last")
    return [memory.content for memory in last.before]


def test_what_was_said_just_before(store: Store) -> None:
    """A turn that waits comes with the turns just before it, oldest first, as they are now."""
    turns = _turns(6)
    store.memories.add(turns[::-1])
    store.memories.add([make_memory(50, "last", session="s1", project="site", place=7)])
    store.memories.change(change_memory(turns[5], 10, content="edited"))
    store.vectors.begin("toy")
    expected = ["edited", *(turn.content for turn in turns[:-1][::-1])][:TURNS_BEFORE]
    assert _before_last(store) == expected[::-1]


def test_what_was_said_before_holds_nothing_that_may_not_leave(store: Store) -> None:
    """Sensitive and forgotten turns, those of other sessions, projects and spaces, and later ones stay away."""
    where: dict[str, Any] = {"session": "s1", "project": "site"}
    store.memories.add(
        [
            make_memory(1, "secret", place=4, sensitive=True, **where),
            make_memory(2, "forgotten", place=4, **where),
            make_memory(3, "marked", place=4, **where),
            make_memory(4, "other session", place=4, session="s2", project="site"),
            make_memory(5, "other project", place=4, session="s1", project="shop"),
            make_memory(6, "no project", place=4, session="s1"),
            make_memory(7, "other space", place=4, space="ours", **where),
            make_memory(8, "at the same place", place=5, **where),
            make_memory(9, "later", place=6, **where),
            make_memory(10, "no place", **where),
            make_memory(11, "too long ago", place=4 - TURNS_BEFORE, **where),
            make_memory(12, "just before", place=4, **where),
            make_memory(13, "last", place=5, **where),
        ]
    )
    store.vectors.begin("toy")
    store.memories.change(forget_memory(make_memory(2, "forgotten", place=4, **where), 20))
    store.memories.change(change_memory(make_memory(3, "marked", place=4, **where), 20, sensitive=True))
    assert _before_last(store) == ["just before"]


def test_what_stands_in_no_session_has_nothing_before_it(store: Store) -> None:
    """Without a session or a place there is no before."""
    store.memories.add([make_memory(n, place=n) for n in (1, 2)])
    store.memories.add([make_memory(n, session="s1") for n in (3, 4)])
    store.vectors.begin("toy")
    assert [each.before for each in store.vectors.waiting("toy", ALL)] == [()] * 4


def test_switching_goes_there_and_back(store: Store) -> None:
    """One set is in use at a time, the others stay whole, and none of them may be too."""
    store.memories.add([make_memory(n) for n in (1, 2, 3)])
    _build(store, "one")
    _build(store, "another")
    for model in ("another", "one", "one", None, "another"):
        store.vectors.switch(model)
        assert store.vectors.active() == model
        assert [each.model for each in store.vectors.sets() if each.active] == [model] * (model is not None)
        assert (_amounts(store, "one"), _amounts(store, "another")) == ((3, 0), (3, 0))


def test_switching_is_one_step(store: Store, other: Store) -> None:
    """Another process sees the one model or the other in use, never both and never none."""
    store.vectors.begin("one")
    use_model(store, "another")
    done = Event()

    def watch() -> set[tuple[str, ...]]:
        seen = set()
        while not done.is_set():
            seen.add(tuple(each.model for each in other.vectors.sets() if each.active))
            seen.add((str(other.vectors.active()),))
        return seen

    with ThreadPoolExecutor(1) as pool:
        watched = pool.submit(watch)
        try:
            for _ in range(20):
                store.vectors.switch("one")
                store.vectors.switch("another")
        finally:
            done.set()
        assert watched.result() <= {("one",), ("another",)}


def test_a_set_that_is_not_in_use_stays_complete(store: Store) -> None:
    """What is written while another model is in use waits for the first too: going back needs only its queue."""
    store.memories.add([make_memory(n) for n in (1, 2, 3)])
    _build(store, "one")
    _build(store, "another")
    store.memories.add([make_memory(4)])
    _edit(store, make_memory(1))
    _forget(store, make_memory(2))
    _build(store, "another")
    assert (_amounts(store, "one"), _queue(store, "one")) == ((1, 2), [1, 4])
    _build(store, "one")
    assert (store.vectors.active(), _amounts(store, "one")) == ("one", (3, 0))


def test_what_is_in_use_is_not_dropped(store: Store) -> None:
    """The set in use is refused with advice and stays; another one goes with its vectors and its queue."""
    store.memories.add([make_memory(n) for n in (1, 2)])
    _build(store, "kept")
    store.vectors.begin("dropped")
    store.vectors.keep("dropped", _made(store.vectors.waiting("dropped", 1)))
    with pytest.raises(Refused, match="switch to another model first"):
        store.vectors.drop("kept")
    store.vectors.drop("dropped")
    assert store.vectors.sets() == [VectorSet("kept", TOY_DIMENSION, active=True, vectors=2, waiting=0)]
    store.vectors.begin("dropped")
    assert _amounts(store, "dropped") == (0, 2)
    store.vectors.switch(None)
    store.vectors.drop("kept")
    assert [each.model for each in store.vectors.sets()] == ["dropped"]


@pytest.mark.parametrize(
    "ask",
    [
        lambda vectors: vectors.waiting("unknown", 1),
        lambda vectors: vectors.keep("unknown", []),
        lambda vectors: vectors.switch("unknown"),
        lambda vectors: vectors.drop("unknown"),
    ],
)
def test_a_model_without_a_set_is_not_found(store: Store, ask: Callable[[Any], object]) -> None:
    """Whoever names a model that embedded nothing is told so, and the set in use stays in use."""
    use_model(store)
    with pytest.raises(NotFound, match="recollect embed"):
        ask(store.vectors)
    assert store.vectors.active() == "toy"


def test_vectors_of_another_length_are_refused(store: Store) -> None:
    """The first vector says how long they all are; a batch with one that is not keeps none and loses none."""
    store.memories.add([make_memory(n) for n in (1, 2, 3)])
    store.vectors.begin("toy")
    one, two, three = store.vectors.waiting("toy", ALL)
    store.vectors.keep("toy", _made([one], 4))
    with pytest.raises(EmbedderError, match="now gives vectors of 5 numbers; those here have 4"):
        store.vectors.keep("toy", [*_made([two], 4), *_made([three], 5)])
    assert store.vectors.sets() == [VectorSet("toy", 4, active=False, vectors=1, waiting=2)]
    assert [each.memory.id for each in store.vectors.waiting("toy", ALL)] == [id_of(2), id_of(3)]
    store.vectors.begin("longer")
    assert store.vectors.keep("longer", _made(store.vectors.waiting("longer", ALL), 5)) == 3


def test_a_store_with_vectors_is_healthy(store: Store) -> None:
    """After embedding, editing, forgetting, marking and purging, the doctor finds nothing wrong."""
    turns = _turns(8)
    store.memories.add(turns)
    _build(store)
    for deed, turn in zip(DEEDS, turns[::2], strict=True):
        deed(store, turn)
    store.vectors.begin("another")
    assert store.examine(lambda _done, _total: None) == []
