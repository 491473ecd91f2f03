"""What prompts would be given, judged: which prompts are put, and what a floor costs and spares, by hand."""

import gzip
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from making import about
from recollect.bench import inject
from recollect.bench.datasets import Dataset
from recollect.bench.errors import BenchError
from recollect.bench.inject import FOREIGN, Kind, Prompt, Trial, Way, judge, read_prompts
from recollect.bench.inject_plot import plot_trade_off
from recollect.bench.sources import Split, split_of


def _trial(
    kind: Kind, weights: Mapping[str, float], *relevant: str, name: str = "boats", way: Way = "words", prompt: str = "p"
) -> Trial:
    asked = Prompt(prompt, "where?", "s", kind, relevant=frozenset(relevant))
    return Trial(name, way, asked, tuple(weights), tuple(weights.values()), 10)


def test_a_trial_is_given_what_stands_above_the_floor() -> None:
    """Once one memory has enough, those come along that have two fifths of it; a floor of 0 gives all."""
    trial = _trial("answerable", {"a": 1.2, "b": 0.5, "c": 0.3}, "a", "c")
    assert trial.given(0.0) == ("a", "b", "c")
    assert trial.given(1.0) == ("a", "b")
    assert trial.given(1.25) == ()
    assert [trial.recall(floor) for floor in (0.0, 1.0, 1.25)] == [1.0, 0.5, 0.0]


def test_a_trial_that_found_nothing_is_given_nothing() -> None:
    """A prompt without a telling word brings nothing at any floor."""
    trial = _trial("answerable", {}, "a")
    assert (trial.given(0.0), trial.recall(0.0)) == ((), 0.0)


TRIALS = (
    _trial("answerable", {"a": 1.2, "b": 0.5, "c": 0.3}, "a", "c"),
    _trial("answerable", {"d": 0.9}, "d"),
    _trial("answerable", {}, "e"),
    _trial("answerable", {"f": 2.0, "g": 2.0}, "f", "z"),
    _trial("unanswerable", {"a": 1.0}),
    _trial("unanswerable", {"a": 0.9, "b": 0.9}),
    _trial("unrelated", {"a": 3.0}, prompt="banking77/1"),
    _trial("unrelated", {}, prompt="banking77/2"),
    _trial("unrelated", {"a": 0.2}, prompt="scifact/1"),
    _trial("unrelated", {"a": 0.2}, prompt="scifact/2"),
    _trial("answerable", {"a": 9.0}, "a", way="words and meaning"),
    _trial("unrelated", {"a": 9.0}, name="ships", prompt="scifact/1"),
)


def test_an_outcome_is_counted_over_the_trials_of_its_set_and_way() -> None:
    """Recall and what the floor costs are over the questions; silence is by kind, and by the set a prompt is from."""
    outcome = judge(TRIALS, "boats", "words", 1.0)
    assert outcome.plain.mean == about((1.0 + 1.0 + 0.0 + 0.5) / 4)
    assert outcome.lost.mean == about((-0.5 - 1.0 + 0.0 + 0.0) / 4)
    assert outcome.plain.low < outcome.plain.mean < outcome.plain.high
    assert outcome.given == (2 + 0 + 0 + 2) / 4
    assert {kind: found.mean for kind, found in outcome.silent.items()} == {
        "unanswerable": about(0.5),
        "unrelated": about(0.75),
        "banking77": about(0.5),
        "scifact": about(1.0),
    }


def test_a_floor_of_nothing_costs_nothing() -> None:
    """Then silence is only where nothing was found."""
    outcome = judge(TRIALS, "boats", "words", 0.0)
    assert (outcome.lost.mean, outcome.lost.low, outcome.lost.high) == (0.0, 0.0, 0.0)
    assert (outcome.silent["unrelated"].mean, outcome.silent["unanswerable"].mean) == (about(0.25), 0.0)


def _write(path: Path, records: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(record) + "\n" for record in records)


