"""What ties memories to others, in every store: names, rare words, relations, links; what many share ties nobody."""

from dataclasses import replace
from datetime import datetime

import pytest

from making import at, change_memory, forget_memory, make_link, make_memory, ref_of
from recollect.core.concepts import Extraction, Mention, Relation
from recollect.core.hits import Ref
from recollect.core.ports import Store
from recollect.core.spread import TIE_KINDS, TieKind, limits_of
from recollect.service.extract import Rules, extract_waiting

LIMITS = limits_of(20)
"""Those of the small spaces of these tests."""


def _ties(
    store: Store, number: int, *kinds: TieKind, as_of: datetime | None = None, space: str = "personal"
) -> dict[str, list[int]]:
    """Give what a memory shares, and the numbers of all that share it."""
    ref = ref_of(number, space)
    found = store.concepts.ties([ref], kinds, as_of)
    assert found.keys() == {ref}
    ties = {tie.name: tie.members for tie in found[ref]}
    assert len(ties) == len(found[ref])
    assert {tie.kind for tie in found[ref]} <= set(kinds)
    assert all(members == tuple(sorted(set(members))) and ref in members for members in ties.values())
    return {name: [int(each.id[-12:], 16) for each in members] for name, members in ties.items()}


def _mention(store: Store, names: dict[int, str], extractor: str = "import") -> None:
    read = {ref_of(number): Extraction(tuple(map(Mention, said.split()))) for number, said in names.items()}
    store.concepts.load(extractor, read)


def test_names_that_memories_share_tie_them(store: Store) -> None:
    """A name is shared by all of the space that mention it, by whatever name, in any project or session."""
    store.memories.add([
        make_memory(1, "We met Anna."),
        make_memory(2, "There is a letter from ANNA.", project="p"),
        make_memory(3, "There is a card from Annie.", session="s", place=1),
        make_memory(4, "We met Berta."),
        make_memory(5, "We met Anna.", space="ours"),
    ])  # fmt: skip
    extract_waiting(store, Rules())
    store.concepts.alias("personal", "Anna", "Annie")
    assert _ties(store, 1, "names") == _ties(store, 3, "names") == {"Anna": [1, 2, 3]}
    assert _ties(store, 4, "names") == _ties(store, 5, "names", space="ours") == {}


@pytest.mark.parametrize("extractors", [("one",), ("one", "two", "three")])
def test_a_name_that_too_many_mention_ties_nobody(store: Store, extractors: tuple[str, ...]) -> None:
    """As many as the limit do, one more do not; a memory counts once, however many read the name in it."""
    store.memories.add([make_memory(n) for n in range(1, LIMITS.names + 2)])
    for extractor in extractors:
        _mention(store, dict.fromkeys(range(1, LIMITS.names + 1), "Anna"), extractor)
    assert _ties(store, 1, "names") == {"Anna": list(range(1, LIMITS.names + 1))}
    _mention(store, {LIMITS.names + 1: "Anna"}, extractors[-1])
    assert _ties(store, 1, "names") == {}


def test_rare_words_that_memories_share_tie_them(store: Store) -> None:
    """As many as the limit may hold a word, whether or not anybody has read them; in other spaces it does not count."""
    store.memories.add([make_memory(n, "A lantern.") for n in range(1, LIMITS.terms + 1)])
    store.memories.add([make_memory(9, "A lantern.", space="ours")])
    assert _ties(store, 1, "terms") == {"lantern": list(range(1, LIMITS.terms + 1))}
    assert _ties(store, 9, "terms", space="ours") == {}
    store.memories.add([make_memory(20, "Lanterns hang here.")])
    assert _ties(store, 1, "terms") == {}


def test_limits_grow_with_the_space(store: Store) -> None:
    """In a larger space more may share a word before it says nothing."""
    few = limits_of(100).terms
    assert few == LIMITS.terms
    many = limits_of(1000).terms
    store.memories.add([make_memory(n, "A lantern.") for n in range(1, many + 1)])
    store.memories.add([make_memory(n, f"Word{n}.") for n in range(many + 1, 1001)])
    assert many > few
    assert len(_ties(store, 1, "terms")["lantern"]) == many


