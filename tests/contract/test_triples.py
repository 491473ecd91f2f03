"""Triples that somebody else read are taken in, and what cannot be is told."""

import json

import pytest

from making import forget_memory, id_of, make_memory, ref_of
from recollect.core.errors import Refused
from recollect.core.ports import Store
from recollect.service.triples import import_triples


@pytest.fixture(autouse=True)
def _memories(store: Store) -> None:
    store.memories.add([make_memory(number, f"Memory {number}.") for number in (1, 2, 3)])
    store.memories.add([make_memory(4, "Secret.", sensitive=True), make_memory(5, "Theirs.", space="ours")])
    store.memories.change(forget_memory(make_memory(3, "Memory 3."), 50))


def _line(number: int, subject: str, relation: str, object_: str) -> str:
    return json.dumps({"memory": id_of(number), "subject": subject, "relation": relation, "object": object_})


def _said(store: Store, name: str) -> list[tuple[str, str, str, list[str]]]:
    concept = store.concepts.find("personal", name)
    said = () if concept is None else concept.relations
    return [
        (each.source, each.relation, each.target, [ref.id for ref in each.evidence]) for each in said if not each.until
    ]


def test_triples_become_relations_of_the_memories_that_state_them(store: Store) -> None:
    """Each triple is a relation of two concepts, which its memory mentions; blanks and empty lines mean nothing."""
    lines = [_line(1, " Ada  Lovelace", "works\nwith", "Babbage"), "\n", _line(2, "Babbage", "lives in", "London")]
    done = import_triples(store, "personal", lines)
    assert (done.memories, done.triples, done.problems) == (2, 2, [])
    assert _said(store, "babbage") == [
        ("Ada Lovelace", "works with", "Babbage", [id_of(1)]),
        ("Babbage", "lives in", "London", [id_of(2)]),
    ]
    concept = store.concepts.find("personal", "Babbage")
    assert concept is not None
    assert {ref for ref, _ in concept.mentions} == {ref_of(1), ref_of(2)}
    assert [(each.name, each.waiting) for each in store.concepts.readers()] == [("import", 0)]


def test_an_import_can_be_repeated_and_mended(store: Store) -> None:
    """What comes again gives way to itself, and what comes otherwise takes the place of what was there, by its name."""
    first = [_line(1, "Ada", "lives in", "London"), _line(1, "Ada", "likes", "Tea")]
    for _ in range(2):
        assert import_triples(store, "personal", first).memories == 1
    import_triples(store, "personal", [_line(1, "Ada", "likes", "Milk")], name="others")
    import_triples(store, "personal", [_line(1, "Ada", "lives in", "Rome")])
    assert {(relation, target) for _, relation, target, _ in _said(store, "Ada")} == {
        ("lives in", "Rome"),
        ("likes", "Milk"),
    }


def test_what_cannot_be_taken_in_is_told_by_line(store: Store) -> None:
    """No triple, or of a memory that is gone, sensitive, of another space or none, is told; the rest is kept."""
    lines = [
        "no",
        "[]",
        json.dumps({"memory": id_of(1), "subject": "Ada", "relation": "is"}),
        json.dumps({"memory": "1", "subject": "Ada", "relation": "is", "object": "old"}),
        _line(1, "", "is", "old"),
        _line(1, "Ada", "is", "o" * 201),
        _line(1, "Ada", "is", "half \ud83d"),
        *[_line(number, "Ada", "is", "old") for number in (3, 4, 5, 9)],
        _line(2, "Ada", "is", "old"),
    ]
    done = import_triples(store, "personal", lines)
    assert (done.memories, done.triples) == (1, 1)
    assert [problem.split(":")[0] for problem in done.problems] == [f"line {number}" for number in range(1, 12)]
    assert _said(store, "Ada") == [("Ada", "is", "old", [id_of(2)])]


def test_names_of_the_same_words_are_one_concept(store: Store) -> None:
    """Within an import and between two, articles and marks make no second concept."""
    import_triples(store, "personal", [_line(1, "the Niagara-Falls", "are in", "Canada")])
    lines = [_line(2, "Niagara Falls", "are near", "The UK"), _line(2, "UK", "is", "far")]
    import_triples(store, "personal", lines)
    assert [each[1] for each in _said(store, "the Niagara-Falls")] == ["are in", "are near"]
    assert [each[1] for each in _said(store, "The UK")] == ["are near", "is"]
    assert store.concepts.find("personal", "UK") is None


@pytest.mark.parametrize("name", ["rules 1", "llm 1 openai:m", "", "two\nlines"])
def test_an_import_takes_no_extractors_place(store: Store, name: str) -> None:
    """A name that is one of Recollect's own, or none, is refused before anything is read."""
    with pytest.raises(Refused):
        import_triples(store, "personal", [_line(1, "Ada", "is", "old")], name=name)
    assert store.concepts.readers() == []