@pytest.fixture
def datasets(tmp_path: Path) -> Path:
    """Give a folder of sets: boats with 20 questions in two scopes and 10 without an answer, and two foreign ones."""
    boats = tmp_path / "boats"
    _write(boats / "corpus.jsonl.gz", [{"id": "d", "text": "The boat.", "scope": "north"}])
    asked = [
        {"id": f"q{n}", "text": f"boat {n}?", "scope": ("north", "south")[n % 2], "visible_before_seq": n}
        for n in range(20)
    ]
    _write(boats / "queries.jsonl.gz", asked)
    (boats / "qrels.tsv").write_text("".join(f"q{n}\td\t1\n" for n in range(20)))
    _write(boats / "unanswerable.jsonl.gz", [{"id": f"u{n}", "text": "none", "scope": "south"} for n in range(10)])
    for name in FOREIGN:
        _write(tmp_path / name / "queries.jsonl.gz", [{"id": n, "text": f"{name} {n}"} for n in range(60)])
    return tmp_path


def _read(datasets: Path, split: Split) -> list[Prompt]:
    return list(read_prompts(Dataset(datasets / "boats"), datasets, split))


def test_prompts_are_of_one_split(datasets: Path) -> None:
    """Every prompt is in one of the two splits, by its id alone, and all are in both together."""
    tune, test, everything = ({prompt.id for prompt in _read(datasets, split)} for split in ("tune", "test", "all"))
    assert tune
    assert test
    assert tune | test == everything
    assert {split_of(each) for each in tune} == {"tune"}
    assert {split_of(each) for each in test} == {"test"}


def test_prompts_say_where_they_are_put_and_what_answers_them(datasets: Path) -> None:
    """A question keeps its scope, its answer and when it was asked; one without an answer keeps its scope."""
    prompts = {prompt.id: prompt for prompt in _read(datasets, "all")}
    assert prompts["q3"] == Prompt("q3", "boat 3?", "south", "answerable", 3, frozenset({"d"}))
    assert prompts["u2"] == Prompt("u2", "none", "south", "unanswerable")
    assert prompts["scifact/7"].text == "scifact 7"
    assert Counter(prompt.kind for prompt in prompts.values()) == {
        "answerable": 20, "unanswerable": 10, "unrelated": 120,
    }  # fmt: skip


def test_unrelated_prompts_are_drawn_alike_and_dealt_out(datasets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many of each foreign set, the same every time, in turn to each scope that has questions."""
    monkeypatch.setattr(inject, "UNRELATED", 20)
    drawn = [prompt for prompt in _read(datasets, "test") if prompt.kind == "unrelated"]
    assert Counter(prompt.id.partition("/")[0] for prompt in drawn) == dict.fromkeys(FOREIGN, 10)
    assert [prompt.space for prompt in drawn] == ["north", "south"] * 10
    assert drawn == [prompt for prompt in _read(datasets, "test") if prompt.kind == "unrelated"]
    assert [prompt.id for prompt in drawn[:10]] != sorted(prompt.id for prompt in drawn[:10])


def test_a_set_without_questions_in_a_split_is_refused(datasets: Path) -> None:
    """There is nothing to judge by, and that is said."""
    _write(datasets / "boats" / "queries.jsonl.gz", [{"id": "q0", "text": "boat?"}])
    empty: Split = "test" if split_of("q0") == "tune" else "tune"
    with pytest.raises(BenchError, match=f"boats has no questions in the split {empty}"):
        _read(datasets, empty)


def test_the_trade_off_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A panel a set and a line a way, as a picture of either kind."""
    sets = ("boats", "ships")
    ways: tuple[Way, ...] = ("words", "words and meaning")
    trials = [
        _trial(
            each.prompt.kind,
            dict(zip(each.found, each.weights, strict=True)),
            *each.prompt.relevant,
            name=name,
            way=way,
        )
        for name in sets
        for way in ways
        for each in TRIALS[:8]
    ]
    monkeypatch.setattr("recollect.bench.inject_plot.SETS", sets)
    monkeypatch.setattr("recollect.bench.inject_plot.FLOORS", (0.0, 1.0, 3.0))
    drawing, picture = tmp_path / "trade-off.svg", tmp_path / "trade-off.png"
    for target in (drawing, picture):
        plot_trade_off(trials, target, "tune")
    drawn = drawing.read_text(encoding="utf-8")
    assert all(f"<!-- {name} -->" in drawn for name in (*sets, *ways))
    assert "(tune split)" in drawn
    assert "<dc:date>" not in drawn
    assert picture.read_bytes().startswith(b"\x89PNG")