def test_relations_lead_to_those_that_mention_the_other_end(store: Store) -> None:
    """From either end, told as it is said, whoever says it; one that has ended leads nowhere."""
    store.memories.add([make_memory(n, f"Text {n}.") for n in (1, 2, 3)])
    _mention(store, {1: "Anna", 2: "Oslo"})
    store.concepts.load("other", {ref_of(3): Extraction((), (Relation("Anna", "lives in", "Oslo"),))})
    assert _ties(store, 1, "relations") == {"Anna lives in Oslo": [1, 2, 3]}
    assert _ties(store, 2, "relations") == {"Anna lives in Oslo": [1, 2, 3]}
    store.memories.change(forget_memory(make_memory(3), 60))
    assert _ties(store, 1, "relations") == _ties(store, 2, "relations") == {}


def test_relations_to_what_too_many_mention_lead_nowhere(store: Store) -> None:
    """The limit is that of names, and counts those who mention the other end."""
    numbers = range(2, LIMITS.names + 2)
    store.memories.add([make_memory(n) for n in (1, *numbers, 30)])
    _mention(store, {1: "Anna", **dict.fromkeys(list(numbers)[:-1], "Oslo")})
    store.concepts.load("other", {ref_of(30): Extraction((), (Relation("Anna", "lives in", "Oslo"),))})
    assert len(_ties(store, 1, "relations")["Anna lives in Oslo"]) == LIMITS.names + 1
    _mention(store, {numbers[-1]: "Oslo"})
    assert _ties(store, 1, "relations") == {}


def test_links_tie_both_ends(store: Store) -> None:
    """Each link is a tie of two; one that has ended is none, nor is what takes another's place."""
    store.memories.add([make_memory(n, f"Text{n}.") for n in (1, 2, 3, 4)])
    store.links.add(make_link(1, "see-also", 2, since=10))
    store.links.add(make_link(3, "part-of", 1, since=10))
    store.links.add(make_link(1, "supersedes", 4, since=10))
    assert _ties(store, 1, "links") == {"see-also": [1, 2], "part-of": [1, 3]}
    assert _ties(store, 2, "links") == {"see-also": [1, 2]}
    assert _ties(store, 4, "links") == {}
    store.links.end(make_link(1, "see-also", 2), at(20))
    assert _ties(store, 1, "links") == {"part-of": [1, 3]}
    assert _ties(store, 1, "links", as_of=at(15)) == {"see-also": [1, 2], "part-of": [1, 3]}


def test_a_sensitive_memory_is_tied_to_nothing(store: Store) -> None:
    """Nothing leads from it or to it: not its words, which are indexed, nor a link, nor what it mentioned before."""
    memories = [make_memory(n, "We met Anna at a lantern.") for n in (1, 2)]
    store.memories.add(memories)
    extract_waiting(store, Rules())
    store.links.add(make_link(1, "see-also", 2, since=10))
    assert _ties(store, 1, *TIE_KINDS).keys() == {"Anna", "anna", "lantern", "met", "see-also"}
    store.memories.change(change_memory(memories[1], 60, sensitive=True))
    assert _ties(store, 1, *TIE_KINDS) == _ties(store, 2, *TIE_KINDS) == {}


def test_a_forgotten_memory_is_tied_to_nothing_until_it_is_brought_back(store: Store) -> None:
    """A link to what was forgotten leads nowhere; once it is brought back and read, all is as before."""
    memories = [make_memory(n, "We met Anna at a lantern.") for n in (1, 2)]
    store.memories.add(memories)
    extract_waiting(store, Rules())
    store.links.add(make_link(1, "see-also", 2, since=10))
    before = _ties(store, 1, *TIE_KINDS)
    gone = forget_memory(memories[1], 60)
    store.memories.change(gone)
    assert _ties(store, 1, *TIE_KINDS) == _ties(store, 2, *TIE_KINDS) == {}
    store.memories.change(replace(change_memory(gone, 70), deleted_at=None))
    assert _ties(store, 1, *TIE_KINDS).keys() == {"anna", "lantern", "met", "see-also"}
    extract_waiting(store, Rules())
    assert _ties(store, 1, *TIE_KINDS) == before
    store.memories.purge(ref_of(2))
    assert _ties(store, 1, *TIE_KINDS) == _ties(store, 2, *TIE_KINDS) == {}


