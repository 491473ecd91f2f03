"""`recollect bench inject` on sets small enough to know what prompts are given."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from command_line import CommandLine
from given import Letters
from recollect import wiring
from recollect.bench.inject import FOREIGN, SETS

COLOURS = ("amber", "blue", "cyan", "green", "indigo", "lilac", "magenta", "orange", "purple", "red", "teal", "white")
WAYS = ("words", "words and meaning")


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """Give a command line whose sets are of boats, a question a boat, and whose foreign ones are of other things."""
    datasets = tmp_path / "datasets"
    for name in SETS:
        _write(
            datasets / name / "corpus.jsonl.gz",
            [{"id": f"d{n}", "text": f"The {colour} boat lies at pier {n}."} for n, colour in enumerate(COLOURS)],
        )
        _write(
            datasets / name / "queries.jsonl.gz",
            [{"id": f"q{n}", "text": f"Where is the {colour} boat moored?"} for n, colour in enumerate(COLOURS)],
        )
        (datasets / name / "qrels.tsv").write_text("".join(f"q{n}\td{n}\t1\n" for n in range(len(COLOURS))))
        _write(
            datasets / name / "unanswerable.jsonl.gz",
            [{"id": text, "text": text, "scope": name} for text in ("Who painted the ceiling of the chapel?", "go on")],
        )
    for name in FOREIGN:
        _write(datasets / name / "queries.jsonl.gz", [{"id": "1", "text": "Does aspirin lower fever in mice?"}])
    monkeypatch.setattr(wiring, "open_embedder", lambda _model: Letters())
    line = CommandLine(tmp_path / "home")
    line.settings |= {"RECOLLECT_DATASETS": str(datasets), "RECOLLECT_BENCH": str(tmp_path / "bench")}
    return line


def _write(path: Path, records: list[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(record) + "\n" for record in records)


def test_what_prompts_are_given_is_measured(cli: CommandLine) -> None:
    """By words, every boat is given with its question, and nothing with what is about no boat."""
    outcomes = cli.data("bench", "inject", "--model", "letters", "--split", "all")
    assert [(each["set"], each["way"]) for each in outcomes] == [(name, way) for name in SETS for way in WAYS]
    for each in outcomes[::2]:
        assert each["floor"] == 1.0
        assert each["plain"] == {"mean": 1.0, "low": 1.0, "high": 1.0}
        assert each["lost"]["mean"] == 0.0
        assert 1 <= each["given"] <= 5
        assert {kind: found["mean"] for kind, found in each["silent"].items()} == dict.fromkeys(
            ("unanswerable", "unrelated", *FOREIGN), 1.0
        )


def test_meaning_is_asked_beside_words(cli: CommandLine) -> None:
    """With a model that finds every text alike, prompts about something else are no longer met with silence."""
    words, meaning, *_ = cli.data("bench", "inject", "-m", "letters", "--split", "all", "--floor", "0.01")
    assert words["silent"]["unrelated"]["mean"] == 1.0
    assert meaning["silent"]["unrelated"]["mean"] == 0.0


def test_the_outcomes_are_a_table_and_a_picture(cli: CommandLine, tmp_path: Path) -> None:
    """A row a set and a way, with recall, what the floor costs, and silence by kind; the trade-off is drawn."""
    picture = tmp_path / "trade-off.svg"
    shown = cli.say("bench", "inject", "-m", "letters", "--split", "all", "--floor", "3", "--plot", str(picture))
    head, *rows = shown.splitlines()
    assert head.split()[:3] == ["set", "by", "R@5"]
    assert "silent: banking77" in head
    assert [row.split()[0] for row in rows] == [name for name in SETS for _ in WAYS]
    by_words = rows[0].split()
    assert by_words[:3] == ["locomo", "words", "1.000"]
    # No memory holds words for a floor of three times enough, so all of its recall is lost and nothing is given.
    assert by_words[3].startswith("-1.000")
    assert by_words[-5:] == ["0.0", "100.0%", "100.0%", "100.0%", "100.0%"]
    assert "<svg" in picture.read_text(encoding="utf-8")


def test_an_unknown_split_is_refused(cli: CommandLine) -> None:
    """One line says which there are, before anything is loaded."""
    refused = cli.run("bench", "inject", "-m", "letters", "--split", "dev", code=2)
    assert "A split is one of test, tune, all, not 'dev'." in " ".join(refused.stderr.split())
    assert not (cli.home.parent / "bench").exists()
