"""What the meaning leg of every store finds: checked against cosines worked out here, from vectors of toy models."""

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from fakes import TOY_DIMENSION, ToyEmbedder
from making import about, at, change_memory, forget_memory, id_of, make_memory, make_query, ref_of, use_model
from recollect.core.errors import LegError, LegTimeout
from recollect.core.hits import Hit, Ref
from recollect.core.memory import Memory
from recollect.core.ports import Leg, Store
from recollect.core.vectors import pack, unpack
from recollect.service.embed import build, embed_waiting
from recollect.service.gate import Gate
from recollect.service.recall import recall

LONG = 60.0
NO_MODEL = "no embedding model is set up (`recollect embed` does that)"


def _leg(store: Store) -> Leg:
    return next(leg for leg in store.legs if leg.name == "dense")


def _ask(store: Store, text: str = "query", *spaces: str, depth: int = 100, **parts: Any) -> list[Hit]:  # noqa: ANN401
    return list(_leg(store).search(make_query(text, *spaces, **parts), depth, LONG))


def _found(hits: Sequence[Hit]) -> list[str]:
    return [hit.ref.id for hit in hits]


def _build(store: Store, model: str = "toy") -> None:
    build(store, Gate(ToyEmbedder(model)))


def _cosine(text: str, query: str, model: str = "toy") -> float:
    """Give the cosine between a query and a text that no other was said before, as kept in halves."""
    toy = ToyEmbedder(model)
    kept = unpack(pack(toy.vector(text)))
    return math.fsum(a * b for a, b in zip(kept, toy.vector(query), strict=True))


def _expect(memories: Sequence[Memory], query: str = "query", model: str = "toy") -> dict[Ref, float]:
    return {Ref(each.space, each.id): _cosine(each.content, query, model) for each in memories}


def _assert_hits(hits: Sequence[Hit], expected: Mapping[Ref, float]) -> None:
    assert {hit.ref: hit.score for hit in hits} == {ref: about(score, 2e-6) for ref, score in expected.items()}
    assert list(hits) == sorted(hits, key=lambda hit: (-hit.score, hit.ref.id, hit.ref.space))


def _texts(number: int, **fields: Any) -> list[Memory]:  # noqa: ANN401
    return [make_memory(n, f"text {n}", **fields) for n in range(1, number + 1)]


def test_the_order_is_that_of_the_cosines(store: Store) -> None:
    """Every memory that has a vector is found, best first, its score the cosine to the query's vector."""
    memories = _texts(40)
    store.memories.add(memories)
    _build(store)
    for query in ("query", "another question", "text 7"):
        _assert_hits(_ask(store, query), _expect(memories, query))
    best = _ask(store, "text 7")[0]
    assert (best.ref, best.score) == (ref_of(7), about(1.0, 1e-3))


def test_the_evidence_is_the_cosine_from_nothing_up(store: Store) -> None:
    """What points away from the query has no evidence at all."""
    store.memories.add(_texts(20))
    _build(store)
    hits = _ask(store)
    assert {hit.score > 0 for hit in hits} == {True, False}
    assert all(hit.evidence == max(0.0, hit.score) for hit in hits)


def test_ties_stand_by_id_and_so_does_the_cut(store: Store) -> None:
    """Memories of one text have one score, and come in the order of their ids, however they were added."""
    numbers = list(range(1, 31))
    random.Random(1).shuffle(numbers)
    store.memories.add([make_memory(n, "the same") for n in numbers])
    _build(store)
    for parts in ({}, {"project": "any"}, {"as_of": at(1000)}):
        assert _found(_ask(store, **parts)) == [id_of(n) for n in range(1, 31)]
        assert _found(_ask(store, depth=7, **parts)) == [id_of(n) for n in range(1, 8)]


def test_the_depth_is_kept(store: Store) -> None:
    """No more hits than asked for, and the best of them."""
    store.memories.add(_texts(20))
    _build(store)
    every = _ask(store)
    for depth in (1, 3, 19, 20, 21):
        assert _ask(store, depth=depth) == every[:depth]


