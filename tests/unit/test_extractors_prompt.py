"""What a model's answer says of each note, whatever the model wrote."""

import json
from typing import Any

import pytest

from recollect.core.concepts import Extraction, Mention, Relation, Unread
from recollect.core.memory import LABEL_LIMIT
from recollect.extractors.prompt import MOST_NAMES, MOST_RELATIONS, Malformed, number_notes, read_notes, read_sameness

NOTES = ("Ada met Babbage.", "Rome is old.")
ADA = {"number": 1, "entities": [{"name": "Ada", "aliases": []}, {"name": "Babbage"}], "relations": []}
ROME = {"number": 2, "entities": [{"name": "Rome", "aliases": None}], "relations": []}


def _read(*notes: object) -> list[Extraction | Unread]:
    return read_notes(json.dumps({"notes": notes}), NOTES)


def _one(text: str, **note: Any) -> Extraction | Unread:  # noqa: ANN401
    return read_notes(json.dumps({"notes": [{"number": 1, "entities": [], "relations": [], **note}]}), [text])[0]


def test_notes_are_numbered_data() -> None:
    """What is sent is JSON, so that no note can end and give instructions."""
    assert json.loads(number_notes(['one"}', "two\nlines"])) == {
        "notes": [{"number": 1, "text": 'one"}'}, {"number": 2, "text": "two\nlines"}]
    }


def test_answers_are_matched_by_number() -> None:
    """The order of an answer means nothing, and a number may be written as text."""
    expected = [
        Extraction((Mention("Ada"), Mention("Babbage"))),
        Extraction((Mention("Rome"),)),
    ]
    assert _read(ROME, ADA) == expected
    assert _read({**ROME, "number": "2"}, ADA) == expected


@pytest.mark.parametrize(
    ("notes", "says"),
    [
        ([ADA], "left it out"),
        ([ADA, {**ROME, "number": 3}], "left it out"),
        ([ADA, {**ROME, "number": None}], "left it out"),
        ([ADA, "Rome"], "left it out"),
        ([ADA, ROME, ROME], "more than once"),
        ([ADA, {"number": 2}], "not in the form"),
        ([ADA, {**ROME, "entities": "Rome"}], "not in the form"),
        ([ADA, {**ROME, "entities": None}], "not in the form"),
        ([ADA, {**ROME, "entities": ["Rome"]}], "not in the form"),
        ([ADA, {**ROME, "entities": [{"name": 7}]}], "not in the form"),
        ([ADA, {**ROME, "entities": [{"name": "Rome", "aliases": "Roma"}]}], "not in the form"),
        ([ADA, {**ROME, "relations": [["Rome", "is old"]]}], "not in the form"),
        ([ADA, {**ROME, "relations": [["Rome", "is", None]]}], "not in the form"),
        ([ADA, {**ROME, "relations": "none"}], "not in the form"),
    ],
)
def test_one_bad_note_says_so_and_the_others_are_read(notes: list[object], says: str) -> None:
    """A note that is missing, repeated or malformed counts as not read, and only that one."""
    first, second = _read(*notes)
    assert first == Extraction((Mention("Ada"), Mention("Babbage")))
    assert isinstance(second, Unread)
    assert says in second.reason


@pytest.mark.parametrize(
    "content", ["", "no", "[]", "null", '{"notes": 7}', "{", '{"notes": [', '{"a":' * 100_000 + "}" * 100_000]
)
def test_what_is_no_answer_at_all_raises(content: str) -> None:
    """Without a list of notes there is nothing to match."""
    with pytest.raises(Malformed):
        read_notes(content, NOTES)


def test_marks_around_an_answer_are_passed_over() -> None:
    """Servers that put their JSON between marks are understood."""
    assert read_notes(f"```json\n{json.dumps({'notes': [ADA, ROME]})}\n```", NOTES) == _read(ADA, ROME)


def test_what_is_not_written_in_a_note_was_not_read_there() -> None:
    """A name, or an end of a relation, that the note does not have is left out: it is another note's, or nobody's."""
    read = _one(
        "IBM was founded in Endicott.",
        entities=[
            {"name": "International Business Machines", "aliases": ["ibm"]},
            {"name": "Ada Lovelace", "aliases": ["Ada"]},
        ],
        relations=[
            ["International Business Machines", "is founded in", "Endicott"],
            ["Ada Lovelace", "works with", "Charles Babbage"],
            ["IBM", "makes", "computers"],
        ],
    )
    assert read == Extraction(
        (Mention("International Business Machines"), Mention("ibm")),
        (Relation("International Business Machines", "is founded in", "Endicott"),),
    )


@pytest.mark.parametrize("name", ["", "  ", "x", "a" * (LABEL_LIMIT + 1), "nul\0", "half \ud83d", 2 * "\n"])
def test_names_that_no_store_can_keep_are_left_out(name: str) -> None:
    """What is empty, too long or no text is passed over, and the rest of the note is read."""
    text = f"{name} and Rome"
    names = [{"name": "Rome"}, {"name": name}]
    assert _one(text, entities=names, relations=[["Rome", "is near", name]]) == Extraction((Mention("Rome"),))


def test_a_name_is_on_one_line_and_there_once() -> None:
    """Blanks and case make no second name, and the same relation is stated once."""
    same = ["Rome", "is in", "Italy"]
    read = _one("Rome, ROME\nin Italy", entities=[{"name": "Rome", "aliases": ["ROME "]}], relations=[same, same])
    assert read == Extraction((Mention("Rome"),), (Relation(*same),))


def test_a_model_that_never_ends_fills_no_store() -> None:
    """Of one note only so much is taken."""
    words = [f"name{number}" for number in range(500)]
    relations = [[words[0], "knows", other] for other in words[1:]]
    read = _one(" ".join(words), entities=[{"name": word} for word in words], relations=relations)
    assert isinstance(read, Extraction)
    assert (len(read.mentions), len(read.relations)) == (MOST_NAMES, MOST_RELATIONS)


@pytest.mark.parametrize(
    ("content", "same"),
    [('{"same": true}', True), ('{"same": false}', False), ('{"same": "true"}', False), ("yes", False), ("[]", False)],
)
def test_only_a_plain_yes_is_one(content: str, same: bool) -> None:
    """Whatever else a model says, two names stay apart."""
    assert read_sameness(content) is same
