"""What the legs of every store find, and the scores they give: checked against BM25 written out here."""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from making import about, at, id_of, make_memory, make_query, ref_of
from recollect.core.errors import LegTimeout
from recollect.core.hits import Hit, Ref
from recollect.core.memory import Memory
from recollect.core.ports import Leg, Store

LONG = 60.0
# Plain words that are their own stems, so that the reference needs no analysis.
WORDS = ("kiwi", "melon", "fig", "plum", "lemon", "mango", "papaya", "quinc", "lychee", "guava", "yam", "carrot")


def _leg(store: Store, name: str = "lexical") -> Leg:
    return next(leg for leg in store.legs if leg.name == name)


def _ask(store: Store, text: str, *spaces: str, leg: str = "lexical", depth: int = 100, **parts: Any) -> list[Hit]:  # noqa: ANN401
    return list(_leg(store, leg).search(make_query(text, *spaces, **parts), depth, LONG))


def _found(hits: Sequence[Hit]) -> list[str]:
    return [hit.ref.id for hit in hits]


def _frequencies(memory: Memory) -> dict[str, float]:
    """Count a memory's words: one each in content, keywords and tags, half in the category."""
    counted: dict[str, float] = {}
    for weight, text in (
        (1.0, memory.content),
        (1.0, " ".join(memory.keywords)),
        (1.0, " ".join(memory.tags)),
        (0.5, memory.category),
    ):
        for word in text.split():
            counted[word] = counted.get(word, 0.0) + weight
    return counted


def _idf(documents: Sequence[Mapping[str, float]], word: str) -> float:
    containing = sum(word in document for document in documents)
    return math.log(1 + (len(documents) - containing + 0.5) / (containing + 0.5))


def _bm25(memories: Sequence[Memory], words: Sequence[str]) -> dict[str, float]:
    """Score one space by the book: k1 1.2, b 0.75, each of the query's words once."""
    documents = {memory.id: _frequencies(memory) for memory in memories}
    lengths = {identity: sum(document.values()) for identity, document in documents.items()}
    average = sum(lengths.values()) / len(lengths)
    scores = {}
    for identity, document in documents.items():
        damping = 1.2 * (1 - 0.75 + 0.75 * lengths[identity] / average)
        score = sum(
            _idf(list(documents.values()), word) * document[word] * 2.2 / (document[word] + damping)
            for word in dict.fromkeys(words)
            if word in document
        )
        if score:
            scores[identity] = score
    return scores


def _corpus(seed: int, number: int = 40, **fields: Any) -> list[Memory]:  # noqa: ANN401
    chance = random.Random(seed)

    def some(most: int) -> list[str]:
        return chance.choices(WORDS, weights=range(1, len(WORDS) + 1), k=chance.randint(0, most))

    return [
        make_memory(
            n,
            " ".join([*some(12), "kiwi" if n % 7 == 0 else "yam"]),
            tags=tuple(some(2)),
            keywords=tuple(some(2)),
            category=chance.choice(WORDS),
            importance=chance.random(),
            **fields,
        )
        for n in range(1, number + 1)
    ]


def _assert_scores(hits: Sequence[Hit], expected: Mapping[str, float]) -> None:
    assert {hit.ref.id: hit.score for hit in hits} == {
        identity: about(score, 1.01e-6) for identity, score in expected.items()
    }
    assert list(hits) == sorted(hits, key=lambda hit: (-hit.score, hit.ref.id))


def test_bm25_by_hand(store: Store) -> None:
    """One word, two memories of equal length: ln(2) x 2.2 / 2.2 for the one that has it once."""
    store.memories.add([make_memory(1, "kiwi melon", category="x"), make_memory(2, "plum fig", category="x")])
    (hit,) = _ask(store, "kiwi")
    assert (hit.ref, hit.score) == (ref_of(1), about(math.log(2), 1e-6))
    assert hit.evidence == about(1.0)


@pytest.mark.parametrize("seed", range(5))
def test_bm25_by_the_book(store: Store, seed: int) -> None:
    """Scores are those of the formula over content, keywords, tags and category, and their order follows."""
    memories = _corpus(seed)
    store.memories.add(memories)
    for query in ("kiwi", "yam", "kiwi carrot papaya", "lemon lemon fig", "unknown guava", " ".join(WORDS)):
        _assert_scores(_ask(store, query), _bm25(memories, query.split()))


