"""Text in, terms out: what is found by what."""

# ruff: noqa: RUF001 - characters that look like others are the point

from concurrent.futures import ThreadPoolExecutor

import pytest

from making import make_memory
from recollect.core.analysis import analyse, analyse_query, weigh_terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("getUserById", ["getuserbyid", "get", "user", "id"]),
        ("XMLHttpRequest", ["xmlhttprequest", "xml", "http", "request"]),
        ("snake_case_name", ["snake_case_name", "snake", "case", "name"]),
        ("kebab-case", ["kebab-case", "kebab", "case"]),
        ("__init__", ["init"]),
        ("app.py::recall", ["app.py::recall", "app.py", "app", "py", "recal"]),
        ("E1101", ["e1101", "1101"]),
        ("utf-8", ["utf-8", "utf"]),
        ("10.0.0.1", ["10.0.0.1", "10"]),
        ("src/core/bm25.py", ["src/core/bm25.py", "src", "core", "bm25.py", "bm25", "bm", "25", "py"]),
        (r"D:\Users\ann", ["d", r"users\ann", "user", "ann"]),
        ("node_modules/.bin", ["node_modules", "node", "modul", "bin"]),
        ("v1.2.3-rc1", ["v1.2.3-rc1", "v1", "rc1", "rc"]),
        ("python3.11", ["python3.11", "python3", "python", "11"]),
        ("k8s-cluster", ["k8s-cluster", "k8s", "cluster"]),
        ("s3-bucket", ["s3-bucket", "s3", "bucket"]),
        ("gpt-4o", ["gpt-4o", "gpt", "4o"]),
        ("pylint-E1101", ["pylint-e1101", "pylint", "e1101", "1101"]),
        ("a.getUserById", ["a.getuserbyid", "getuserbyid", "get", "user", "id"]),
        ("APIs", ["api"]),
        ("CA's", ["ca"]),
        ("SHA's", ["sha"]),
        ("ain't", []),
        ("ann@example.com", ["ann@example.com", "ann", "example.com", "exampl", "com"]),
        ("issue#42", ["issue#42", "issu", "42"]),
        ("C++ and C#", ["c++", "c#"]),
        ("C++17", ["c++", "17"]),
    ],
)
def test_identifiers_are_given_whole_and_by_their_parts(text: str, terms: list[str]) -> None:
    """An identifier is indexed as it stands, then by its segments, parts and humps, less stop words and single
    characters.
    """
    assert analyse(text) == terms


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("see getUserById for that", "user id"),
        ("see getUserById for that", "getuserbyid"),
        ("fails with E1101 again", "e1101"),
        ("in src/core/bm25.py", "bm25.py"),
        ("in src/core/bm25.py", "core"),
        ("set MAX_RETRIES to 3", "retries"),
        ("the host is 10.0.0.1:5432", "10.0.0.1"),
        ("uses Python-3.11.7", "3.11.7"),
        ("written in C++.", "c++"),
    ],
)
def test_an_identifier_is_found_by_what_people_type_of_it(text: str, query: str) -> None:
    """What someone would type to find an identifier shares a term with it."""
    assert set(analyse(query)) & set(analyse(text))


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("東京都", ["東京", "京都"]),
        ("水", ["水"]),
        ("東京 tower", ["東京", "tower"]),
        ("データベース", ["デー", "ータ", "タベ", "ベー", "ース"]),
        ("데이터", ["데이", "이터"]),
        ("ไทย", ["ไท", "ทย"]),
        ("Python入門", ["python", "入門"]),
    ],
)
def test_scripts_without_spaces_become_pairs(text: str, terms: list[str]) -> None:
    """A run of characters written without spaces is cut into overlapping pairs; a lone one stays."""
    assert analyse(text) == terms


def test_width_and_composition_do_not_matter() -> None:
    """Half-width, full-width and decomposed characters give the terms of the ordinary ones."""
    assert analyse("ﾃﾞｰﾀ") == analyse("データ")
    assert analyse("ＡＢＣ１２３") == analyse("ABC123")
    assert analyse("\u1112\u1161\u11ab\u1100\u1173\u11af") == analyse("한글")


def test_devanagari_words_stay_whole() -> None:
    """Vowel signs belong to their word, and the danda ends it."""
    assert analyse("हिन्दी भाषा।") == ["हिन्दी", "भाषा"]


