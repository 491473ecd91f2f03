"""Sets in the common format are read as they are meant, and questions that quote are made from them."""

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from recollect.bench.datasets import SETS, UNSEEN, Dataset, find_folder
from recollect.bench.errors import BenchError
from recollect.bench.exact import ExactSet
from recollect.bench.sources import Document, Question, split_of, take_part
from recollect.bench.strata import EXACT, MULTI_HOP, stratum_of

CORPUS: list[dict[str, Any]] = [
    {"id": "a", "text": "The boat is blue.", "title": "Boats", "scope": "one", "session": "s", "seq": 3},
    {"id": "b", "text": "The boat is red.", "scope": "one", "seq": 4, "time": "2026-03-01T10:00:00"},
    {"id": "c", "text": "Tea at five.", "scope": "two", "time": "2026-03-02", "superseded_by": "d"},
]
QUERIES: list[dict[str, Any]] = [
    {"id": "q1", "text": "Which colour?", "scope": "one", "stratum": "single", "visible_before_seq": 4},
    {"id": "q2", "text": "When is tea?", "scope": "two", "stale_ids": ["c"], "hops": 2},
]


def write_set(folder: Path, corpus: list[dict[str, Any]], queries: list[dict[str, Any]], qrels: str) -> Path:
    folder.mkdir(parents=True)
    _write(folder / "corpus.jsonl.gz", corpus)
    _write(folder / "queries.jsonl.gz", queries)
    (folder / "qrels.tsv").write_text(qrels)
    return folder


def _write(path: Path, records: list[dict[str, Any]]) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(record) + "\n" for record in records)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_set(tmp_path / "little", CORPUS, QUERIES, "q1\ta\t2\nq1\tb\t1\nq2\tc\t1\n")


def test_documents_carry_what_the_format_says(folder: Path) -> None:
    """Title and text are joined by a line break, a scope is a space, and times are in UTC."""
    assert list(Dataset(folder).documents()) == [
        Document("a", "Boats\nThe boat is blue.", "one", 0, session="s", seq=3),
        Document("b", "The boat is red.", "one", 1, seq=4, time=datetime(2026, 3, 1, 10, tzinfo=UTC)),
        Document("c", "Tea at five.", "two", 2, time=datetime(2026, 3, 2, tzinfo=UTC), superseded_by="d"),
    ]


def test_questions_carry_what_is_relevant_and_what_is_stale(folder: Path) -> None:
    """Grades, outdated documents, hops and what exists yet are all there."""
    assert list(Dataset(folder).questions()) == [
        Question("q1", "Which colour?", "one", "single", {"a": 2, "b": 1}, before=4),
        Question("q2", "When is tea?", "two", "little", {"c": 1}, stale=frozenset({"c"}), hops=2),
    ]


def test_a_set_without_scopes_is_one_space_named_after_it(tmp_path: Path) -> None:
    """Documents and questions meet in the same space."""
    made = Dataset(write_set(tmp_path / "pool", [{"id": "a", "text": "x"}], [{"id": "q", "text": "x"}], "q\ta\t1\n"))
    assert [each.space for each in made.documents()] == ["pool"]
    assert [each.space for each in made.questions()] == ["pool"]


def test_every_distinct_haystack_is_a_space_with_its_own_times(folder: Path) -> None:
    """A document is given once for each haystack it is in; one that is in none is not kept at all."""
    _write(
        folder / "haystacks.jsonl.gz",
        [
            {"query_id": "q1", "doc_ids": ["a", "b"], "doc_times": ["2026-05-01", "2026-05-02"]},
            {"query_id": "q2", "doc_ids": ["b"], "doc_times": ["2026-06-01"]},
            {"query_id": "unanswerable", "doc_ids": ["c"]},
        ],
    )
    made = Dataset(folder)
    first, second = (question.space for question in made.questions())
    assert first != second
    assert [(each.id, each.space, each.time and each.time.month) for each in made.documents()] == [
        ("a", first, 5),
        ("b", first, 5),
        ("b", second, 6),
    ]


def test_questions_with_the_same_haystack_share_a_space(folder: Path) -> None:
    """Its documents are kept once."""
    _write(folder / "haystacks.jsonl.gz", [{"query_id": each, "doc_ids": ["a", "c"]} for each in ("q1", "q2")])
    made = Dataset(folder)
    assert len({question.space for question in made.questions()}) == 1
    assert [each.id for each in made.documents()] == ["a", "c"]


