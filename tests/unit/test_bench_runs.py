"""Runs are kept, compared and judged; what cannot be compared is refused."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from making import about
from recollect.bench.arms import ARMS
from recollect.bench.compare import compare
from recollect.bench.errors import BenchError
from recollect.bench.grids import GRIDS, find_grid, make_grid
from recollect.bench.metrics import NDCG, RECALL_10
from recollect.bench.models import portable
from recollect.bench.provenance import checkout, code_digest, versions
from recollect.bench.report import gather, to_html, to_markdown
from recollect.bench.results import QueryResult, SetResult
from recollect.bench.runs import Folder, Run, conditions, describe, find_run, list_runs, read_run, run_name
from recollect.bench.significance import Interval
from recollect.bench.sweep import Point, Sweep
from recollect.bench.tables import MEAN, comparison_rows, difference, interval, markdown, mean_rows, run_rows
from recollect.bench.verdict import judge

FULL = {"R@5": 1.0, "R@10": 1.0, "nDCG@10": 1.0, "RR": 1.0}


def _row(name: str, query: int, value: float) -> QueryResult:
    return QueryResult(name, f"q{query}", "kind", dict.fromkeys(FULL, value), (f"d{query}",), 1.5 + query)


def _result(name: str, values: list[float], data: str = "hash") -> SetResult:
    rows = tuple(_row(name, query, value) for query, value in enumerate(values))
    return SetResult(name, data, 10, 5000, rows, {"q0": 2.0})


def _run(folder: Path, arm: str, *results: SetResult, split: Any = "test") -> Run:  # noqa: ANN401
    made_under = conditions(ARMS[arm], split, "model")
    made = Folder(folder / run_name(made_under), made_under, ARMS[arm].about)
    for result in results:
        made.keep(result)
    return made.finish(workers=1)


def test_a_run_is_read_back_as_it_was(tmp_path: Path) -> None:
    """Its conditions hold every setting, and its rows come back whole."""
    made = _run(tmp_path, "rrf", _result("one", [1.0, 0.25]))
    read = read_run(made.path)
    assert read.rows == made.rows == _result("one", [1.0, 0.25]).rows
    assert (read.arm, read.data) == ("rrf", {"one": "hash"})
    recorded = read.manifest["conditions"]
    assert recorded["settings"]["rrf.k"] == 60
    assert recorded["settings"]["limit"] == 10
    assert (recorded["split"], recorded["model"]) == ("test", "model")
    assert {"python", "numpy", "ir-measures"} <= read.manifest["versions"].keys()


def test_an_arm_of_words_alone_does_not_name_a_model() -> None:
    """It is the same with any, so it need not be run again for another."""
    assert conditions(ARMS["lexical"], "test", "model") == conditions(ARMS["lexical"], "test", None)
    assert conditions(ARMS["default"], "test", "model") != conditions(ARMS["default"], "test", None)


def test_figures_are_means_with_intervals_and_timings_stand_apart(tmp_path: Path) -> None:
    """Two sets of means .5 and 1 have the mean .75; latency is in a file of its own."""
    made = describe(_run(tmp_path, "lexical", _result("half", [1.0, 0.0]), _result("full", [1.0])))
    assert made["figures"]["mean"]["nDCG@10"][0] == 0.75
    assert made["figures"]["sets"]["full"]["nDCG@10"] == [1.0, 1.0, 1.0]
    assert made["figures"]["strata"]["half · kind"]["queries"] == 2
    times = made["timings"]["sets"]["half"]
    assert (times["p50 ms"], times["bytes a memory"], times["p50 ms with query embedding"]) == (2.0, 500, 3.5)
    assert "ms" not in json.dumps(made["figures"])


def test_the_same_results_are_the_same_files(tmp_path: Path) -> None:
    """Figures and queries of two runs are equal to the byte."""
    one, two = (_run(tmp_path / each, "lexical", _result("set", [0.3, 0.7, 0.1])) for each in ("a", "b"))
    for file in ("figures.json", "queries.jsonl.gz"):
        assert (one.path / file).read_bytes() == (two.path / file).read_bytes()


def test_a_run_goes_on_with_the_sets_that_are_missing(tmp_path: Path) -> None:
    """What was kept before a kill is there; a set of other data counts as missing."""
    made_under = conditions(ARMS["lexical"], "test", None)
    Folder(tmp_path / "run", made_under, "about").keep(_result("one", [1.0]))
    again = Folder(tmp_path / "run", made_under, "about")
    assert again.has("one", "hash")
    assert not again.has("one", "other")
    assert not again.has("two", "hash")
    again.keep(_result("two", [0.5]))
    assert set(again.finish(workers=1).data) == {"one", "two"}


def test_other_conditions_are_not_mixed_into_a_run(tmp_path: Path) -> None:
    """They are refused, or take its place when told to."""
    Folder(tmp_path / "run", conditions(ARMS["lexical"], "test", None), "").keep(_result("one", [1.0]))
    other = conditions(ARMS["lexical"], "tune", None)
    with pytest.raises(BenchError, match=r"under other conditions \(split\)"):
        Folder(tmp_path / "run", other, "")
    assert not Folder(tmp_path / "run", other, "", fresh=True).has("one", "hash")


def test_a_run_is_found_by_folder_name_or_arm(tmp_path: Path) -> None:
    """An arm's name finds its latest run; what is not there is answered with what is."""
    made = _run(tmp_path, "lexical", _result("one", [1.0]))
    assert [find_run(tmp_path, name).path for name in (str(made.path), made.name, "lexical")] == [made.path] * 3
    assert list_runs(tmp_path) == [made.path]
    with pytest.raises(BenchError, match=f"There are: {made.name}"):
        find_run(tmp_path, "default")
    with pytest.raises(BenchError, match="not a finished run"):
        read_run(tmp_path)