@pytest.mark.parametrize(
    ("one", "other"),
    [("café", "cafe"), ("CAFÉ", "cafe"), ("cafe\u0301", "café"), ("naïve", "naive"), ("Zoë", "zoe"), ("שָׁלוֹם", "שלום")],
)
def test_accents_and_points_are_looked_past(one: str, other: str) -> None:
    """A word with marks is the word without them, however they are composed."""
    assert analyse(one) == analyse(other)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("the dog's bowl", ["dog", "bowl"]),
        ("dogs' bowls", ["dog", "bowl"]),
        ("the dog’s", ["dog"]),
        ("don't won't can't shan't isn’t", []),
        ("she'll they've I'm we'd you're", []),
        ("O'Reilly", ["oreilli", "reilli"]),
        ("rock'n'roll", ["rocknrol"]),
    ],
)
def test_possessives_and_contractions_leave_their_word(text: str, terms: list[str]) -> None:
    """What an apostrophe appends is dropped; what is left is a stop word or a word like any other."""
    assert analyse(text) == terms


@pytest.mark.parametrize("text", ["DON'T", "WON’T", "CAN'T", "SHE'LL", "ISN'T"])
def test_contractions_in_capitals_are_contractions(text: str) -> None:
    """A contraction that is shouted leaves as little as one that is not."""
    assert analyse(text) == analyse(text.lower()) == []


@pytest.mark.parametrize("text", ["n't", "N'T", "n’t", "say n't twice", "a 's b"])
def test_a_bare_contraction_gives_no_empty_term(text: str) -> None:
    """The end of a contraction that stands alone is nothing, rather than a term without characters."""
    assert "" not in analyse(text)


def test_words_are_stemmed_and_stop_words_dropped() -> None:
    """Forms of a word share a term; words that tell nothing have none; what may be a subject stays."""
    assert analyse("We were deploying the deployed deploys") == ["deploy", "deploy", "deploy"]
    assert analyse("go make get id shell") == ["go", "make", "get", "id", "shell"]


def test_a_long_run_is_known_by_its_beginning() -> None:
    """Terms end after 64 characters, in the text as in the query."""
    assert analyse("x" * 200) == ["x" * 64]
    blob = "a1" * 100
    assert analyse(blob)[0] == blob[:64]
    assert analyse_query(blob + "b2").terms[0] == blob[:64]
    assert max(map(len, analyse("é" * 100 + " " + "漢" * 100))) == 64


def test_a_query_has_each_term_once_in_order() -> None:
    """Repeating a word does not make it count twice."""
    assert analyse_query("retry deploy retries").terms == ("retri", "deploy")


@pytest.mark.parametrize(
    ("text", "identifiers"),
    [
        ("where is app.py::recall", {"app.py::recall", "app.py"}),
        ("error E1101 on 10.0.0.1", {"e1101", "10.0.0.1"}),
        ("max_retries", {"max_retries"}),
        ("when do we deploy 42 things", set()),
        ("C++", {"c++"}),
        ("getUserById", {"getuserbyid"}),
        ("fix XMLHttpRequest", {"xmlhttprequest"}),
        ("हिन्दी भाषा", set()),
        ("東京都", set()),
    ],
)
def test_a_query_knows_its_identifiers(text: str, identifiers: set[str]) -> None:
    """Names, codes and paths are identifiers; words of any language and plain numbers are not."""
    assert analyse_query(text).identifiers == identifiers


def test_a_query_of_stop_words_keeps_them_to_look_for_in_the_text() -> None:
    """No index has stop words, so a query of nothing else brings them along as they are."""
    query = analyse_query("To be, or NOT to be?")
    assert (query.terms, query.common) == ((), ("to", "be", "or", "not"))
    assert analyse_query("to be deployed").common == ()
    assert analyse_query("?! ...").common == ()


def test_the_language_chooses_stemmer_and_stop_words() -> None:
    """German is stemmed as German, and English stop words are words to it."""
    assert analyse("Häuser", "german") == analyse("Haus", "german") == ["haus"]
    assert analyse("Häuser", "english") != analyse("Haus", "english")
    assert analyse("was will der will", "german") == ["was", "will", "der", "will"]


def test_terms_are_weighed_by_their_field() -> None:
    """Content, keywords and tags count one for each occurrence, the category half."""
    memory = make_memory(
        content="Deploy on Friday, deploy twice", keywords=("deploy",), tags=("friday", "infra"), category="infra"
    )
    assert weigh_terms(memory) == {"deploy": 3.0, "friday": 2.0, "twice": 1.0, "infra": 1.5}


def test_labels_do_not_run_into_each_other() -> None:
    """Two tags are two texts: no pair of characters spans them."""
    assert analyse("東京") == ["東京"]
    assert "京大" not in weigh_terms(make_memory(content="x", tags=("東京", "大阪")))


def test_threads_get_the_same_terms() -> None:
    """Analysing in many threads at once gives what one thread gives."""
    texts = [f"running{n} deployments happily generalizations of getUserById{n}" for n in range(50)] * 20
    expected = [analyse(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        for result in pool.map(lambda _: [analyse(text) for text in texts], range(8)):
            assert result == expected
