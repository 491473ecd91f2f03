"""What every store counts, keeps as settings, and says about its own health."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from fakes import ToyEmbedder
from making import at, change_memory, make_link, make_memory, make_query, ref_of, use_model
from recollect.core.ports import Count, Store
from recollect.core.settings import CONSTANTS
from recollect.service.embed import build
from recollect.service.gate import Gate


def _nothing(_done: int, _total: int) -> None:
    pass


def _fill(store: Store) -> None:
    store.memories.add(
        [
            make_memory(1, "alpha beta", project="site"),
            make_memory(2, "alpha gamma", category="people", project="site"),
            make_memory(3, "a secret alpha", sensitive=True),
            make_memory(4, "alpha delta", project="shop"),
            make_memory(1, "alpha of ours", space="ours"),
        ]
    )
    edited = replace(make_memory(1, "beta only", project="site"), version=2, action="edited", updated_at=at(10))
    store.memories.change(edited)
    gone = replace(make_memory(4, "alpha delta", project="shop"), version=2, action="forgotten", updated_at=at(20))
    store.memories.change(replace(gone, deleted_at=at(20)))
    store.links.add(make_link(1, "see-also", 2, since=5))
    store.links.add(make_link(1, "part-of", 2, since=5))
    store.links.end(make_link(1, "part-of", 2), at(6))


def test_an_empty_store_counts_nothing(store: Store) -> None:
    """A new store has no spaces and no problems."""
    assert store.count() == []
    assert store.examine(_nothing) == []


def test_counts_by_space(store: Store) -> None:
    """Each space counts what it holds: present, forgotten, sensitive, past states, links that hold, work that waits."""
    use_model(store)
    _fill(store)
    ours, personal = store.count()
    assert personal == Count(
        space="personal",
        memories=3,
        forgotten=1,
        sensitive=1,
        revisions=2,
        links=1,
        waiting=2,
        categories={"facts": 2, "people": 1},
        projects={"site": 2},
    )
    assert ours == Count("ours", 1, 0, 0, 0, 0, 1, {"facts": 1}, {})


def test_what_waits_is_counted_for_the_model_in_use(store: Store) -> None:
    """Without a model nothing waits; with several, what the one in use lacks is counted and nothing else."""
    _fill(store)
    waiting = [count.waiting for count in store.count()]
    use_model(store, "one")
    store.vectors.begin("another")
    assert (waiting, [count.waiting for count in store.count()]) == ([0, 0], [1, 2])
    build(store, Gate(ToyEmbedder("another")))
    assert [count.waiting for count in store.count()] == [0, 0]
    store.vectors.switch("one")
    assert [count.waiting for count in store.count()] == [1, 2]
    store.vectors.switch(None)
    assert [count.waiting for count in store.count()] == [0, 0]


def test_a_used_store_is_healthy(store: Store) -> None:
    """After adding, changing and forgetting, words and counts agree with the rows; every memory was looked at."""
    _fill(store)
    told: list[tuple[int, int]] = []
    assert store.examine(lambda done, total: told.append((done, total))) == []
    assert told[-1] == (5, 5)


def test_mending_a_healthy_store_changes_nothing(store: Store) -> None:
    """Index and counts built anew are what they were, now and in the past, and vectors stay."""
    _fill(store)
    build(store, Gate(ToyEmbedder()))
    queries = [make_query(text, as_of=moment) for text in ("alpha", "beta secret") for moment in (None, at(5), at(15))]

    def answers() -> list[object]:
        return [leg.search(query, 10, 60) for leg in store.legs for query in queries]

    before = (answers(), store.count(), store.vectors.sets())
    store.mend()
    assert (answers(), store.count(), store.vectors.sets()) == before
    assert store.examine(_nothing) == []
    store.memories.change(change_memory(store.memories.get([ref_of(1)])[ref_of(1)], 30, content="epsilon"))
    assert store.examine(_nothing) == []


def test_threads_may_write_and_read_at_once(store: Store) -> None:
    """Every write of every thread is there, every reading in between sees whole memories, and the counts agree."""
    lexical = store.legs[0]

    def write(thread: int) -> None:
        for n in range(10):
            memory = make_memory(100 * thread + n, "alpha beta")
            store.memories.add([memory])
            edited = replace(memory, content="alpha gamma", version=2, action="edited", updated_at=at(10_000))
            store.memories.change(edited)
            found = store.memories.get([hit.ref for hit in lexical.search(make_query("alpha"), 100, 60)])
            assert {each.content for each in found.values()} <= {"alpha beta", "alpha gamma"}
            assert ref_of(100 * thread + n) in found

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(write, thread) for thread in range(1, 5)]:
            done.result()
    assert (store.count()[0].memories, store.count()[0].revisions) == (40, 40)
    assert store.examine(_nothing) == []


def test_a_store_takes_room(store: Store) -> None:
    """What is kept has a size."""
    store.memories.add([make_memory(1)])
    assert store.size() > 0


@pytest.mark.parametrize(
    ("name", "value"), [("weight.exact", 2.5), ("depth", 50), ("fusion", "reciprocal-rank"), ("floor.lexical", 1 / 3)]
)
def test_a_setting_is_kept_and_taken_back(store: Store, name: str, value: float | str) -> None:
    """A setting is read as it was set, replaced by the next, and by its default when taken back."""
    assert dict(store.settings.read().values) == {}
    store.settings.set(name, value)
    assert dict(store.settings.read().values) == {name: value}
    store.settings.set(name, value)
    assert dict(store.settings.read().values) == {name: value}
    store.settings.set(name, None)
    store.settings.set(name, None)
    assert dict(store.settings.read().values) == {}


def test_a_setting_of_a_newer_version_is_passed_over(store: Store) -> None:
    """A setting that this version does not know stands in nobody's way."""
    store.settings.set("from-the-future", "x")
    store.settings.set("depth", 20)
    assert dict(store.settings.read().values) == {"depth": 20}


@pytest.mark.parametrize("name", CONSTANTS)
def test_a_constant_in_the_settings_is_passed_over(store: Store, name: str) -> None:
    """Whatever a file has under the name of a constant, recalls use the constant."""
    store.settings.set(name, 0.25)
    assert dict(store.settings.read().values) == {}
    assert store.settings.read().number(name) == CONSTANTS[name].default


def test_the_legs_of_a_store(store: Store) -> None:
    """Every store has the words, meaning and rare-terms legs, in this order, with the least that each can score."""
    assert [(leg.name, leg.least) for leg in store.legs] == [("lexical", 0.0), ("dense", -1.0), ("exact", 0.0)]