def test_scores_follow_edits_and_forgetting(store: Store) -> None:
    """After changes the scores are those of the memories as they are, and as of then, of those that were."""
    memories = _corpus(6, 20)
    store.memories.add(memories)
    now = {memory.id: memory for memory in memories}
    for n in range(1, 20, 3):
        edited = replace(now[id_of(n)], content="kiwi kiwi fig", version=2, action="edited", updated_at=at(100 + n))
        store.memories.change(edited)
        now[edited.id] = edited
    for n in range(2, 20, 5):
        old = now.pop(id_of(n))
        gone = replace(old, version=old.version + 1, action="forgotten", updated_at=at(200), deleted_at=at(200))
        store.memories.change(gone)
    for query in ("kiwi fig", "yam carrot"):
        _assert_scores(_ask(store, query), _bm25(list(now.values()), query.split()))
        _assert_scores(_ask(store, query, as_of=at(50)), _bm25(memories, query.split()))
        _assert_scores(_ask(store, query, as_of=at(10)), _bm25(memories[:10], query.split()))
    assert _ask(store, "kiwi", as_of=at(0)) == []


def test_the_evidence_is_the_share_of_the_querys_idf(store: Store) -> None:
    """A memory that has one of two words has that word's share of their idf, wherever it stands in the list."""
    memories = [make_memory(1, "kiwi fig"), make_memory(2, "kiwi"), make_memory(3, "melon")]
    store.memories.add(memories)
    kiwi, fig = math.log(1 + 1.5 / 2.5), math.log(1 + 2.5 / 1.5)
    evidence = {hit.ref.id: hit.evidence for hit in _ask(store, "kiwi fig")}
    assert evidence == {id_of(1): about(1.0), id_of(2): about(kiwi / (kiwi + fig))}


def test_other_spaces_never_change_a_score(store: Store) -> None:
    """A space's scores come of its own statistics: a thousand memories next door change nothing."""
    memories = _corpus(7, 20)
    store.memories.add(memories)
    before = _ask(store, "kiwi fig yam")
    store.memories.add(_corpus(8, 300, space="ours"))
    assert _ask(store, "kiwi fig yam") == before
    assert {hit.ref.space for hit in before} == {"personal"}


def test_several_spaces_are_merged_by_raw_score(store: Store) -> None:
    """Each space is scored by itself, then all hits stand in one list, and an unknown space adds nothing."""
    mine, ours = _corpus(9, 15), _corpus(10, 25, space="ours")
    store.memories.add([*mine, *ours])
    hits = _ask(store, "kiwi fig", "personal", "ours", "nowhere")
    expected = {Ref("personal", key): score for key, score in _bm25(mine, ["kiwi", "fig"]).items()}
    expected |= {Ref("ours", key): score for key, score in _bm25(ours, ["kiwi", "fig"]).items()}
    assert {hit.ref: hit.score for hit in hits} == {ref: about(score, 1.01e-6) for ref, score in expected.items()}
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert _ask(store, "kiwi fig", "personal", "ours", depth=5) == hits[:5]


def test_ties_stand_by_id(store: Store) -> None:
    """Memories of equal score come in the order of their ids, however they were added."""
    numbers = list(range(1, 31))
    random.Random(1).shuffle(numbers)
    store.memories.add([make_memory(n, "kiwi_fig melon to be") for n in numbers])
    expected = [id_of(n) for n in range(1, 31)]
    for text, leg in (("melon", "lexical"), ("kiwi_fig", "exact"), ("to be", "lexical")):
        for parts in ({}, {"project": "any"}, {"as_of": at(1000)}):
            assert _found(_ask(store, text, leg=leg, **parts)) == expected


def test_a_tie_across_the_cut_is_broken_by_id(store: Store) -> None:
    """When more memories have the same score than fit, the lowest ids are in, in whatever order they were stored."""
    store.memories.add([make_memory(n * 7 % 31, "kiwi_fig melon to be") for n in range(1, 31)])
    for text, leg in (("melon", "lexical"), ("kiwi_fig", "exact"), ("to be", "lexical")):
        for parts in ({}, {"project": "any"}, {"as_of": at(1000)}):
            assert _found(_ask(store, text, leg=leg, depth=7, **parts)) == [id_of(n) for n in range(1, 8)]


def test_the_depth_is_kept(store: Store) -> None:
    """No more hits than asked for, and the best of them."""
    memories = _corpus(11)
    store.memories.add(memories)
    assert _ask(store, "yam fig", depth=3) == _ask(store, "yam fig")[:3]
    assert len(_ask(store, "yam fig", depth=3)) == 3