def test_a_difference_is_of_the_same_queries(tmp_path: Path) -> None:
    """A is .5 better on one of two queries: .25 in the mean."""
    comparison = compare(
        _run(tmp_path, "default", _result("one", [1.0, 0.5])), _run(tmp_path, "lexical", _result("one", [0.5, 0.5]))
    )
    (found,) = comparison.differences[NDCG].sets["one"]
    assert found.mean == about(0.25)
    assert (comparison.sets, comparison.missing, comparison.queries) == (("one",), (), {"one": 2})


@pytest.mark.parametrize(
    ("a", "b", "complaint"),
    [
        (_result("one", [1.0]), _result("two", [1.0]), "no set in common"),
        (_result("one", [1.0]), _result("one", [1.0], "changed"), "different data of one"),
        (_result("one", [1.0]), _result("one", [1.0, 1.0]), "different questions of one"),
    ],
)
def test_what_cannot_be_compared_is_refused(tmp_path: Path, a: SetResult, b: SetResult, complaint: str) -> None:
    """A difference between unlike things would look like one between arms."""
    with pytest.raises(BenchError, match=complaint):
        compare(_run(tmp_path, "default", a), _run(tmp_path, "lexical", b))


def test_splits_are_not_compared(tmp_path: Path) -> None:
    """What was tuned on says nothing about what was not."""
    one = _run(tmp_path, "default", _result("one", [1.0]), split="tune")
    with pytest.raises(BenchError, match="of another split"):
        compare(one, _run(tmp_path, "lexical", _result("one", [1.0])))


GOOD, SAME, BAD = [0.9] * 20, [0.5] * 20, [0.1] * 20


@pytest.mark.parametrize(
    ("first", "second", "better", "not_worse"),
    [
        (GOOD, SAME, True, True),
        (GOOD, GOOD, True, True),
        (SAME, SAME, False, True),
        (GOOD, BAD, False, False),
        (SAME, BAD, False, False),
        ([0.9, 0.1] * 10, SAME, False, True),
    ],
)
def test_the_gate_admits_what_is_better_and_worse_nowhere(
    tmp_path: Path, first: list[float], second: list[float], *, better: bool, not_worse: bool
) -> None:
    """Against .5 on both sets: better on one is enough, worse on one is too much, no difference is not worse."""
    a = _run(tmp_path, "default", _result("first", first), _result("second", second))
    b = _run(tmp_path, "lexical", _result("first", SAME), _result("second", SAME))
    comparison = compare(a, b)
    assert judge(comparison, [NDCG]).passed is better
    verdict = judge(comparison, [NDCG], not_worse=True)
    assert verdict.passed is not_worse
    assert bool(verdict.reasons) is not not_worse


def test_the_gate_names_what_is_worse(tmp_path: Path) -> None:
    """With the set, the measure and the interval."""
    a = _run(tmp_path, "default", _result("first", GOOD), _result("second", BAD))
    b = _run(tmp_path, "lexical", _result("first", SAME), _result("second", SAME))
    assert "nDCG@10 is worse on second: -0.4000 [-0.4000, -0.4000]" in judge(compare(a, b), [NDCG]).reasons


def test_the_gate_does_not_pass_over_a_missing_set(tmp_path: Path) -> None:
    """Nor a measure that no set has."""
    a = _run(tmp_path, "default", _result("first", GOOD))
    b = _run(tmp_path, "lexical", _result("first", SAME), _result("second", SAME))
    with pytest.raises(BenchError, match="no results for second"):
        judge(compare(a, b), [NDCG])
    with pytest.raises(BenchError, match="has the measure all-gold@10"):
        judge(compare(b, a), ["all-gold@10"])


def test_a_baseline_needs_only_its_manifest_and_its_queries(tmp_path: Path) -> None:
    """That is what is kept in git."""
    made = _run(tmp_path, "lexical", _result("one", [1.0]))
    kept = tmp_path / "baseline"
    kept.mkdir()
    for file in ("manifest.json", "queries.jsonl.gz"):
        (kept / file).write_bytes((made.path / file).read_bytes())
    assert judge(compare(made, find_run(tmp_path, str(kept))), [NDCG], not_worse=True).passed
    with gzip.open(kept / "queries.jsonl.gz", "rt") as lines:
        assert json.loads(next(iter(lines)))["top"] == ["d0"]


