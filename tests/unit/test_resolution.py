"""Names that are written a little otherwise, and which of them are the same."""

import pytest

from recollect.core.concepts import Extraction, Mention, Relation
from recollect.core.resolution import MAYBE, SAME, beginnings, likeness, nearest, rename


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("the United States", "united states"),
        ("Leader of Opposition", "leader of the opposition"),
        ("Kim Il-sung", "Kim Il Sung"),
        ("Guinea - Bissau", "Guinea-Bissau"),
        ("Mike Conley Jr.", "Mike Conley, Jr."),
        ("Hawai'i", "Hawaii"),
        ("Hawai\u2019i", "hawaii"),
        ("Québec City", "Quebec City"),
        ("'Jefferson Smith'", "Jefferson Smith"),
        ("김정은", "김정은"),
        ("कमला", "कमला"),
    ],
)
def test_the_same_words_are_the_same(name: str, other: str) -> None:
    """Articles, marks, accents and case make no other name."""
    assert likeness(name, other) == likeness(other, name) == 1.0 >= SAME


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Henry VII", "Henry VIII"),
        ("World War I", "World War II"),
        ("1964 Summer Olympics", "1968 Summer Olympics"),
        ("Henry James", "James Henry"),
        ("National League", "National League A"),
        ("U.S.", "U.S.A."),
        ("C", "C++"),
        ("C#", "C++"),
        ("version 1.5", "version 15"),
        ("version 1.5", "version 1-5"),
        ("20", "20%"),
        ("Mediterranean", "Mediterranean Sea"),
        ("कमल", "कमला"),
        ("Tom", "Tim"),
        ("***", "---"),
        ("", ""),
    ],
)
def test_what_is_another_thing_is_not_even_asked_about(name: str, other: str) -> None:
    """Numbers, Roman ones too, initials, marks that mean something, the order and the number of words tell apart."""
    assert likeness(name, other) == likeness(other, name) < MAYBE


@pytest.mark.parametrize(("name", "other"), [("waterfall", "waterfalls"), ("Romania", "Romanian")])
def test_another_form_of_a_word_is_worth_a_question_and_no_more(name: str, other: str) -> None:
    """A plural and a people look alike, so neither is taken for the same by itself."""
    assert MAYBE <= likeness(name, other) < SAME


def test_the_nearest_is_the_same_whatever_the_order() -> None:
    """The most alike wins, the first by name among equals, and of none there is none."""
    names = ["the congo", "congos", "congo"]
    assert nearest("Congo", names) == nearest("Congo", names[::-1]) == (1.0, "congo")
    assert nearest("Congo", []) == (0.0, "")


@pytest.mark.parametrize(
    ("name", "begin"),
    [("The Congo", ("cong", "the cong")), ("United States", ("united", "the united")), ("UK", ("uk", "the uk"))],
)
def test_names_are_looked_for_by_their_first_half(name: str, begin: tuple[str, str]) -> None:
    """What an index can find: names that begin alike, with an article or without."""
    assert beginnings(name) == begin


def test_renaming_leaves_nothing_twice() -> None:
    """Two names of one concept become one mention, and what is said of them is said once."""
    read = Extraction(
        (Mention("UK"), Mention("the UK"), Mention("Rome")),
        (Relation("the UK", "is far from", "Rome"), Relation("UK", "is far from", "Rome")),
    )
    assert rename(read, lambda name: name.removeprefix("the ")) == Extraction(
        (Mention("UK"), Mention("Rome")), (Relation("UK", "is far from", "Rome"),)
    )