@pytest.mark.parametrize(
    ("parts", "numbers"),
    [
        ({}, {1, 2, 3, 4, 5}),
        ({"project": "site"}, {1, 3, 4, 5}),
        ({"project": "shop"}, {2, 3, 4, 5}),
        ({"project": "other"}, {3, 4, 5}),
        ({"project": ""}, {1, 2, 3, 4, 5}),
        ({"sessions": frozenset({"s1"})}, {3, 4}),
        ({"sessions": frozenset({"s1", "s2"})}, {3, 4, 5}),
        ({"sessions": frozenset({"s9"})}, set()),
        ({"categories": frozenset({"people"})}, {2}),
        ({"categories": frozenset({"people", "facts"})}, {1, 2, 3, 4, 5}),
        ({"before": 2}, {3}),
        ({"before": 3}, {3, 4, 5}),
        ({"before": 0}, set()),
        ({"as_of": at(3)}, {1, 2, 3}),
        ({"as_of": at(0)}, set()),
        ({"sessions": frozenset({"s1"}), "before": 2, "as_of": at(3)}, {3}),
        ({"exclude": frozenset({id_of(1), id_of(5), "no id", "\ud800"})}, {2, 3, 4}),
    ],
)
@pytest.mark.parametrize("leg", ["lexical", "exact"])
@pytest.mark.parametrize("text", ["kiwi_fig", "to be or not to be"])
def test_scopes_narrow(store: Store, parts: dict[str, Any], numbers: set[int], leg: str, text: str) -> None:
    """Project, sessions, categories, place, time and exclusions leave out what lies outside, in every way to search."""
    content = "kiwi_fig: to be or not to be"
    store.memories.add([make_memory(n, content, space="another", session="s1", place=n) for n in range(1, 7)])
    store.memories.add(
        [
            make_memory(1, content, project="site"),
            make_memory(2, content, project="shop", category="people"),
            make_memory(3, content, session="s1", place=1),
            make_memory(4, content, session="s1", place=2),
            make_memory(5, content, session="s2", place=2),
            make_memory(6, "something else", session="s1", place=1),
        ]
    )
    expected = {id_of(n) for n in numbers} if leg == "lexical" or text == "kiwi_fig" else set()
    assert set(_found(_ask(store, text, leg=leg, **parts))) == expected


def test_a_scope_does_not_change_scores(store: Store) -> None:
    """Inside a scope a memory has the score it has without: statistics are the space's."""
    other = [replace(memory, id=id_of(100 + n)) for n, memory in enumerate(_corpus(13, 20, project="shop"))]
    store.memories.add([*_corpus(12, 20, project="site"), *other])
    scores = {hit.ref: hit.score for hit in _ask(store, "kiwi fig")}
    narrowed = _ask(store, "kiwi fig", project="site")
    assert narrowed
    assert all(scores[hit.ref] == hit.score for hit in narrowed)


@pytest.mark.parametrize("parts", [{}, {"project": "site"}, {"as_of": at(1000)}])
@pytest.mark.parametrize(("text", "leg"), [("kiwi", "lexical"), ("kiwi_fig", "exact"), ("to be", "lexical")])
def test_exclusions_do_not_starve_the_result(store: Store, parts: dict[str, Any], text: str, leg: str) -> None:
    """With the best ten excluded, the next ten come."""
    store.memories.add([make_memory(n, "kiwi kiwi_fig to be " + "yam " * n) for n in range(1, 31)])
    every = _found(_ask(store, text, leg=leg, depth=30, **parts))
    best = frozenset(_found(_ask(store, text, leg=leg, depth=10, **parts)))
    behind = _found(_ask(store, text, leg=leg, depth=10, exclude=best, **parts))
    assert behind == every[10:20]
    assert not best & set(behind)


def test_forgotten_memories_are_not_found(store: Store) -> None:
    """What is forgotten is in no leg's answer from that microsecond on, and back when it is restored."""
    first = make_memory(1, "kiwi_fig to be")
    store.memories.add([first])
    gone = replace(first, version=2, action="forgotten", updated_at=at(10), deleted_at=at(10))
    store.memories.change(gone)
    for leg, text in (("lexical", "kiwi"), ("exact", "kiwi_fig"), ("lexical", "to be")):
        assert _ask(store, text, leg=leg) == _ask(store, text, leg=leg, as_of=at(10)) == []
        assert len(_ask(store, text, leg=leg, as_of=at(9.999999))) == 1
    store.memories.change(replace(first, version=3, action="restored", updated_at=at(20)))
    for leg, text in (("lexical", "kiwi"), ("exact", "kiwi_fig"), ("lexical", "to be")):
        assert len(_ask(store, text, leg=leg)) == len(_ask(store, text, leg=leg, as_of=at(20))) == 1
        assert _ask(store, text, leg=leg, as_of=at(15)) == []


