"""`recollect bench` from the sets on disk to the page for people, on a set small enough to check."""

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from command_line import CommandLine

COLOURS = ("amber", "blue", "cyan", "green", "indigo", "lilac", "magenta", "orange", "purple", "red", "teal", "white")


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    """Give a command line whose sets are one of boats, one question a boat, half of them asked in other words."""
    boats = tmp_path / "datasets" / "boats"
    boats.mkdir(parents=True)
    _write(
        boats / "corpus.jsonl.gz",
        [
            {"id": f"d{number}", "text": f"The {colour} boat lies at pier {number}.", "session": "s", "seq": number}
            for number, colour in enumerate(COLOURS)
        ],
    )
    _write(
        boats / "queries.jsonl.gz",
        [
            {"id": f"q{number}", "text": f"Where is the {colour} boat moored?" if number % 2 else "Where does it lie?"}
            for number, colour in enumerate(COLOURS)
        ],
    )
    (boats / "qrels.tsv").write_text("".join(f"q{number}\td{number}\t1\n" for number in range(len(COLOURS))))
    line = CommandLine(tmp_path / "home")
    line.settings |= {"RECOLLECT_DATASETS": str(tmp_path / "datasets"), "RECOLLECT_BENCH": str(tmp_path / "bench")}
    return line


def _write(path: Path, records: list[dict[str, Any]]) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(record) + "\n" for record in records)


def test_two_runs_of_an_arm_have_the_same_figures(cli: CommandLine) -> None:
    """Measured anew from nothing but the data, every figure and every ranking comes out alike."""
    runs = [
        cli.data("bench", "run", "-s", "boats", "-a", "default", "--split", "all", "--name", name, "--work", name)[0]
        for name in (str(cli.home / "first"), str(cli.home / "second"))
    ]
    first, second = (Path(run["folder"]) for run in runs)
    assert first != second
    assert (first / "figures.json").read_bytes() == (second / "figures.json").read_bytes()
    one, two = (_read_tops(folder) for folder in (first, second))
    assert one == two
    assert len(one) == len(COLOURS)
    assert runs[0]["figures"]["sets"]["boats"]["queries"] == len(COLOURS)
    assert runs[0]["timings"]["sets"]["boats"]["p95 ms"] > 0


def _read_tops(folder: Path) -> dict[str, list[str]]:
    with gzip.open(folder / "queries.jsonl.gz", "rt", encoding="utf-8") as lines:
        return {record["query"]: record["top"] for record in map(json.loads, lines)}


def test_a_run_that_is_there_is_not_made_again(cli: CommandLine) -> None:
    """Asked for again under the same conditions it is the same run; another set is added to it."""
    first = cli.data("bench", "run", "-s", "boats", "-a", "lexical")[0]
    again = cli.data("bench", "run", "-s", "boats", "-a", "lexical")[0]
    assert again["timings"]["sets"] == first["timings"]["sets"]
    sets = cli.home.parent / "datasets"
    (sets / "ships").symlink_to(sets / "boats")
    added = cli.data("bench", "run", "-s", "ships", "-a", "lexical")[0]
    assert (added["name"], set(added["manifest"]["sets"])) == (first["name"], {"boats", "ships"})


def test_an_arm_on_postgres_is_run_like_any_other(cli: CommandLine, postgres_url: str) -> None:
    """Given a Postgres; without one it is said what is missing."""
    (run,) = cli.data("bench", "run", "-s", "boats", "-a", "ts-rank", "--split", "all", "--database", postgres_url)
    assert run["figures"]["sets"]["boats"]["queries"] == len(COLOURS)
    assert run["manifest"]["conditions"]["words"] == "ts_rank"
    assert postgres_url not in json.dumps(run)
    assert "needs a Postgres" in cli.run("bench", "run", "-s", "boats", "-a", "server", code=2).stderr


def test_runs_are_shown_compared_and_judged(cli: CommandLine) -> None:
    """Tables fit 100 columns, and the gate's exit code is its verdict."""
    shown = cli.say("bench", "run", "-s", "boats", "-a", "lexical", "-a", "default", "--split", "all")
    assert "boats" in shown
    assert max(map(len, shown.splitlines())) <= 100
    assert "A - B" in cli.say("bench", "compare", "default", "lexical")
    assert "is not clearly better" in cli.say("bench", "gate", "lexical", "lexical", code=1)
    assert "is not worse than" in cli.say("bench", "gate", "lexical", "lexical", "--not-worse")
    cli.say("bench", "run", "-s", "boats", "-a", "lexical", "--split", "all", "--with", "floor.lexical=1")
    worse = "lexical+floor.lexical=1.0"
    assert "is worse on boats" in cli.say("bench", "gate", worse, "lexical", "--not-worse", code=1)
    assert "may take the place of" in cli.say("bench", "gate", "lexical", worse)