def test_numbers_are_written_short() -> None:
    """Without the nought before the point, with a sign where they are differences."""
    assert interval(Interval(0.5, 0.25, 1.0)) == ".500 [.250, 1.000]"
    assert difference(Interval(-0.0104, -0.02, 0.0)) == "-.010 [-.020, +.000]"


def test_tables_have_a_line_a_set_and_one_for_the_mean(tmp_path: Path) -> None:
    """Every figure in them has its interval."""
    a = _run(tmp_path, "default", _result("one", [1.0]), _result("two", [0.0]))
    b = _run(tmp_path, "lexical", _result("one", [0.0]), _result("two", [0.0]))
    rows = run_rows(a)
    assert [row[0] for row in rows] == ["set", "one", "two", MEAN]
    assert rows[1][2:5] == ("1.000 [1.000, 1.000]",) * 3
    compared = comparison_rows(compare(a, b), [RECALL_10])
    assert compared[1] == ("one", "1", "1.000", ".000", "+1.000 [+1.000, +1.000] ▲")
    assert mean_rows([a, b])[2][0] == b.name
    assert markdown([("a", "b"), ("1", "2")]) == "| a | b |\n| --- | ---: |\n| 1 | 2 |"


def test_a_report_is_one_page_that_needs_nothing_else(tmp_path: Path) -> None:
    """Its drawings are inside and take the page's colours; where the default loses is said."""
    runs = [
        _run(tmp_path, "default", _result("one", SAME), _result("two", BAD)),
        _run(tmp_path, "lexical", _result("one", BAD), _result("two", SAME)),
        _run(tmp_path, "seeds", _result("one", BAD), _result("two", SAME)),
        _run(tmp_path, "dense", _result("one", BAD)),
    ]
    axes: dict[str, list[Any]] = {"rrf.k": [10, 60], "normaliser": ["min-max", "theoretical-minimum"]}
    points = tuple(
        Point({"rrf.k": k, "normaliser": how}, {NDCG: Interval(k / 100, 0.0, 1.0)}, {})
        for k in (10, 60)
        for how in axes["normaliser"]
    )
    sweep = Sweep("rrf", axes, points, {"conditions": {"arm": "rrf"}, "finished": ""})
    report = gather(runs)
    html = to_html(report, [sweep])
    assert [each.partition(" ")[2] for each in report.left_out] == ["(without two)"]
    assert html.count("<svg") == 4
    assert "var(--series-0)" in html
    assert "prefers-color-scheme: dark" in html
    assert "-.400 [-.400, -.400] ▼" in html
    for outside in ("<link", "<script", "src=", "url(http"):
        assert outside not in html
    assert "| default | .300 [.300, .300] |" in to_markdown(report)
    assert gather(runs[1:2]).reference.arm == "lexical"
    with pytest.raises(BenchError, match="no runs to report"):
        gather([])


def test_grids_are_data() -> None:
    """Every point is a product of the axes; alpha is the dense leg's share and leaves the rest to the words."""
    grid = make_grid("convex", ["alpha=0,0.3", "normaliser=min-max"])
    assert [(arm.values["weight.dense"], arm.values["weight.lexical"]) for _, arm in grid.arms()] == [
        (0.0, 1.0),
        (0.3, 0.7),
    ]
    assert len(find_grid("rrf").points()) == 6 * 4 * 2
    assert all(arm.name for each in GRIDS.values() for _, arm in each.arms())


@pytest.mark.parametrize("given", ["rrf.k", "rrf.k=", "nothing=1"])
def test_a_grid_that_cannot_be_read_is_refused(given: str) -> None:
    """With how to write it, or what there is."""
    with pytest.raises(BenchError):
        make_grid("rrf", [given])
    with pytest.raises(BenchError, match="--vary makes one of your own"):
        find_grid("mine")


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("folder:/home/somebody/models/all-MiniLM-L6-v2#0123456789ab", "all-MiniLM-L6-v2#0123456789ab"),
        ("folder:models#0123456789ab", "models#0123456789ab"),
        ("BAAI/bge-small-en-v1.5", "BAAI/bge-small-en-v1.5"),
        ("openai:text-embedding-3-small", "openai:text-embedding-3-small"),
    ],
)
def test_a_models_name_holds_no_path(model: str, expected: str) -> None:
    """What is kept of a run can be shown to anyone."""
    assert portable(model) == expected


def test_a_run_knows_the_code_it_was_made_with() -> None:
    """The digest stands for what shapes figures; the versions for what is around it."""
    assert code_digest() == code_digest()
    assert versions()["python"]
    assert checkout() is None or set(checkout() or ()) == {"commit", "dirty"}
