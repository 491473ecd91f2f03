"""Analysis, whatever the text."""

# ruff: noqa: RUF001 - characters that look like others are the point

import string
import unicodedata

from hypothesis import assume, example, given
from hypothesis import strategies as st

from recollect.core.analysis import analyse, analyse_query
from recollect.core.stopwords import STOP_WORDS
from strategies import any_text

LANGUAGES = st.sampled_from(["english", "german", "french", "turkish", "russian"])
FRAGMENTS = (
    "getUserById", "app.py::recall", "don't", "DON'T", "n't", "'s", "C++", "10.0.0.1", "__init__", "東京都", "ไทย",
    "हिन्दी", "ﬁ", "ŉ", "İ", "ß", "K", "\u0301", "\u200d", "\ud800", "\0", "’", "_", "--", "::", "a.b/c\\d@e~f+g#",
)  # fmt: skip
words = st.text(string.ascii_letters, min_size=1, max_size=80)
mixtures = st.lists(st.sampled_from(FRAGMENTS) | any_text.filter(bool) | words, max_size=12).map("".join)
texts = any_text | mixtures


@given(texts, LANGUAGES)
@example("n't", "english")
@example("N’T", "english")
@example("x" * 1000 + "." + "é" * 1000 + "漢" * 1000, "english")
def test_terms_are_short_whole_and_valid(text: str, language: str) -> None:
    """Any text gives terms that are neither empty nor longer than 64 characters and that every store can keep."""
    for term in analyse(text, language):
        assert 0 < len(term) <= 64
        assert "\0" not in term
        term.encode()


@given(texts, LANGUAGES)
def test_the_same_text_gives_the_same_terms(text: str, language: str) -> None:
    """Analysis depends on the text alone, and a query has the terms of a text, each once."""
    terms = analyse(text, language)
    assert analyse(text, language) == terms
    assert analyse_query(text, language).terms == tuple(dict.fromkeys(terms))
    assert analyse_query(text, language).identifiers <= set(terms)


@given(st.lists(st.text(string.ascii_lowercase, min_size=1, max_size=20), min_size=1).map(" ".join))
def test_capitals_do_not_matter_to_words(text: str) -> None:
    """Plain words give the same terms in small letters, capitals, and with the first one large."""
    assert analyse(text) == analyse(text.upper()) == analyse(text.title())


@given(st.text(st.characters(categories=["L", "M", "Zs"], codec="utf-8"), max_size=20))
def test_composition_does_not_matter(text: str) -> None:
    """A text composed or decomposed, or folded beforehand, gives the same terms."""
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert analyse(unicodedata.normalize(form, text)) == analyse(text)


@given(
    st.text("aeiou bcdt", max_size=40), st.lists(st.tuples(st.integers(0, 39), st.sampled_from("\u0301\u0308\u0327")))
)
def test_accents_do_not_matter(text: str, accents: list[tuple[int, str]]) -> None:
    """Accents put on any letters leave the terms as they were."""
    accented = text
    for place, accent in accents:
        if place < len(text) and text[place].isalpha():
            at = accented.index(text[place], place) + 1
            accented = accented[:at] + accent + accented[at:]
    assert analyse(accented) == analyse(text)


@given(
    st.lists(words, min_size=1, max_size=12),
    st.sampled_from([" ", "\n", ", ", "; ", "! ", " (", ") ", '" "', "…", "，"]),
)
def test_every_word_of_a_text_finds_it(found_in: list[str], between: str) -> None:
    """Each word that is no stop word, typed as it stands or in small letters, shares a term with its text."""
    terms = set(analyse(between.join(found_in)))
    for word in found_in:
        if word.lower() in STOP_WORDS["english"]:
            continue
        for typed in (word, word.lower()):
            assert set(analyse_query(typed).terms) & terms, typed


@given(
    st.lists(st.text(string.ascii_lowercase, min_size=2, max_size=20), min_size=2, max_size=5),
    st.sampled_from("_-./:@\\"),
)
def test_every_part_of_a_name_finds_it(parts: list[str], joint: str) -> None:
    """The parts of a name, and the name itself in any case, share a term with a text that has it."""
    name = joint.join(parts)
    terms = set(analyse(f"see ({name}) there"))
    for typed in (name, name.upper(), *(part for part in parts if part not in STOP_WORDS["english"])):
        assert set(analyse(typed)) & terms


@given(st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF), min_size=2, max_size=30), st.data())
def test_every_piece_of_an_unspaced_run_finds_it(run: str, data: st.DataObject) -> None:
    """Two or more characters in a row, out of text without spaces, share a term with it."""
    start = data.draw(st.integers(0, len(run) - 2))
    piece = run[start : data.draw(st.integers(start + 2, len(run)))]
    assert set(analyse(piece)) <= set(analyse(run))


@given(texts, texts)
def test_a_line_between_keeps_texts_apart(one: str, other: str) -> None:
    """Texts on lines of their own give the terms of each, so that labels do not run together."""
    assume(not unicodedata.combining((other or "x")[0]))
    assert analyse(f"{one}\n{other}") == analyse(one) + analyse(other)