def test_an_edit_that_leaves_the_words_alone_leaves_them_found(store: Store) -> None:
    """Changing the importance neither loses nor doubles a memory's words, then or now."""
    first = make_memory(1, "kiwi melon")
    store.memories.add([first, make_memory(2, "plum melon")])
    before = _ask(store, "kiwi melon")
    for version, seconds in ((2, 10), (3, 20)):
        store.memories.change(
            replace(first, version=version, importance=version / 10, action="edited", updated_at=at(seconds))
        )
    for moment in (None, at(5), at(15), at(25)):
        assert _ask(store, "kiwi melon", as_of=moment) == before
    assert store.examine(lambda _done, _total: None) == []


def test_the_rare_terms_leg_takes_identifiers_and_rare_words(store: Store) -> None:
    """An identifier counts however common; a word only when in two memories or 0.3 %; each by its idf alone."""
    store.memories.add([make_memory(n, f"kiwi_fig melon number{'plum' * (n <= 2)}") for n in range(1, 11)])
    store.memories.add([make_memory(20, "plum"), make_memory(21, "quinc quinc quinc")])
    identifier = {hit.ref.id: hit.score for hit in _ask(store, "kiwi_fig", leg="exact")}
    assert identifier == {id_of(n): about(math.log(1 + 2.5 / 10.5), 1e-6) for n in range(1, 11)}
    assert _ask(store, "melon", leg="exact") == []
    (rare,) = _ask(store, "melon quinc", leg="exact")
    assert (rare.ref, rare.score, rare.evidence) == (
        ref_of(21),
        about(math.log(1 + 11.5 / 1.5), 1e-6),
        about(1.0),
    )


def test_identifiers_are_found_whole_and_by_parts(store: Store) -> None:
    """A function, an error code, an address, a path and a version are each found as people type them."""
    texts = {
        1: "getUserById returns None for guests",
        2: "pylint reports E1101 for the client",
        3: "the database is at 10.0.0.1",
        4: "see src/recollect/core/fusion.py",
        5: "pinned to v1.2.3-rc1",
        6: "written in C++",
        7: "東京都の天気",
    }
    store.memories.add([make_memory(n, text) for n, text in texts.items()])
    for query, number in (
        ("getUserById", 1), ("getuserbyid", 1), ("user", 1), ("e1101", 2), ("10.0.0.1", 3), ("fusion.py", 4),
        ("recollect/core", 4), ("v1.2.3-rc1", 5), ("c++", 6), ("東京", 7), ("天気", 7),
    ):  # fmt: skip
        assert id_of(number) in _found(_ask(store, query)), query
    assert _found(_ask(store, "getUserById", leg="exact")) == [id_of(1)]


def test_a_query_of_stop_words_looks_into_the_texts(store: Store) -> None:
    """Stop words alone are looked for in the text, the exact phrase first; the rare-terms leg finds nothing."""
    store.memories.add(
        [
            make_memory(1, "He was not to be found, or so it seemed"),
            make_memory(2, "To be or not to be, that is the question"),
            make_memory(3, "Kiwi"),
        ]
    )
    hits = _ask(store, "to be or not to be")
    assert _found(hits) == [id_of(2), id_of(1)]
    assert 0 < hits[1].evidence < hits[0].evidence <= 1
    assert _ask(store, "to be or not to be", leg="exact") == []
    assert _ask(store, "?!") == []


@pytest.mark.parametrize("text", ["I am", "it's", "a", "or as", "don't"])
def test_stop_words_are_looked_for_as_words(store: Store, text: str) -> None:
    """Letters inside other words are no stop words: a question of nothing else brings no memory for having them."""
    store.memories.add([make_memory(1, "Mandarins rot fast inside damp boxes; citrus keeps best dry.")])
    assert _ask(store, text) == []