@pytest.mark.parametrize("parts", [{}, {"project": "site"}, {"as_of": at(1000)}])
def test_exclusions_do_not_starve_the_result(store: Store, parts: dict[str, Any]) -> None:
    """With the best ten excluded, the next ten come."""
    store.memories.add(_texts(30))
    _build(store)
    every = _found(_ask(store, **parts))
    best = frozenset(_found(_ask(store, depth=10, **parts)))
    assert _found(_ask(store, depth=10, exclude=best, **parts)) == every[10:20]
    assert _found(_ask(store, depth=10, exclude=best | {"no id"}, **parts)) == every[10:20]


@pytest.mark.parametrize(
    ("parts", "numbers"),
    [
        ({}, {1, 2, 3, 4, 5, 6}),
        ({"project": "site"}, {1, 3, 4, 5, 6}),
        ({"project": "other"}, {3, 4, 5, 6}),
        ({"project": ""}, {1, 2, 3, 4, 5, 6}),
        ({"sessions": frozenset({"s1"})}, {3, 4, 6}),
        ({"sessions": frozenset({"s1", "s2"})}, {3, 4, 5, 6}),
        ({"sessions": frozenset({"s9"})}, set()),
        ({"categories": frozenset({"people"})}, {2}),
        ({"before": 2}, {3}),
        ({"before": 0}, set()),
        ({"as_of": at(3)}, {1, 2, 3}),
        ({"as_of": at(0)}, set()),
        ({"sessions": frozenset({"s1"}), "before": 3, "as_of": at(3)}, {3}),
        ({"exclude": frozenset({id_of(1), id_of(5), "\ud800"})}, {2, 3, 4, 6}),
    ],
)
def test_scopes_narrow(store: Store, parts: dict[str, Any], numbers: set[int]) -> None:
    """Project, sessions, categories, place, time and exclusions leave out what lies outside."""
    store.memories.add(_texts(6, space="another", session="s1", place=1))
    store.memories.add(
        [
            make_memory(1, project="site"),
            make_memory(2, project="shop", category="people"),
            make_memory(3, session="s1", place=1),
            make_memory(4, session="s1", place=2),
            make_memory(5, session="s2", place=2),
            make_memory(6, session="s1"),
        ]
    )
    _build(store)
    assert {hit.ref for hit in _ask(store, **parts)} == {ref_of(n) for n in numbers}


def test_several_spaces_are_merged_by_score(store: Store) -> None:
    """The hits of all spaces asked stand in one list; an unknown space adds nothing, and others stay away."""
    mine, ours = _texts(10), [make_memory(n, f"ours {n}", space="ours") for n in range(1, 11)]
    store.memories.add([*mine, *ours, *_texts(5, space="theirs")])
    _build(store)
    hits = _ask(store, "query", "personal", "ours", "nowhere")
    _assert_hits(hits, _expect([*mine, *ours]))
    assert _ask(store, "query", "ours", "personal", depth=5) == hits[:5]
    _assert_hits(_ask(store, "query", "personal"), _expect(mine))


def test_a_moment_finds_what_has_not_changed_since(store: Store) -> None:
    """A vector is of the present text: as of then, only what was so already is found by it."""
    old, edited, weighed = _texts(3)
    store.memories.add([old, edited, weighed, make_memory(30, "new", created_at=at(30), updated_at=at(30))])
    store.memories.change(change_memory(edited, 20, content="other words"))
    store.memories.change(change_memory(weighed, 25, importance=1.0))
    _build(store)
    for seconds, numbers in ((0, set()), (10, {1}), (20, {1, 2}), (24.9, {1, 2}), (25, {1, 2, 3}), (30, {1, 2, 3, 30})):
        assert {hit.ref for hit in _ask(store, as_of=at(seconds))} == {ref_of(n) for n in numbers}, seconds


