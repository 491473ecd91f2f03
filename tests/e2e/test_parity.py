"""The server ranks as the laptop does: the same memories in both stores, the same questions, the same answers."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from fakes import ToyEmbedder
from parity import Found, Mixed, Pair, ask_stores, choose, main, show_stores
from recollect.bench.sources import Question

DATASETS = Path(os.environ.get("RECOLLECT_DATASETS") or Path(__file__).parents[3] / "shared" / "datasets")
"""By default the folder `shared` beside the checkout."""
MEMORIES, QUESTIONS = 400, 40
ASKED = Question("q", "what is it", "space", "what", {"d": 1})


def test_both_stores_rank_alike(postgres_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every leg finds the same ten in the same order, and recall serves the same ten: real texts, toy vectors."""
    source = Mixed(DATASETS, MEMORIES)
    questions = choose(source.questions(), QUESTIONS)
    assert {question.before is None for question in questions} == {True, False}
    found = ask_stores(source, questions, ToyEmbedder(dimension=384), postgres_url)
    assert show_stores(found)
    assert f"{MEMORIES} memories in SQLite, {MEMORIES} in Postgres, {QUESTIONS} questions" in capsys.readouterr().out
    for pairs in found.values():
        assert [pair.question.id for pair in pairs if not pair.same] == []
    assert all(pair.laptop for what in ("lexical", "dense", "recall") for pair in found[what])


def _found(pair: Pair, *, times: int = 1) -> dict[str, list[Pair]]:
    """Give what a comparison found: so many pairs like this one for the words, and nothing else amiss."""
    same = replace(pair, server=pair.laptop)
    return {"lexical": [pair, *([same] * (100 - times)), *([pair] * (times - 1))], "recall": [same]}


ABOVE: Found = [("a", 2.000001), ("b", 2.0), ("c", 1.0)]
BELOW: Found = [("b", 2.0), ("a", 2.0), ("c", 1.0)]
OTHER: Found = [("b", 2.5), ("a", 2.0), ("c", 1.0)]
SHORT: Found = [("a", 2.000001), ("b", 2.0)]


def test_a_rounding_may_turn_few_around(capsys: pytest.CaptureFixture[str]) -> None:
    """One in a hundred passes, and is listed with both scores; two do not."""
    pair = Pair(ASKED, ABOVE, BELOW)
    assert show_stores(_found(pair))
    assert "alike but for the last digit" in capsys.readouterr().out
    assert not show_stores(_found(pair, times=2))


@pytest.mark.parametrize("other", [OTHER, SHORT], ids=["scores", "length"])
def test_whatever_a_rounding_does_not_explain_fails(other: Found, capsys: pytest.CaptureFixture[str]) -> None:
    """However seldom it is."""
    assert not show_stores(_found(Pair(ASKED, ABOVE, other)))
    assert "other scores" in capsys.readouterr().out


def test_recall_must_serve_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    """Memories that only one of them serves count, in whatever order."""
    same = Pair(ASKED, ABOVE, ABOVE)
    assert Pair(ASKED, [], []).overlap == 1.0
    assert not show_stores({"lexical": [same], "recall": [Pair(ASKED, ABOVE, [("x", 2.0), ("y", 1.0), ("c", 1.0)])]})
    assert "0.3333" in capsys.readouterr().out


def test_a_database_is_asked_for(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """There is none by default: it makes databases."""
    monkeypatch.setattr("sys.argv", ["parity.py"])
    with pytest.raises(SystemExit):
        main()
    assert "--database" in capsys.readouterr().err
