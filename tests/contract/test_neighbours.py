"""What stands next to a memory in its session, as every store gives it."""

from typing import Any

import pytest

from making import at, change_memory, forget_memory, make_memory, ref_of
from recollect.core.hits import Ref, Surroundings
from recollect.core.memory import Memory
from recollect.core.ports import Store
from recollect.core.query import Scope

ALL = Scope(("personal", "ours"))


def _turns(*places: int, **fields: Any) -> list[Memory]:  # noqa: ANN401
    """Give the turns of a session at these places, numbered by them."""
    return [make_memory(place, place=place, **{"session": "s1", "project": "site", **fields}) for place in places]


def _near(store: Store, number: int, scope: Scope = ALL, reach: int = 3) -> set[tuple[Ref, int]]:
    near = store.memories.surroundings([ref_of(number)], scope, reach).near.get(ref_of(number), [])
    assert len(near) == len(set(near))
    return set(near)


def _at(*pairs: tuple[int, int]) -> set[tuple[Ref, int]]:
    return {(ref_of(number), distance) for number, distance in pairs}


def test_what_stands_before_and_after_and_how_far(store: Store) -> None:
    """Neighbours are those within reach on both sides; a gap in the places counts as distance."""
    store.memories.add(_turns(1, 2, 3, 4, 5, 7, 9, 30))
    assert _near(store, 4) == _at((1, 3), (2, 2), (3, 1), (5, 1), (7, 3))
    assert _near(store, 4, reach=1) == _at((3, 1), (5, 1))
    assert _near(store, 1) == _at((2, 1), (3, 2), (4, 3))
    assert _near(store, 30) == set()


def test_many_are_looked_up_at_once(store: Store) -> None:
    """Each of the memories asked about has its own neighbours, however many there are, in whatever space."""
    store.memories.add(_turns(*range(1, 1202)))
    store.memories.add(_turns(1, 2, space="ours"))
    asked = [*(ref_of(n) for n in range(1, 1202)), ref_of(1, "ours"), ref_of(5000), Ref("personal", "no id")]
    near = store.memories.surroundings(asked, ALL, 1).near
    assert near.keys() == {*asked[:1201], ref_of(1, "ours")}
    assert near[ref_of(1, "ours")] == [(ref_of(2, "ours"), 1)]
    assert set(near[ref_of(700)]) == _at((699, 1), (701, 1))
    assert store.memories.surroundings([], ALL, 3) == Surroundings()


def test_a_memory_is_not_next_to_itself_nor_to_what_shares_its_place(store: Store) -> None:
    """What was said in the same turn is neither before nor after."""
    store.memories.add([*_turns(1, 2), make_memory(20, session="s1", project="site", place=2)])
    assert _near(store, 2) == _at((1, 1))
    assert _near(store, 1) == _at((2, 1), (20, 1))


def test_what_has_no_session_or_no_place_has_no_neighbours(store: Store) -> None:
    """Places count within a session, and only there."""
    store.memories.add([make_memory(n, place=n) for n in (1, 2)])
    store.memories.add([make_memory(n, session="s1") for n in (3, 4)])
    assert store.memories.surroundings([ref_of(n) for n in (1, 2, 3, 4)], ALL, 3).near == {}


def test_other_sessions_projects_and_spaces_are_not_next_to_it(store: Store) -> None:
    """A session of the same name in another project or space is another session; none counts as a project here."""
    store.memories.add(_turns(2))
    store.memories.add(
        [
            make_memory(11, place=1, session="s2", project="site"),
            make_memory(12, place=1, session="s1", project="shop"),
            make_memory(13, place=1, session="s1"),
            make_memory(14, place=1, session="s1", project="site", space="ours"),
            make_memory(15, place=3, session="s1"),
        ]
    )
    assert _near(store, 2) == set()
    assert _near(store, 13) == _at((15, 2))


@pytest.mark.parametrize(
    ("scope", "pairs"),
    [
        (Scope(("personal",)), ((1, 1), (3, 1), (4, 2))),
        (Scope(("personal",), project="site"), ((1, 1), (3, 1), (4, 2))),
        (Scope(("personal",), project="shop"), ()),
        (Scope(("personal",), sessions=frozenset({"s1", "s2"})), ((1, 1), (3, 1), (4, 2))),
        (Scope(("personal",), sessions=frozenset({"s2"})), ()),
        (Scope(("personal",), categories=frozenset({"people"})), ((3, 1),)),
        (Scope(("personal",), before=3), ((1, 1),)),
        (Scope(("personal",), as_of=at(3)), ((1, 1), (3, 1))),
    ],
)
def test_neighbours_lie_inside_the_scope(store: Store, scope: Scope, pairs: tuple[tuple[int, int], ...]) -> None:
    """What the scope leaves out comes in by no session either."""
    first, second, _, fourth = _turns(1, 2, 3, 4)
    store.memories.add([first, second, *_turns(3, category="people"), fourth])
    assert _near(store, 2, scope) == _at(*pairs)


def test_what_is_forgotten_or_gone_stands_next_to_nothing(store: Store) -> None:
    """A forgotten turn and a purged one are no neighbours; a sensitive one is: its owner may find it."""
    turns = _turns(1, 2, 3, 4)
    store.memories.add(turns)
    store.memories.change(forget_memory(turns[0], 10))
    store.memories.purge(ref_of(3))
    store.memories.change(change_memory(turns[3], 10, sensitive=True))
    assert _near(store, 2) == _at((4, 2))


def test_neighbours_at_a_moment_are_those_of_that_moment(store: Store) -> None:
    """As of then, turns stand where they stood: before one was moved, another forgotten, a third known."""
    one, two, three = _turns(1, 2, 3)
    store.memories.add([one, two, three])
    store.memories.change(change_memory(one, 10, place=50))
    store.memories.change(forget_memory(three, 20))
    late = make_memory(40, session="s1", project="site", place=1, created_at=at(30), updated_at=at(30))
    store.memories.add([late])

    def then(seconds: float) -> set[tuple[Ref, int]]:
        return _near(store, 2, Scope(("personal",), as_of=at(seconds)))

    assert then(2) == _at((1, 1))
    assert then(5) == then(9.999999) == _at((1, 1), (3, 1))
    assert then(10) == _at((3, 1))
    assert then(20) == set()
    assert then(30) == _near(store, 2) == _at((40, 1))
    assert then(1) == set()


def test_a_moved_turn_had_other_neighbours(store: Store) -> None:
    """The memory asked about, too, stands where it stood then."""
    turns = _turns(1, 2, 8, 9)
    store.memories.add(turns)
    store.memories.change(change_memory(turns[1], 20, place=7))
    assert _near(store, 2, Scope(("personal",), as_of=at(15))) == _at((1, 1))
    assert _near(store, 2) == _at((8, 1), (9, 2))