def test_what_may_not_be_embedded_is_never_found(store: Store) -> None:
    """Forgotten, purged and sensitive memories are gone from the leg at once, at whatever moment one asks."""
    memories = _texts(5)
    store.memories.add([*memories, make_memory(6, "secret", sensitive=True)])
    _build(store)
    assert len(_ask(store)) == 5
    store.memories.change(forget_memory(memories[0], 10))
    store.memories.purge(ref_of(2))
    store.memories.change(change_memory(memories[2], 10, sensitive=True))
    for moment in (None, at(9), at(100)):
        assert {hit.ref for hit in _ask(store, as_of=moment)} == {ref_of(4), ref_of(5)}
    _build(store)
    assert {hit.ref for hit in _ask(store)} == {ref_of(4), ref_of(5)}


def test_an_edited_memory_is_found_by_its_new_text_alone(store: Store) -> None:
    """Between the edit and its vector the leg does not bring it, and never by the old text."""
    memories = _texts(3)
    store.memories.add(memories)
    _build(store)
    edited = change_memory(memories[0], 10, content="new text")
    store.memories.change(edited)
    _assert_hits(_ask(store, "text 1"), _expect(memories[1:], "text 1"))
    _build(store)
    _assert_hits(_ask(store, "text 1"), _expect([edited, *memories[1:]], "text 1"))


def test_another_process_is_followed(store: Store, other: Store) -> None:
    """What another one adds, edits, forgets, restores and purges is found, or not, by the next search here."""
    now = {each.id: each for each in _texts(6)}
    store.memories.add(list(now.values()))
    _build(store)
    _assert_hits(_ask(store), _expect(list(now.values())))

    def change(memory: Memory) -> None:
        other.memories.change(memory)
        now[memory.id] = memory

    added = make_memory(7, "added elsewhere")
    other.memories.add([added])
    now[added.id] = added
    change(change_memory(now[id_of(1)], 10, content="edited elsewhere"))
    embed_waiting(other, Gate(ToyEmbedder()))
    _assert_hits(_ask(store), _expect(list(now.values())))
    gone = forget_memory(now.pop(id_of(2)), 20)
    other.memories.change(gone)
    other.memories.purge(ref_of(3))
    now.pop(id_of(3))
    _assert_hits(_ask(store), _expect(list(now.values())))
    change(change_memory(gone, 30, deleted_at=None))
    embed_waiting(other, Gate(ToyEmbedder()))
    _assert_hits(_ask(store), _expect(list(now.values())))
    assert _ask(store) == _ask(other)


def test_a_switch_by_another_process_is_followed(store: Store, other: Store) -> None:
    """A model that is built and switched to elsewhere is compared with its own queries here, there and back."""
    memories = _texts(5)
    store.memories.add(memories)
    for model in ("one", "another", "one"):
        _build(other, model)
        _assert_hits(_ask(store), _expect(memories, model=model))
    other.vectors.switch(None)
    with pytest.raises(LegError, match="no embedding model"):
        _ask(store)


def test_a_set_made_anew_under_its_name_is_followed(store: Store, other: Store) -> None:
    """Vectors of a set that was dropped elsewhere are forgotten here, even when one of that name is there again."""
    memories = _texts(4)
    store.memories.add(memories)
    _build(store)
    assert len(_ask(store)) == 4
    other.vectors.switch(None)
    other.vectors.drop("toy")
    use_model(other)
    assert _ask(store) == []
    embed_waiting(other, Gate(ToyEmbedder()), batch=3, stop=iter([False, True]).__next__)
    assert len(_ask(store)) == 3