def test_the_split_follows_the_hash_of_the_id() -> None:
    """The first hexadecimal digit of the SHA-256 of `b` is 3 and of `a` is c: below 5 is for tuning."""
    assert split_of("b") == "tune"
    assert split_of("a") == "test"


def test_a_part_takes_only_its_split(folder: Path) -> None:
    """All is both halves; the halves do not meet."""
    made = Dataset(folder)
    tune, test, both = (take_part(made, split).questions for split in ("tune", "test", "all"))
    assert {each.id for each in tune} | {each.id for each in test} == {each.id for each in both} == {"q1", "q2"}
    assert not {each.id for each in tune} & {each.id for each in test}


def test_any_change_of_the_data_changes_the_fingerprint(folder: Path) -> None:
    """One more grade is other data; reading again is not."""
    before = Dataset(folder).fingerprint()
    assert Dataset(folder).fingerprint() == before
    (folder / "qrels.tsv").write_text("q1\ta\t1\nq2\tc\t1\n")
    assert Dataset(folder).fingerprint() != before


def test_strata_have_one_name_across_sets() -> None:
    """Sets that are all of one kind go by it; others keep their own names, or that of the set."""
    assert stratum_of("musique_dev200", "3hop") == MULTI_HOP
    assert stratum_of("locomo", "temporal") == "temporal"
    assert stratum_of("locomo_plus", None) == "locomo_plus"


def test_what_stays_unseen_is_not_measured_by_default() -> None:
    """The sets kept for the end are not among the twelve."""
    assert not UNSEEN & set(SETS)
    assert len(SETS) == 12


def test_a_missing_folder_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the option and the variable."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BenchError, match="--datasets or RECOLLECT_DATASETS"):
        find_folder(None)
    with pytest.raises(BenchError, match=r"has no corpus\.jsonl\.gz"):
        Dataset(tmp_path)


def test_a_question_without_an_answer_is_refused(tmp_path: Path) -> None:
    """It could not be measured, and leaving it out would go unnoticed."""
    made = Dataset(write_set(tmp_path / "odd", CORPUS[:1], QUERIES[:1], "q9\ta\t1\n"))
    with pytest.raises(BenchError, match="nothing is relevant to the query q1"):
        made.questions()


def test_exact_questions_quote_what_stands_in_one_memory_only(tmp_path: Path) -> None:
    """Each is 4 to 8 consecutive words of its one answer, which no other memory of the space holds."""
    shared = "we met at the old harbour"
    corpus = [
        {"id": f"d{number}", "text": f"{shared} and then {' '.join(f'w{number}x{word}' for word in range(9))}"}
        for number in range(12)
    ]
    corpus.append({"id": "twin1", "text": shared})
    corpus.append({"id": "twin2", "text": shared})
    base = Dataset(write_set(tmp_path / "base", corpus, [{"id": "q", "text": "x"}], "q\td0\t1\n"))
    questions = ExactSet("base_exact", base).questions()
    texts = {each["id"]: each["text"].split() for each in corpus}
    assert len(questions) >= 10
    assert not {"twin1", "twin2"} & {document for each in questions for document in each.relevant}
    for question in questions:
        ((document, grade),) = question.relevant.items()
        words = question.text.split()
        holding = [name for name, text in texts.items() if _holds(text, words)]
        assert (holding, grade, question.stratum, question.before) == ([document], 1, EXACT, None)
        assert 4 <= len(words) <= 8
    assert len({len(question.text.split()) for question in questions}) > 1


def test_exact_questions_may_repeat_a_phrase_of_another_space(tmp_path: Path) -> None:
    """A space does not see the others, so a phrase need only be its memory's own there."""
    text = "the very same words in both of them"
    corpus = [{"id": each, "text": text, "scope": each} for each in ("one", "two")]
    base = Dataset(write_set(tmp_path / "base", corpus, [{"id": "q", "text": "x"}], "q\tone\t1\n"))
    assert {each.space for each in ExactSet("base_exact", base).questions()} == {"one", "two"}


def test_exact_questions_are_the_same_every_time(folder: Path) -> None:
    """They do not depend on anything but the documents."""
    first, second = (ExactSet("little_exact", Dataset(folder)) for _ in range(2))
    assert first.questions() == second.questions()
    assert first.fingerprint() == second.fingerprint() != first.corpus.fingerprint()
    assert first.corpus.name == "little"


def _holds(text: list[str], words: list[str]) -> bool:
    return any(text[start : start + len(words)] == words for start in range(len(text)))