def test_a_sweep_is_of_the_tune_split_and_never_of_what_stays_unseen(cli: CommandLine) -> None:
    """Its best points are shown and kept; a set that must stay unseen is refused with the reason."""
    shown = cli.say("bench", "sweep", "-s", "boats", "--arm", "lexical", "--vary", "floor.lexical=0,1")
    assert "2 points of lexical on the tune split" in shown
    (kept,) = (cli.home.parent / "bench" / "sweeps").glob("*/sweep.json")
    assert json.loads(kept.read_text())["manifest"]["conditions"]["split"] == "tune"
    refused = cli.run("bench", "sweep", "-s", "longmemeval_s", "--grid", "convex", code=2)
    assert "must stay unseen" in refused.stderr
    assert "Give --grid" in cli.run("bench", "sweep", code=2).stderr


def test_the_report_is_written_as_a_page_and_as_markdown(cli: CommandLine, tmp_path: Path) -> None:
    """Arms, sweeps and latency are drawn in it."""
    cli.say("bench", "run", "-s", "boats", "-a", "lexical", "-a", "default")
    cli.say("bench", "sweep", "-s", "boats", "--arm", "lexical", "--vary", "floor.lexical=0,0.5,1")
    page, table = tmp_path / "page.html", tmp_path / "table.md"
    assert "2 arms over 1 sets" in cli.say("bench", "report", "-o", str(page), "--markdown", str(table))
    assert page.read_text().count("<svg") == 4
    assert table.read_text().startswith("| arm | R@5 |")


def test_several_workers_give_what_one_gives(cli: CommandLine) -> None:
    """Sets run in processes of their own, and their results come together."""
    sets = cli.home.parent / "datasets"
    (sets / "ships").symlink_to(sets / "boats")
    arguments = ("bench", "run", "-s", "boats", "-s", "ships", "-a", "lexical")
    alone, apart = (
        cli.data(*arguments, "--work", str(cli.home / workers), "--workers", workers)[0] for workers in ("1", "2")
    )
    assert alone["figures"] == apart["figures"]
    assert apart["timings"]["machine"]["workers"] == 2


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("run", "-s", "nothing"), "There is no set 'nothing'"),
        (("run", "-s", "boats", "-a", "best"), "There is no arm 'best'"),
        (("run", "-s", "boats", "-a", "dense"), "name a model with --model"),
        (("run", "-s", "boats", "--split", "dev"), "--split is one of test, tune, all"),
        (("run", "-s", "boats", "--with", "depth"), "Write NAME=VALUE"),
        (("run", "--datasets", "nowhere"), "There are no evaluation sets at nowhere"),
        (("compare", "a", "b"), "There is no run 'a'"),
        (("report",), "There are no runs to report"),
    ],
)
def test_what_cannot_be_measured_is_refused_with_what_to_do(
    cli: CommandLine, arguments: tuple[str, ...], complaint: str
) -> None:
    """One line, exit code 2, nothing left behind that looks like a run."""
    assert complaint in cli.run("bench", *arguments, code=2).stderr.replace("\n", " ")


def test_the_arms_are_listed(cli: CommandLine) -> None:
    """By name, with what they are."""
    assert "a common recipe" in cli.say("bench", "arms")
    assert {"lexical", "default"} <= {arm["name"] for arm in cli.data("bench", "arms")}


def test_the_command_line_starts_without_the_libraries_of_the_harness() -> None:
    """NumPy, ir-measures and Matplotlib are imported by the commands that use them."""
    heavy = ("numpy", "ir_measures", "matplotlib")
    code = f"import sys, recollect.cli.bench; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_missing_library_says_what_to_install() -> None:
    """The extra is named as one types it."""
    code = (
        "import sys; sys.modules['ir_measures'] = None; "
        "from recollect.cli.app import app; app(['bench', 'compare', 'a', 'b'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "pip install 'recollect[bench]'" in done.stderr