@pytest.mark.parametrize("seed", range(4))
def test_whatever_happens_the_leg_finds_what_has_a_vector(store: Store, other: Store, seed: int) -> None:
    """After any deeds of two processes, in any order, both find exactly the memories with vectors of their texts."""
    chance, gate = random.Random(seed), Gate(ToyEmbedder())
    here: dict[int, Memory] = {}
    deeds: dict[str, dict[str, Any]] = {
        "edit": {"sensitive": False, "deleted_at": None},
        "forget": {"deleted_at": at(1000)},
        "mark": {"sensitive": True},
    }
    embedded: dict[Ref, float] = {}
    use_model(store)
    for step in range(60):
        writer = chance.choice((store, other))
        known = sorted(here)
        what = chance.choice(("add", "add", "embed", "embed", "edit", "forget", "mark", "purge"))
        if what == "add" or not known:
            here[step] = make_memory(step, f"text {step}", space=chance.choice(("personal", "ours")))
            writer.memories.add([here[step]])
        elif what == "embed":
            waiting = writer.vectors.waiting("toy", chance.randint(1, 4))
            made = [pack(vector) for vector in gate.embed(waiting)]
            assert writer.vectors.keep("toy", list(zip(waiting, made, strict=True))) == len(waiting)
            embedded |= _expect([each.memory for each in waiting])
        else:
            number = chance.choice(known)
            old = here[number]
            embedded.pop(Ref(old.space, old.id), None)
            if what == "purge":
                writer.memories.purge(Ref(old.space, here.pop(number).id))
            else:
                here[number] = change_memory(old, 1000 + step, content=f"as of step {step}", **deeds[what])
                writer.memories.change(here[number])
        for reader in (store, other) if chance.random() < 0.7 else ():
            _assert_hits(_ask(reader, "query", "personal", "ours"), embedded)
    assert embedded


def test_without_a_model_the_leg_is_left_out(store: Store) -> None:
    """The leg says what is missing, and so does the recall, which goes by words; nothing is wrong with the rest."""
    store.memories.add(_texts(3))
    store.vectors.begin("toy")
    with pytest.raises(LegError) as raised:
        _ask(store)
    assert str(raised.value) == NO_MODEL
    assert _leg(store).weigh(make_query(), ref_of(1)).summary == NO_MODEL
    answer = recall(store, make_query("text 2"))
    assert answer.notices == (f"dense was left out: {NO_MODEL}.",)
    assert answer.results[0].memory.id == id_of(2)


def test_a_model_in_use_without_vectors_finds_nothing(store: Store) -> None:
    """Neither an empty set nor an empty store is an error."""
    use_model(store)
    assert _ask(store) == _ask(store, "query", "nowhere") == []
    store.memories.add(_texts(2))
    assert _ask(store) == []
    _build(store)
    assert len(_ask(store)) == 2


def test_a_model_that_is_not_what_it_was_is_left_out(store: Store) -> None:
    """A query's vector of another length than the set's is compared with nothing."""
    store.memories.add(_texts(1))
    use_model(store)
    waiting = store.vectors.waiting("toy", 1)
    store.vectors.keep("toy", [(waiting[0], pack([1.0, 0.0]))])
    with pytest.raises(LegError, match=f"toy gave a vector of {TOY_DIMENSION} numbers; those here have 2"):
        _ask(store)


def test_the_leg_stops_when_its_time_is_over(store: Store) -> None:
    """A search past its limit ends itself, and the next one is complete."""
    memories = _texts(200)
    store.memories.add(memories)
    _build(store)
    with pytest.raises(LegTimeout, match="longer than 0 ms"):
        _leg(store).search(make_query("query"), 10, 1e-9)
    _assert_hits(_ask(store, depth=200), _expect(memories))


def test_what_speaks_for_a_memory(store: Store) -> None:
    """The leg tells the cosine, or that there is no vector to compare."""
    store.memories.add([*_texts(2), make_memory(3, sensitive=True)])
    _build(store)
    store.memories.add([make_memory(4, "waits")])
    query = make_query("query")
    assert _leg(store).weigh(query, ref_of(1)).summary == f"its cosine to the query is {_cosine('text 1', 'query'):.3f}"
    for without in (ref_of(3), ref_of(4), ref_of(9), ref_of(1, "nowhere")):
        assert "has no vector" in _leg(store).weigh(query, without).summary
