"""What every store does with concepts: queues, mentions only of the present text, names that lead to one concept."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from making import at, change_memory, forget_memory, make_memory, ref_of
from recollect.core.concepts import RULES, Extraction, Mention, Relation
from recollect.core.errors import NotFound, Refused
from recollect.core.hits import Ref
from recollect.core.memory import LABEL_LIMIT, Memory
from recollect.core.ports import Common, Said, Store
from recollect.service.extract import Rules, extract_waiting

ALL = 1000
"""More than any test has waiting."""
LIVES_IN = Extraction((), (Relation("Anna", "lives in", "Oslo"),))


def _number(ref: Ref) -> int:
    return int(ref.id[-12:], 16)


def _read(store: Store) -> int:
    return extract_waiting(store, Rules())


def _queue(store: Store, extractor: str = RULES) -> list[int]:
    """Give the numbers of the memories that wait, sorted."""
    waiting = store.concepts.waiting(extractor, ALL)
    return sorted(_number(Ref(each.memory.space, each.memory.id)) for each in waiting)


def _mentioning(store: Store, name: str, space: str = "personal") -> list[int]:
    """Give the numbers of the memories that mention a concept."""
    concept = store.concepts.find(space, name)
    return [] if concept is None else sorted({_number(ref) for ref, _ in concept.mentions})


def _said(store: Store, name: str) -> list[tuple[str, float, float | None, list[int]]]:
    """Give what is said of a concept, since and until which second, and who says it."""
    concept = store.concepts.find("personal", name)
    return [] if concept is None else [_brief(said) for said in concept.relations]


def _brief(said: Said) -> tuple[str, float, float | None, list[int]]:
    seconds = [None if moment is None else (moment - at(0)).total_seconds() for moment in (said.since, said.until)]
    assert seconds[0] is not None
    return (
        f"{said.source} {said.relation} {said.target}",
        seconds[0],
        seconds[1],
        [_number(ref) for ref in said.evidence],
    )


def _is_healthy(store: Store) -> bool:
    return store.examine(lambda _done, _total: None) == []


def test_a_new_extractor_waits_for_all_that_may_be_read(store: Store) -> None:
    """Memories of every space that are neither forgotten nor sensitive wait, each once, as they are."""
    store.memories.add([make_memory(n) for n in (1, 2, 3)])
    store.memories.add([make_memory(4, sensitive=True), make_memory(5, space="ours")])
    store.memories.change(forget_memory(make_memory(3), 10))
    assert store.concepts.readers() == []
    store.concepts.begin(RULES)
    assert _queue(store) == [1, 2, 5]
    assert [each.memory for each in store.concepts.waiting(RULES, ALL, "ours")] == [make_memory(5, space="ours")]
    (reader,) = store.concepts.readers()
    assert (reader.name, reader.calls, reader.tokens, reader.waiting) == (RULES, 0, 0, 3)
    assert [each.waiting for each in store.concepts.readers("ours")] == [1]
    assert [each.waiting for each in store.concepts.readers("elsewhere")] == [0]


def test_an_extractor_that_is_known_goes_on_where_it_stood(store: Store) -> None:
    """Beginning again queues nothing twice and nothing that was read."""
    store.memories.add([make_memory(n) for n in (1, 2, 3)])
    store.concepts.begin(RULES)
    done = store.concepts.waiting(RULES, 2)
    assert store.concepts.keep(RULES, [(each, Extraction()) for each in done]) == 2
    store.concepts.begin(RULES)
    assert _queue(store) == [3]
    assert len(store.concepts.readers()) == 1


def test_what_comes_later_waits_for_all_who_read(store: Store) -> None:
    """What is remembered, or changes what it says, waits for each extractor, but for those that only imported."""
    store.memories.add([make_memory(1)])
    store.concepts.load("import", {ref_of(1): LIVES_IN})
    for extractor in (RULES, "llm"):
        store.concepts.begin(extractor)
        store.concepts.keep(extractor, [(each, Extraction()) for each in store.concepts.waiting(extractor, ALL)])
    store.memories.add([make_memory(2), make_memory(3, sensitive=True)])
    assert (_queue(store), _queue(store, "llm"), _queue(store, "import")) == ([2], [2], [])


@pytest.mark.parametrize(
    ("change", "waits"),
    [
        ({"content": "Something else."}, True),
        ({"tags": ("one",)}, True),
        ({"keywords": ("one",)}, True),
        ({"importance": 0.9}, False),
        ({"category": "people", "project": "p", "session": "s", "place": 1}, False),
        ({"sensitive": True}, False),
    ],
)
def test_what_changes_what_is_read_is_read_again(store: Store, change: dict[str, Any], waits: bool) -> None:
    """Text, tags and keywords are read; the rest of a memory makes no difference to its concepts."""
    store.memories.add([make_memory(1)])
    _read(store)
    store.memories.change(change_memory(make_memory(1), 60, **change))
    assert _queue(store) == [1] * waits


def test_only_what_is_still_so_is_kept_and_once(store: Store) -> None:
    """What somebody else kept, what was changed meanwhile and what is gone is not kept; the rest is."""
    memories = [make_memory(n, f"Anna has {n} cats.") for n in (1, 2, 3, 4)]
    store.memories.add(memories)
    store.concepts.begin(RULES)
    waiting = store.concepts.waiting(RULES, ALL)
    read = [(each, Extraction((Mention("Anna"),))) for each in waiting]
    assert store.concepts.keep(RULES, read[:1]) == 1
    store.memories.change(change_memory(memories[1], 60, content="Anna has no cats."))
    store.memories.purge(ref_of(3))
    assert store.concepts.keep(RULES, read) == 1
    assert _mentioning(store, "anna") == [1, 4]
    assert _queue(store) == [2]


def test_an_edit_that_makes_no_difference_to_its_text_does_not_make_a_reading_worthless(store: Store) -> None:
    """What was read of a memory whose importance changed meanwhile is kept."""
    store.memories.add([make_memory(1)])
    store.concepts.begin(RULES)
    waiting = store.concepts.waiting(RULES, ALL)
    store.memories.change(change_memory(make_memory(1), 60, importance=0.9))
    assert store.concepts.keep(RULES, [(each, Extraction((Mention("Anna"),))) for each in waiting]) == 1
    assert _mentioning(store, "Anna") == [1]


def test_mentions_are_of_one_concept_however_it_is_written(store: Store) -> None:
    """Case and apostrophes make no other concept; it is called as it was first, and mentioned in its space alone."""
    store.memories.add([
        make_memory(1, "We met O\u2019Hara there.", tags=("trip",)),
        make_memory(2, "They know O'HARA well."),
        make_memory(3, "O'Hara is somebody else here.", space="ours"),
    ])  # fmt: skip
    assert _read(store) == 3
    concept = store.concepts.find("personal", "o'hara")
    assert concept is not None
    assert (concept.name, concept.aliases, concept.relations) == ("O\u2019Hara", (), ())
    assert concept.mentions == ((ref_of(1), "name"), (ref_of(2), "name"))
    trip = store.concepts.find("personal", "TRIP")
    assert trip is not None
    assert trip.mentions == ((ref_of(1), "tag"),)
    assert store.concepts.find("ours", "trip") is store.concepts.find("elsewhere", "trip") is None
    assert _is_healthy(store)


def test_an_edit_takes_its_mentions_along(store: Store) -> None:
    """From the moment of the edit nothing of the old text is mentioned; what nobody else mentions is no concept."""
    old = make_memory(1, "We met Anna and Berta.")
    store.memories.add([old, make_memory(2, "We met Berta.")])
    _read(store)
    store.memories.change(change_memory(old, 60, content="We met Carla."))
    assert (_mentioning(store, "Berta"), store.concepts.find("personal", "Anna and Berta")) == ([2], None)
    _read(store)
    assert _mentioning(store, "Carla") == [1]
    assert _is_healthy(store)


@pytest.mark.parametrize(
    "hide", [lambda memory: forget_memory(memory, 60), lambda memory: change_memory(memory, 60, sensitive=True)]
)
def test_what_is_forgotten_or_sensitive_mentions_nothing(store: Store, hide: Callable[[Memory], Memory]) -> None:
    """Its mentions go with the write, it does not wait, and when it is brought back it is read again."""
    memory = make_memory(1, "We met Anna.")
    store.memories.add([memory])
    _read(store)
    hidden = hide(memory)
    store.memories.change(hidden)
    assert store.concepts.find("personal", "Anna") is None
    assert (_read(store), _queue(store)) == (0, [])
    assert _is_healthy(store)
    back = replace(change_memory(hidden, 70, sensitive=False), deleted_at=None, action="restored")
    store.memories.change(back)
    assert (_queue(store), _read(store), _mentioning(store, "Anna")) == ([1], 1, [1])
    assert _is_healthy(store)


def test_what_cannot_be_kept_is_left_out(store: Store) -> None:
    """Names and relations that are empty, too long or no text are passed over; all else of the reading is kept."""
    store.memories.add([make_memory(1)])
    bad = ["", "  ", "a\0b", "\ud800", "x" * (LABEL_LIMIT + 1)]
    read = Extraction(
        (*map(Mention, bad), Mention("  Anna \n Berg ")),
        (
            *(Relation(name, "knows", "Anna Berg") for name in bad),
            *(Relation("Anna Berg", "knows", name) for name in bad),
            *(Relation("Anna Berg", name, "Bo") for name in bad),
            Relation("anna berg", "lives\tin", "Oslo"),
            Relation("Anna Berg", "lives in", "oslo"),
        ),
    )
    assert store.concepts.load("import", {ref_of(1): read}) == 1
    assert _said(store, "Anna Berg") == [("Anna Berg lives in Oslo", 1, None, [1])]
    assert store.concepts.find("personal", "Bo") is None
    longest = "x" * LABEL_LIMIT
    store.concepts.load(
        "import", {ref_of(1): Extraction((), (Relation(longest, longest, "\U0001f600" * LABEL_LIMIT),))}
    )
    assert _mentioning(store, longest) == [1]


def test_an_extractor_is_dropped_with_all_that_it_read(store: Store) -> None:
    """What another one read as well stays; the queue of the one that goes is gone, and so is what it alone said."""
    store.memories.add([make_memory(1, "We met Anna in a garden."), make_memory(2, "We met Berta.")])
    _read(store)
    said = (Relation("Anna", "grows", "roses"),)
    store.concepts.load("import", {ref_of(1): Extraction((Mention("Anna"), Mention("Eden")), said)})
    store.memories.add([make_memory(3, "We met Carla.")])
    store.concepts.drop(RULES)
    assert [each.name for each in store.concepts.readers()] == ["import"]
    assert (_mentioning(store, "Anna"), store.concepts.find("personal", "Berta")) == ([1], None)
    assert _said(store, "roses") == [("Anna grows roses", 1, None, [1])]
    assert _is_healthy(store)
    store.concepts.drop("import")
    assert store.concepts.find("personal", "Anna") is store.concepts.find("personal", "roses") is None
    assert _is_healthy(store)
    with pytest.raises(NotFound, match="no extractor 'import'"):
        store.concepts.drop("import")
    with pytest.raises(NotFound, match="no extractor 'rules 1'"):
        store.concepts.waiting(RULES, ALL)
    assert _read(store) == 3


def test_another_name_leads_to_the_same_concept(store: Store) -> None:
    """A name that was given finds the concept, whoever writes it later mentions that, and both are known."""
    store.memories.add([make_memory(1, "We met Anna.")])
    _read(store)
    store.concepts.alias("personal", "anna", "Aunt Annie")
    store.memories.add([make_memory(2, "We miss Aunt Annie.")])
    _read(store)
    concept = store.concepts.find("personal", "AUNT ANNIE")
    assert concept is not None
    assert (concept.name, concept.aliases) == ("Anna", ("aunt annie",))
    assert _mentioning(store, "Anna") == [1, 2]
    assert store.concepts.find("ours", "Aunt Annie") is None
    assert _is_healthy(store)


def test_a_name_that_was_given_outlives_its_mentions(store: Store) -> None:
    """When nothing mentions the concept any more, what somebody said about its names is still known."""
    memory = make_memory(1, "We met Anna.")
    store.memories.add([memory])
    _read(store)
    store.concepts.alias("personal", "Anna", "Annie")
    store.memories.change(change_memory(memory, 60, content="We met nobody."))
    store.memories.add([make_memory(2, "We met Annie.")])
    _read(store)
    assert _mentioning(store, "Anna") == [2]


def test_two_concepts_become_one(store: Store) -> None:
    """Whatever led to either leads to the one: mentions, names, and relations with those who state them."""
    store.memories.add([make_memory(n) for n in (1, 2, 3)])
    store.concepts.load(
        "import",
        {
            ref_of(1): Extraction((Mention("Bob"), Mention("Robert", "tag")), (Relation("Bob", "knows", "Robert"),)),
            ref_of(2): Extraction((), (Relation("Robert", "plays", "lyre"), Relation("Eva", "knows", "Robert"))),
            ref_of(3): Extraction((), (Relation("Bob", "plays", "lyre"),)),
        },
    )
    store.concepts.alias("personal", "Robert", "Rob")
    store.concepts.alias("personal", "Bob", "Robert")
    concept = store.concepts.find("personal", "rob")
    assert concept is not None
    assert (concept.name, concept.aliases) == ("Bob", ("rob", "robert"))
    assert concept.mentions == ((ref_of(1), "name"), (ref_of(2), "name"), (ref_of(3), "name"))
    assert sorted(map(_brief, concept.relations)) == [
        ("Bob knows Bob", 1, None, [1]),
        ("Bob plays lyre", 2, None, [2, 3]),
        ("Eva knows Bob", 2, None, [2]),
    ]
    assert _is_healthy(store)
    # What only one of those who stated it takes back holds on.
    store.memories.change(change_memory(make_memory(3), 60, content="Something else."))
    assert ("Bob plays lyre", 2, None, [2]) in _said(store, "lyre")


def test_a_name_of_its_own_changes_nothing(store: Store) -> None:
    """Giving a concept a name that it has is no trouble."""
    store.memories.add([make_memory(1, "We met Anna.")])
    _read(store)
    store.concepts.alias("personal", "Anna", "ANNA")
    assert _mentioning(store, "Anna") == [1]
    assert _is_healthy(store)


def test_only_what_is_known_is_given_another_name(store: Store) -> None:
    """An unknown concept, an unknown space and what can be no name are refused."""
    store.memories.add([make_memory(1, "We met Anna.")])
    _read(store)
    with pytest.raises(NotFound, match="no concept 'Berta'"):
        store.concepts.alias("personal", "Berta", "Bertie")
    with pytest.raises(NotFound):
        store.concepts.alias("elsewhere", "Anna", "Annie")
    for bad in (" ", "a\0b", "x" * (LABEL_LIMIT + 1)):
        with pytest.raises(Refused):
            store.concepts.alias("personal", "Anna", bad)
    assert store.concepts.find("personal", "Annie") is None


def test_what_somebody_else_read_is_taken_in(store: Store) -> None:
    """Only of memories that are there and may be read; both ends of a relation are mentioned."""
    store.memories.add([make_memory(1), make_memory(2, sensitive=True), make_memory(3), make_memory(4, space="ours")])
    store.memories.change(forget_memory(make_memory(3), 10))
    refs = [*(ref_of(n) for n in (1, 2, 3, 9)), ref_of(4, "ours"), ref_of(1, "elsewhere"), Ref("personal", "no id")]
    assert store.concepts.load("import", dict.fromkeys(refs, LIVES_IN)) == 2
    assert _said(store, "Oslo") == [("Anna lives in Oslo", 1, None, [1])]
    assert (_mentioning(store, "Anna"), _mentioning(store, "Oslo", "ours")) == ([1], [4])
    assert [(each.name, each.waiting) for each in store.concepts.readers()] == [("import", 0)]
    assert _is_healthy(store)


def test_what_is_taken_in_again_takes_the_place_of_the_first(store: Store) -> None:
    """The same once more changes nothing; another reading of the same text leaves nothing of the one before."""
    store.memories.add([make_memory(1)])
    for _ in range(2):
        store.concepts.load("import", {ref_of(1): LIVES_IN})
        assert _said(store, "Anna") == [("Anna lives in Oslo", 1, None, [1])]
    store.concepts.load("import", {ref_of(1): Extraction((), (Relation("Anna", "lives in", "Rome"),))})
    assert _said(store, "Anna") == [("Anna lives in Rome", 1, None, [1])]
    assert store.concepts.find("personal", "Oslo") is None
    assert _is_healthy(store)


def test_a_relation_holds_until_nobody_states_it(store: Store) -> None:
    """It begins with the first who states it, ends with the last, and begins anew when it is stated again."""
    memories = {n: make_memory(n, f"Text {n}.") for n in (1, 2, 3)}
    store.memories.add(list(memories.values()))
    for n in (2, 1):
        store.concepts.load("import", {ref_of(n): LIVES_IN})
    assert _said(store, "Anna") == [("Anna lives in Oslo", 1, None, [1, 2])]
    store.memories.change(change_memory(memories[1], 50, content="Text one."))
    assert _said(store, "Anna") == [("Anna lives in Oslo", 1, None, [2])]
    store.memories.change(forget_memory(memories[2], 60))
    assert _said(store, "Anna") == [("Anna lives in Oslo", 1, 60, [1, 2])]
    assert _mentioning(store, "Anna") == []
    store.concepts.load("import", {ref_of(3): LIVES_IN})
    assert _said(store, "Anna") == [("Anna lives in Oslo", 1, 60, [1, 2]), ("Anna lives in Oslo", 3, None, [3])]
    assert _is_healthy(store)


def test_of_what_is_purged_nothing_is_left(store: Store) -> None:
    """Not even what its earlier texts stated; what others stated is as it was."""
    memories = {n: make_memory(n, f"Text {n}.") for n in (1, 2)}
    store.memories.add(list(memories.values()))
    said = Extraction((), (Relation("Anna", "hides", "a key"), Relation("Anna", "lives in", "Oslo")))
    store.concepts.load("import", {ref_of(1): said, ref_of(2): LIVES_IN})
    for n in (1, 2):
        store.memories.change(change_memory(memories[n], 50 + n, content=f"Other text {n}."))
    store.memories.purge(ref_of(1))
    assert store.concepts.find("personal", "a key") is None
    assert _said(store, "Anna") == [("Anna lives in Oslo", 1, 52, [2])]
    store.memories.purge(ref_of(2))
    assert store.concepts.find("personal", "Anna") is store.concepts.find("personal", "Oslo") is None
    assert _is_healthy(store)


def test_of_what_became_sensitive_nothing_is_left(store: Store) -> None:
    """What it stated, now or before, is no longer known of it, not even as having been so."""
    memory = make_memory(1, "Text 1.")
    store.memories.add([memory])
    store.concepts.load("import", {ref_of(1): LIVES_IN})
    edited = change_memory(memory, 50, content="Other text.")
    store.memories.change(edited)
    assert _said(store, "Anna") == [("Anna lives in Oslo", 1, 50, [1])]
    store.memories.change(change_memory(edited, 60, sensitive=True))
    assert store.concepts.find("personal", "Anna") is None
    assert _is_healthy(store)


def test_a_question_asks_whether_any_name_is_known(store: Store) -> None:
    """A name counts in whatever case, in any of the spaces asked, if a memory there mentions it."""
    store.memories.add([make_memory(1, "We met Anna.", space="ours"), make_memory(2)])
    _read(store)
    assert store.concepts.knows(["personal", "ours"], ["Berta", "ANNA"])
    assert not store.concepts.knows(["personal", "elsewhere"], ["Anna"])
    assert not store.concepts.knows(["ours"], ["Berta"])
    assert not store.concepts.knows(["ours"], [])
    store.memories.change(change_memory(make_memory(1, space="ours"), 60, content="We met nobody."))
    assert not store.concepts.knows(["ours"], ["Anna"])


def test_the_most_common_come_first(store: Store) -> None:
    """Concepts of a space that several memories mention are listed, each memory counted once."""
    store.memories.add([make_memory(n) for n in (1, 2, 3)] + [make_memory(4, space="ours")])
    names = {1: "ABC", 2: "AB", 3: "AD"}
    for extractor in ("one", "two"):
        read = {ref_of(n): Extraction(tuple(map(Mention, letters))) for n, letters in names.items()}
        store.concepts.load(extractor, {**read, ref_of(4, "ours"): Extraction((Mention("B"),))})
    assert store.concepts.common("personal", 5) == [Common("A", 3), Common("B", 2)]
    assert store.concepts.common("personal", 1) == [Common("A", 3)]
    assert store.concepts.common("ours", 5) == store.concepts.common("elsewhere", 5) == []