def test_what_speaks_for_a_memory_found_by_stop_words(store: Store) -> None:
    """A leg that found a memory does not say that the memory has none of the query's words."""
    store.memories.add([make_memory(1, "To be or not to be")])
    query = make_query("to be or not to be")
    assert _leg(store).search(query, 10, LONG)
    assert "none" not in _leg(store).weigh(query, ref_of(1)).summary


@pytest.mark.parametrize("text", ["kiwi", "to be", "kiwi_fig", "unknown"])
def test_an_empty_store_finds_nothing(store: Store, text: str) -> None:
    """Neither an empty store nor an unknown space is an error."""
    for leg in ("lexical", "exact"):
        assert _ask(store, text, leg=leg) == []
        assert _ask(store, text, "nowhere", "elsewhere", leg=leg) == []


def test_a_query_of_any_length_is_answered(store: Store) -> None:
    """A pasted document of thousands of words is a query like any other."""
    store.memories.add([make_memory(1, "kiwi"), make_memory(2, "melon")])
    query = " ".join(["kiwi", *(f"word{n}" for n in range(5000))])
    assert _found(_ask(store, query)) == [id_of(1)]
    assert _found(_ask(store, query, leg="exact")) == [id_of(1)]


def test_a_leg_stops_when_its_time_is_over(store: Store) -> None:
    """A search that runs past its limit ends itself with `LegTimeout`, and the store goes on."""
    store.memories.add([make_memory(n, f"yam carrot kiwi_fig to be or not number{n}") for n in range(1, 2501)])
    for text, leg in (("yam carrot", "lexical"), ("kiwi_fig", "exact"), ("to be or not", "lexical")):
        for moment in (None, at(10_000)):
            with pytest.raises(LegTimeout, match="longer than 0 ms"):
                _leg(store, leg).search(make_query(text, as_of=moment), 100, 1e-6)
            assert len(_ask(store, text, leg=leg, as_of=moment)) == 100


def test_what_speaks_for_a_memory(store: Store) -> None:
    """A leg tells what each word adds, adding up to the score, and when there is nothing to tell."""
    store.memories.add([make_memory(1, "kiwi fig"), make_memory(2, "kiwi kiwi plum"), make_memory(3, "melon")])
    query = make_query("kiwi fig melon")
    scores = {hit.ref: hit.score for hit in _leg(store).search(query, 10, LONG)}
    evidence = _leg(store).weigh(query, ref_of(1))
    assert [term for term, _ in evidence.parts] == ["fig", "kiwi"]
    assert sum(points for _, points in evidence.parts) == about(scores[ref_of(1)], 1e-6)
    assert "2 of the query's 3 words" in evidence.summary
    rare = _leg(store, "exact").weigh(query, ref_of(2))
    assert sum(points for _, points in rare.parts) == about(
        next(hit.score for hit in _ask(store, query.text, leg="exact") if hit.ref == ref_of(2)), 1e-6
    )
    for nothing in (_leg(store).weigh(make_query("plum"), ref_of(1)), _leg(store).weigh(query, ref_of(9))):
        assert (nothing.summary, nothing.parts) == ("it holds none of the query's words", ())
    assert _leg(store).weigh(query, ref_of(1, "nowhere")).parts == ()


def test_what_spoke_for_a_memory_then(store: Store) -> None:
    """Evidence as of a moment is of the words and statistics of that moment."""
    first = make_memory(1, "kiwi")
    store.memories.add([first])
    store.memories.change(replace(first, content="fig", version=2, action="edited", updated_at=at(10)))
    assert _leg(store).weigh(make_query("kiwi"), ref_of(1)).parts == ()
    ((term, points),) = _leg(store).weigh(make_query("kiwi", as_of=at(5)), ref_of(1)).parts
    (hit,) = _ask(store, "kiwi", as_of=at(5))
    assert (term, points) == ("kiwi", about(hit.score, 1e-6))


def test_words_of_the_query_that_nobody_has_count_as_words_of_the_query(store: Store) -> None:
    """A word that no memory holds was asked for and did not match: it lowers the share that did."""
    store.memories.add([make_memory(1, "kiwi"), make_memory(2, "melon")])
    (hit,) = _ask(store, "kiwi unheard")
    kiwi, unheard = math.log(1 + 1.5 / 1.5), math.log(1 + 2.5 / 0.5)
    assert hit.evidence == about(kiwi / (kiwi + unheard))
    assert "1 of the query's 2 words" in _leg(store).weigh(make_query("kiwi unheard"), ref_of(1)).summary
