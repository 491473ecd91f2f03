"""What a memory is about, read from its text by rules."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from making import make_memory
from recollect.core.concepts import Extraction, Mention, fold, names_in, read_concepts
from recollect.core.memory import LABEL_LIMIT


def names_of(content: str, **fields: object) -> list[str]:
    """Give what is mentioned as a name."""
    read = read_concepts(make_memory(1, content, **fields))
    return [mention.name for mention in read.mentions if mention.kind == "name"]


def mentions_of(content: str, **fields: object) -> set[tuple[str, str]]:
    return {(each.name, each.kind) for each in read_concepts(make_memory(1, content, **fields)).mentions}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("It was Rex Harrison who came.", ["Rex Harrison"]),
        ("He met Kay Kendall, Gene Kelly, then Ana.", ["Kay Kendall", "Gene Kelly", "Ana"]),
        ("She lives in New York City now.", ["New York City"]),
        ("It runs on Postgres 16 there.", ["Postgres 16"]),
        ("We use AT&T and Coca-Cola.", ["AT&T and Coca-Cola"]),
        ("nothing here but a Name", ["Name"]),
    ],
)
def test_words_with_a_capital_are_names(text: str, names: list[str]) -> None:
    """A run of words with a capital is one name; numbers belong to it, commas and small words end it."""
    assert names_of(text) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("She studied at the University of the West of England last year.", ["University of the West of England"]),
        ("It is by Ludwig van Beethoven himself.", ["Ludwig van Beethoven"]),
        ("a town in the North", ["North"]),
        ("He left London for the sea.", ["London"]),
        ("Bank of the old Town", ["Bank", "Town"]),
        ("Lord of the of the Rings", ["Lord", "Rings"]),
    ],
)
def test_small_words_join_a_name(text: str, names: list[str]) -> None:
    """One or two small words may stand inside a name, never at its start or its end."""
    assert names_of(text) == names


@pytest.mark.parametrize("apostrophe", ["'", "\u2019"])
def test_a_possessive_ends_a_name(apostrophe: str) -> None:
    """What belongs to somebody is no part of their name, whichever apostrophe is written."""
    assert names_of(f"We saw Ingrid Bergman{apostrophe}s Daughter there.") == ["Ingrid Bergman", "Daughter"]
    assert names_of(f"It is O{apostrophe}Brien there.") == [f"O{apostrophe}Brien"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("The ledger is new.", []),
        ("When Ana left, it broke.", ["Ana"]),
        ("It is done. The Rex Harrison film was on.", ["Rex Harrison"]),
        ("Deploys run on Tuesdays.", ["Deploys", "Tuesdays"]),
        ("I AM ALL CAPITALS", ["CAPITALS"]),
    ],
)
def test_common_words_begin_no_name(text: str, names: list[str]) -> None:
    """The capital of a sentence's first word tells nothing, so a common word there is left out."""
    assert names_of(text) == names


@pytest.mark.parametrize(
    ("content", "heading"),
    [
        ("My Fair Lady (film)\nA musical.", "My Fair Lady"),
        ("the release train\nleaves on Tuesdays.", "the release train"),
        ("a first line that is far too long to be a heading of any kind\nmore", None),
        ("only one line", None),
        ("only one line\n \n", None),
        ("\nnothing on the first", None),
    ],
)
def test_a_first_line_that_stands_alone_is_a_name(content: str, heading: str | None) -> None:
    """A short first line above others names what the memory is about; what tells namesakes apart is left out."""
    read = read_concepts(make_memory(1, content)).mentions
    first, _, _ = content.partition("\n")
    assert read[0] == Mention(heading) if heading else all(each.name != first for each in read)


def test_without_capitals_every_two_words_may_be_a_name() -> None:
    """Notes in lower case have names too: two words in a row that are not common, of one line or another."""
    assert names_of("we met carla bruni's sister at the ledger service") == [
        "met carla",
        "carla bruni",
        "bruni's sister",
        "ledger service",
    ]
    assert names_in("who is rex harrison?") == ["rex harrison"]
    assert names_of("one") == []


def test_one_capital_is_enough_to_trust_capitals() -> None:
    """A text that has a capital anywhere is read by capitals alone."""
    assert names_of("carla wrote the ledger service for Ana") == ["Ana"]


def test_identifiers_tags_and_keywords() -> None:
    """Names of code are mentioned whole, and so is what somebody chose to label the memory with."""
    read = mentions_of("see getUserById in app/users.py and 10.0.0.1", tags=("on-call",), keywords=("Pager Duty",))
    assert {("on-call", "tag"), ("Pager Duty", "keyword")} <= read
    assert {("getuserbyid", "identifier"), ("app/users.py", "identifier"), ("10.0.0.1", "identifier")} <= read


def test_each_concept_is_mentioned_once() -> None:
    """Whatever it is written like, the first way to mention a concept stands for all."""
    read = read_concepts(make_memory(1, "We met Ana, ANA and ana.", tags=("ana",)))
    assert read == Extraction((Mention("ana", "tag"),))
    assert fold("Rex\u2019s  HARRISON ") == fold("rex's harrison")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Élodie wohnt bei Jürgen Müller in Zürich.", ["Élodie", "Jürgen Müller in Zürich"]),
        ("там был Лев Толстой", ["Лев Толстой"]),
        ("日本語のメモです。", []),
    ],
)
def test_other_scripts(text: str, names: list[str]) -> None:
    """Any script with capitals is read by them; one without breaks nothing."""
    assert names_of(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "\u0130" * 1400,
        "A" * 1400,
        "A." * 700,
        "A-" * 700,
        "A'" * 700,
        "(" * 1400 + "\nx",
        "Of the " * 200,
        "A of " * 280,
        "a b " * 350,
        "'s" * 700,
        "\n" * 1400,
        "\U0001f600" * 1400,
        "a\u0300" * 700,
    ],
)
def test_hostile_text_is_read_in_no_time(text: str) -> None:
    """Whatever is repeated, reading it takes time in step with its length, and no name is longer than a label."""
    long = text * 20
    began = time.process_time()
    read = read_concepts(make_memory(1, long))
    assert time.process_time() - began < 2.0
    assert all(1 < len(fold(mention.name)) <= LABEL_LIMIT for mention in read.mentions)


@given(st.text(max_size=300), st.lists(st.text(min_size=1, max_size=20), max_size=3))
def test_any_text_can_be_read(content: str, tags: list[str]) -> None:
    """Whatever a text holds, it is read, the same every time, and each concept once."""
    memory = make_memory(1, content, tags=tuple(tags))
    read = read_concepts(memory)
    assert read == read_concepts(memory)
    folded = [fold(mention.name) for mention in read.mentions]
    assert len(folded) == len(set(folded))
    assert all(1 < len(name) <= LABEL_LIMIT for name in folded)
    assert names_in(content) == names_in(content)