def test_the_past_has_the_words_and_links_it_had(store: Store) -> None:
    """As of a moment, words and links tie as they did then, from texts as they were, however they changed since."""
    memories = {n: make_memory(n, text) for n, text in ((1, "A red lantern."), (2, "A green lantern."), (3, "A key."))}
    store.memories.add(list(memories.values()))
    store.links.add(make_link(1, "see-also", 3, since=10))
    then = _ties(store, 1, "terms", "links")
    assert then == {"lantern": [1, 2], "see-also": [1, 3]}
    store.memories.change(change_memory(memories[1], 50, content="A key."))
    store.memories.change(forget_memory(memories[2], 51))
    store.memories.change(change_memory(memories[3], 52, sensitive=True))
    store.links.end(make_link(1, "see-also", 3), at(53))
    assert _ties(store, 1, "terms", "links") == {}
    assert _ties(store, 1, "terms", "links", as_of=at(49)) == then
    assert _ties(store, 1, "terms", "links", as_of=at(50)) == {"key": [1, 3], "see-also": [1, 3]}
    assert _ties(store, 1, "terms", "links", as_of=at(2)) == {"lantern": [1, 2]}
    assert _ties(store, 1, "terms", "links", as_of=at(0)) == {}


def test_limits_are_those_of_the_past(store: Store) -> None:
    """What was rare when the space was small was so then, though a word that as many hold is common no more."""
    many = limits_of(1000).terms
    store.memories.add([make_memory(n, "A lantern.") for n in range(1, many + 1)])
    assert _ties(store, 1, "terms") == {}
    store.memories.add([make_memory(n, f"Word{n}.") for n in range(many + 1, 1001)])
    assert len(_ties(store, 1, "terms")["lantern"]) == many
    assert _ties(store, 1, "terms", as_of=at(many)) == {}


def test_the_past_has_the_names_of_what_is_as_it_was(store: Store) -> None:
    """As of a moment, only memories that have not changed since are tied by what they mention: that has no past."""
    memories = [make_memory(n, f"Text {n}.") for n in (1, 2, 3)]
    store.memories.add(memories)
    _mention(store, {1: "Anna", 2: "Anna", 3: "Anna"})
    store.memories.change(change_memory(memories[2], 50, importance=0.9))
    assert _ties(store, 1, "names") == _ties(store, 1, "names", as_of=at(50)) == {"Anna": [1, 2, 3]}
    assert _ties(store, 1, "names", as_of=at(49)) == {"Anna": [1, 2]}
    assert _ties(store, 3, "names", as_of=at(49)) == {}
    assert _ties(store, 1, "names", as_of=at(1)) == {}


def test_the_past_has_the_relations_that_held(store: Store) -> None:
    """A relation that has ended since is followed as of a moment when it held, and one that came later is not."""
    memories = [make_memory(n, f"Text {n}.") for n in (1, 2, 3)]
    store.memories.add([*memories, make_memory(40)])
    _mention(store, {1: "Anna", 2: "Oslo Rome"})
    store.concepts.load("other", {ref_of(3): Extraction((), (Relation("Anna", "lives in", "Oslo"),))})
    store.concepts.load("other", {ref_of(40): Extraction((), (Relation("Anna", "lives in", "Rome"),))})
    store.memories.change(change_memory(memories[2], 50, content="Other text."))
    assert _ties(store, 1, "relations") == {"Anna lives in Rome": [1, 2, 40]}
    assert _ties(store, 1, "relations", as_of=at(45)) == {
        "Anna lives in Oslo": [1, 2],
        "Anna lives in Rome": [1, 2, 40],
    }
    assert _ties(store, 1, "relations", as_of=at(39)) == {"Anna lives in Oslo": [1, 2]}
    assert _ties(store, 1, "relations", as_of=at(2)) == {}


def test_several_are_asked_about_at_once(store: Store) -> None:
    """Memories of several spaces, and what is none, each get their own answer."""
    store.memories.add([make_memory(n, "A lantern.", space=space) for n, space in ((1, "ours"), (2, "ours"))])
    store.memories.add([make_memory(3, "A key."), make_memory(4, "A key."), make_memory(5, "A key and a lantern.")])
    refs = [ref_of(1, "ours"), ref_of(3), ref_of(5), ref_of(9), ref_of(1, "elsewhere"), Ref("personal", "no id")]
    found = store.concepts.ties(refs, TIE_KINDS)
    assert {ref: [(tie.name, len(tie.members)) for tie in ties] for ref, ties in found.items()} == {
        refs[0]: [("lantern", 2)],
        refs[1]: [("key", 3)],
        refs[2]: [("key", 3)],
        refs[3]: [],
        refs[4]: [],
        refs[5]: [],
    }
    assert store.concepts.ties(refs[:1], []) == {refs[0]: []}
    assert store.concepts.ties([], TIE_KINDS) == {}
