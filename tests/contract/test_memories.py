"""What every store does with memories."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from making import (
    at,
    by_words,
    change_memory,
    forget_memory,
    id_of,
    make_link,
    make_memory,
    make_query,
    ref_of,
    use_model,
)
from recollect.core.errors import Conflict, NotFound
from recollect.core.hits import Ref
from recollect.core.memory import Memory
from recollect.core.ports import Store
from recollect.core.query import Scope

EVERYTHING = make_memory(
    1,
    "Ünïcødé “quotes” 'single' \"double\" \\ back % _ \t tab \x01 control\n  two lines 👩‍👩‍👧 \u202ertl ",
    category="my own",
    tags=("b", "a", "a", '["json"]', "ü"),
    keywords=("k1", "k 2"),
    importance=1 / 3,
    project="github.com/owner/name",
    session="session one",
    place=(1 << 31) - 1,
    sensitive=True,
    created_at=datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
)


def _ids(memories: list[Memory]) -> list[str]:
    return [memory.id for memory in memories]


def test_what_is_added_comes_back_as_it_was(store: Store) -> None:
    """Every field of a memory is given back exactly, odd characters, times before 1970 and all."""
    store.memories.add([EVERYTHING, make_memory(2)])
    assert store.memories.get([ref_of(1), ref_of(2)]) == {ref_of(1): EVERYTHING, ref_of(2): make_memory(2)}


def test_what_is_not_there_is_not_given(store: Store) -> None:
    """Unknown ids, unknown spaces and what is no id at all are simply missing from the answer."""
    store.memories.add([make_memory(1)])
    strange = [Ref("personal", text) for text in ("no id", "\ud800", "")]
    asked = [ref_of(1), ref_of(2), ref_of(1, "elsewhere"), *strange]
    assert store.memories.get(asked) == {ref_of(1): make_memory(1)}
    assert store.memories.get([]) == {}


def test_many_are_given_at_once(store: Store) -> None:
    """There is no number of memories too large to ask for in one go."""
    store.memories.add([make_memory(n) for n in range(1, 1202)])
    assert len(store.memories.get([ref_of(n) for n in range(1, 1300)])) == 1201


def test_one_id_in_two_spaces_is_two_memories(store: Store) -> None:
    """An id means nothing without its space."""
    mine, ours = make_memory(1, "mine"), make_memory(1, "ours", space="ours")
    store.memories.add([mine, ours])
    assert store.memories.get([ref_of(1)]) == {ref_of(1): mine}
    assert store.memories.get([ref_of(1, "ours")]) == {ref_of(1, "ours"): ours}


def test_a_taken_id_is_a_conflict_and_nothing_is_added(store: Store) -> None:
    """Adding is all or none: one id that is taken keeps the others out too."""
    store.memories.add([make_memory(1)])
    with pytest.raises(Conflict, match="leave the id out"):
        store.memories.add([make_memory(2), make_memory(1, "other")])
    assert list(store.memories.walk()) == [ref_of(1)]
    assert store.count()[0].memories == 1
    assert store.examine(lambda _done, _total: None) == []


def test_a_change_replaces_and_keeps(store: Store) -> None:
    """The new version is there, the one before is in the history with the time it ended."""
    first = make_memory(1)
    second, third = (
        change_memory(first, 10, content="now"),
        change_memory(change_memory(first, 10), 20, content="later", tags=("t",)),
    )
    store.memories.add([first])
    store.memories.change(second)
    store.memories.change(third)
    assert store.memories.get([ref_of(1)])[ref_of(1)] == third
    history = store.memories.history(ref_of(1))
    assert [revision.memory for revision in history] == [first, second, third]
    assert [revision.until for revision in history] == [at(10), at(20), None]


@pytest.mark.parametrize("version", [1, 3])
def test_a_change_of_another_version_is_a_conflict(store: Store, version: int) -> None:
    """Only the version after the present one is taken; nothing is lost or written otherwise."""
    first = make_memory(1)
    store.memories.add([first])
    with pytest.raises(Conflict, match="changed meanwhile"):
        store.memories.change(replace(change_memory(first, 10, content="now"), version=version))
    assert [revision.memory for revision in store.memories.history(ref_of(1))] == [first]


def test_a_change_of_what_is_not_there(store: Store) -> None:
    """Changing an unknown memory says that there is none."""
    with pytest.raises(NotFound):
        store.memories.change(change_memory(make_memory(1), 10))


def test_the_history_of_nothing_is_empty(store: Store) -> None:
    """An unknown memory has no states."""
    assert store.memories.history(ref_of(1)) == []


def test_what_was_believed_then(store: Store) -> None:
    """As of a moment a memory is as it was in that microsecond: unknown, first, changed, forgotten."""
    first = make_memory(1)
    second = change_memory(first, 10, content="now")
    gone = forget_memory(second, 20)
    store.memories.add([first])
    store.memories.change(second)
    store.memories.change(gone)

    def then(seconds: float) -> Memory | None:
        return store.memories.get([ref_of(1)], at(seconds)).get(ref_of(1))

    assert then(0.999999) is None
    assert then(1) == then(9.999999) == first
    assert then(10) == then(19.999999) == second
    assert then(20) == then(10_000) == gone


def test_memories_resolve_by_id_and_by_its_end(store: Store) -> None:
    """A whole id or its last characters, with dashes or without, find what is there, forgotten ones too."""
    one, two = make_memory(0xABC123), make_memory(0xDEF123)
    store.memories.add([one, two, make_memory(0xABC123, space="ours")])
    store.memories.change(forget_memory(two, 10_000_000_000))
    resolve = store.memories.resolve
    assert resolve(["personal"], one.id) == [one]
    assert resolve(["personal"], "bc123") == [one]
    assert resolve(["personal"], "8000-000000abc123") == [one]
    assert _ids(resolve(["personal"], "c123")) == [one.id]
    assert _ids(resolve(["personal"], "123")) == [one.id, two.id]
    assert sorted(each.space for each in resolve(["personal", "ours"], "abc123")) == ["ours", "personal"]
    assert len(resolve(["personal"], "123", limit=1)) == 1


@pytest.mark.parametrize("handle", ["", "zz", "%", "_", "'", "\ud800", "-", "abc123%", "\0"])
def test_what_is_no_handle_resolves_to_nothing(store: Store, handle: str) -> None:
    """Nothing in a handle is a wildcard, and nothing in it is an error."""
    store.memories.add([make_memory(0xABC123)])
    assert store.memories.resolve(["personal"], handle) == []


def test_pages_run_from_newest_to_oldest(store: Store) -> None:
    """Pages follow each other without gap or overlap, equal times by id, over several spaces."""
    memories = [
        *(make_memory(n) for n in (1, 2, 3)),
        *(make_memory(n, space="ours") for n in (4, 5)),
        *(make_memory(n, created_at=at(2), updated_at=at(2)) for n in (6, 7)),
    ]
    store.memories.add(memories)
    expected = sorted(memories, key=lambda memory: (memory.created_at, memory.id), reverse=True)
    scope, seen, after = Scope(("personal", "ours")), list[Memory](), None
    while page := store.memories.page(scope, 2, after):
        assert len(page) <= 2
        seen += page
        after = Ref(page[-1].space, page[-1].id)
    assert seen == expected


def test_a_page_holds_what_the_scope_holds(store: Store) -> None:
    """Forgotten memories and those outside the scope are not listed; as of then, what was believed is."""
    one, two = make_memory(1, project="site"), make_memory(2, project="shop")
    three = make_memory(3, category="people")
    store.memories.add([one, two, three])
    store.memories.change(forget_memory(one, 10))
    assert _ids(store.memories.page(Scope(("personal",)), 10)) == [id_of(3), id_of(2)]
    assert _ids(store.memories.page(Scope(("personal",), project="shop"), 10)) == [id_of(3), id_of(2)]
    assert _ids(store.memories.page(Scope(("personal",), categories=frozenset({"people"})), 10)) == [id_of(3)]
    assert store.memories.page(Scope(("personal",), project="site", as_of=at(5)), 10) == [three, one]
    assert store.memories.page(Scope(("elsewhere",)), 10) == []
    assert _ids(store.memories.page(Scope(("personal",), project=""), 10)) == [id_of(3), id_of(2)]


def test_a_page_behind_a_forgotten_memory(store: Store) -> None:
    """A memory that was forgotten between two pages still marks the place."""
    store.memories.add([make_memory(n) for n in (1, 2, 3)])
    store.memories.change(forget_memory(make_memory(2), 10))
    assert _ids(store.memories.page(Scope(("personal",)), 10, ref_of(2))) == [id_of(1)]


@pytest.mark.parametrize(
    ("scope", "inside"),
    [
        (Scope(("personal",)), True),
        (Scope(("ours",)), False),
        (Scope(("ours", "personal")), True),
        (Scope(("personal",), project="site"), True),
        (Scope(("personal",), project="shop"), False),
        (Scope(("personal",), project=""), True),
        (Scope(("personal",), sessions=frozenset({"s1", "s2"})), True),
        (Scope(("personal",), sessions=frozenset({"s2"})), False),
        (Scope(("personal",), categories=frozenset({"facts"})), True),
        (Scope(("personal",), categories=frozenset({"people"})), False),
        (Scope(("personal",), before=4), True),
        (Scope(("personal",), before=3), False),
        (Scope(("personal",), as_of=at(1)), True),
        (Scope(("personal",), as_of=at(0)), False),
    ],
)
def test_whether_a_memory_lies_inside_a_scope(store: Store, scope: Scope, inside: bool) -> None:
    """Space, project, session, category, place and time each decide, in SQL as in `Scope.admits`."""
    memory = make_memory(1, project="site", session="s1", place=3)
    store.memories.add([memory])
    assert store.memories.page(scope, 10) == [memory] * inside
    assert scope.as_of is not None or scope.admits(memory) is inside


def test_scopes_without_and_with_forgotten_memories(store: Store) -> None:
    """What belongs to no project lies in every project, what has no place before none, what is forgotten nowhere."""
    one, two = make_memory(1), make_memory(2)
    gone = forget_memory(two, 10)
    store.memories.add([one, two])
    store.memories.change(gone)
    for scope, inside in (
        (Scope(("personal",)), [one]),
        (Scope(("personal",), project="any"), [one]),
        (Scope(("personal",), before=100), []),
    ):
        assert store.memories.page(scope, 10) == inside
        assert [memory for memory in (one, gone) if scope.admits(memory)] == inside
    assert store.memories.page(Scope(("personal",), as_of=at(9)), 10) == [two, one]


def test_the_last_change(store: Store) -> None:
    """What was written last in a space counts, forgotten or not, memory or link."""
    assert store.last_change("personal") is None
    store.memories.add([make_memory(1), make_memory(2)])
    edited = change_memory(make_memory(1), 10)
    store.memories.change(edited)
    assert store.last_change("personal") == edited
    link = make_link(1, "see-also", 2)
    store.links.add(link)
    assert store.last_change("personal") == link
    gone = forget_memory(make_memory(2), 20)
    store.memories.change(gone)
    assert store.last_change("personal") == gone
    store.links.end(link, at(30))
    assert store.last_change("personal") == replace(link, ended_at=at(30))
    store.memories.add([make_memory(30, space="ours")])
    assert store.last_change("personal") == replace(link, ended_at=at(30))
    assert store.last_change("elsewhere") is None


def test_a_walk_meets_everything_in_the_order_of_ids(store: Store) -> None:
    """All spaces or the given ones, forgotten memories included, each once."""
    store.memories.add([make_memory(n) for n in (3, 1, 2)])
    store.memories.add([make_memory(1, space="ours")])
    store.memories.change(forget_memory(make_memory(2), 10))
    assert list(store.memories.walk(["personal"])) == [ref_of(1), ref_of(2), ref_of(3)]
    assert sorted(store.memories.walk()) == sorted([ref_of(1, "ours"), ref_of(1), ref_of(2), ref_of(3)])
    assert list(store.memories.walk(["elsewhere"])) == []


def test_purging_leaves_no_trace(store: Store) -> None:
    """Row, past, words, links, counts and outbox are as if the memory had never been."""
    use_model(store)
    store.memories.add([make_memory(2, "other words")])
    before = store.count()
    first = make_memory(1, "alpha beta")
    store.memories.add([first])
    store.memories.change(change_memory(first, 10, content="gamma"))
    store.links.add(make_link(1, "see-also", 2))
    store.links.add(make_link(2, "part-of", 1))
    store.memories.purge(ref_of(1))
    assert store.memories.get([ref_of(1)]) == store.memories.get([ref_of(1)], at(5)) == {}
    assert store.memories.history(ref_of(1)) == []
    assert store.links.among([ref_of(2)]) == []
    assert store.count() == before
    assert store.examine(lambda _done, _total: None) == []
    for word in ("alpha", "gamma"):
        assert not any(leg.search(make_query(word), 10, 60) for leg in by_words(store))
        assert not any(leg.search(make_query(word, as_of=at(5)), 10, 60) for leg in by_words(store))


def test_purging_what_was_forgotten_and_what_is_not_there(store: Store) -> None:
    """A forgotten memory can be purged, an unknown one cannot, and the counts stay right."""
    store.memories.add([make_memory(1), make_memory(2)])
    store.memories.change(forget_memory(make_memory(1), 10))
    store.memories.purge(ref_of(1))
    with pytest.raises(NotFound):
        store.memories.purge(ref_of(1))
    assert (store.count()[0].memories, store.count()[0].forgotten) == (1, 0)
    assert store.examine(lambda _done, _total: None) == []


def test_loading_lays_a_memory_down_as_if_it_had_lived_here(store: Store) -> None:
    """All states arrive with their times, and the words of the past are found in the past."""
    first = make_memory(1, "alpha")
    second = change_memory(first, 10, content="beta")
    gone = forget_memory(second, 20)
    assert store.memories.load([[first, second, gone], [make_memory(2, "alpha")]]) == ["added", "added"]
    assert [revision.memory for revision in store.memories.history(ref_of(1))] == [first, second, gone]
    assert [revision.until for revision in store.memories.history(ref_of(1))] == [at(10), at(20), None]
    (lexical,) = (leg for leg in store.legs if leg.name == "lexical")
    assert [hit.ref for hit in lexical.search(make_query("alpha", as_of=at(5)), 10, 60)] == [ref_of(1), ref_of(2)]
    assert [hit.ref for hit in lexical.search(make_query("beta", as_of=at(15)), 10, 60)] == [ref_of(1)]
    assert lexical.search(make_query("beta"), 10, 60) == []
    assert store.examine(lambda _done, _total: None) == []


def test_loading_what_was_forgotten_from_the_start(store: Store) -> None:
    """A memory whose first state here is a forgotten one is kept, counted as forgotten, and not found."""
    use_model(store)
    gone = replace(make_memory(1, "alpha"), deleted_at=at(1))
    assert store.memories.load([[gone]]) == ["added"]
    assert (store.count()[0].memories, store.count()[0].forgotten, store.count()[0].waiting) == (0, 1, 0)
    assert not any(leg.search(make_query("alpha"), 10, 60) for leg in by_words(store))
    store.memories.change(replace(gone, deleted_at=None, version=2, action="restored", updated_at=at(10)))
    assert len(store.legs[0].search(make_query("alpha"), 10, 60)) == 1
    assert store.examine(lambda _done, _total: None) == []


def test_loading_again_adds_only_what_is_missing(store: Store) -> None:
    """The same history changes nothing, a longer one adds its end, a shorter one nothing, another one conflicts."""
    first = make_memory(1, "alpha")
    second, other = change_memory(first, 10, content="beta"), change_memory(first, 10, content="gamma")
    assert store.memories.load([[first]]) == ["added"]
    assert store.memories.load([[first]]) == ["unchanged"]
    assert store.memories.load([[first, second]]) == ["updated"]
    assert store.memories.load([[first]]) == ["unchanged"]
    assert store.memories.load([[first, other]]) == ["conflict"]
    assert store.memories.load([[first, other], [make_memory(2)]]) == ["conflict", "added"]
    assert [revision.memory for revision in store.memories.history(ref_of(1))] == [first, second]


def test_a_dry_load_tells_and_does_nothing(store: Store) -> None:
    """A dry run gives the same verdicts and writes nothing."""
    first = make_memory(1, "alpha")
    store.memories.add([first])
    histories = [[first, change_memory(first, 10)], [make_memory(2)], [make_memory(1, "beta")], [first]]
    before = store.count()
    assert store.memories.load(histories, dry_run=True) == ["updated", "added", "conflict", "unchanged"]
    assert store.count() == before


def test_what_waits_is_what_is_there_and_may_leave(store: Store) -> None:
    """A memory waits once however often it changes; forgotten or made sensitive it no longer does, restored it does."""
    use_model(store)

    def waiting() -> int:
        return store.count()[0].waiting

    memory = make_memory(1)
    store.memories.add([memory])
    for version, fields, expected in (
        (2, {"content": "changed"}, 1),
        (3, {"sensitive": True}, 0),
        (4, {"sensitive": False}, 1),
        (5, {"deleted_at": at(50)}, 0),
        (6, {"deleted_at": None}, 1),
        (7, {"sensitive": True}, 0),
        (8, {"deleted_at": at(80)}, 0),
    ):
        memory = replace(memory, version=version, updated_at=at(version * 10), **fields)
        store.memories.change(memory)
        assert waiting() == expected, version


def test_sensitive_memories_never_wait_for_an_embedder(store: Store) -> None:
    """What is sensitive is not queued: neither when it is remembered, nor edited, nor loaded with its past."""
    use_model(store)
    secret = make_memory(1, sensitive=True)
    store.memories.add([secret])
    assert store.count()[0].waiting == 0
    store.memories.add([make_memory(2)])
    assert store.count()[0].waiting == 1
    store.memories.change(change_memory(make_memory(2), 10, content="changed"))
    assert store.count()[0].waiting == 1
    store.memories.change(change_memory(secret, 10, content="another secret"))
    assert store.count()[0].waiting == 1
    hidden = make_memory(3, sensitive=True)
    store.memories.load([[hidden, change_memory(hidden, 10)]])
    assert store.count()[0].waiting == 1
