"""Figures as rows of text: for the terminal, and as Markdown for the README."""

from collections.abc import Mapping, Sequence

from recollect.bench.compare import Comparison
from recollect.bench.figures import by_set, summarise_rows
from recollect.bench.metrics import ALL_GOLD, ENTERED, NDCG, NEWEST, RECALL_5, RECALL_10
from recollect.bench.runs import Run
from recollect.bench.significance import Interval, Summary
from recollect.bench.sweep import MEASURES, Sweep

MEAN = "mean of sets"

Row = tuple[str, ...]


def number(value: float) -> str:
    """Write a share as `.618`."""
    text = f"{value:.3f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def interval(value: Interval) -> str:
    return f"{number(value.mean)} [{number(value.low)}, {number(value.high)}]"


def signed(value: float) -> str:
    return f"{value:+.3f}".replace("0.", ".", 1)


def difference(value: Interval) -> str:
    return f"{signed(value.mean)} [{signed(value.low)}, {signed(value.high)}]"


def run_rows(run: Run, measures: Sequence[str] = (RECALL_5, RECALL_10, NDCG)) -> list[Row]:
    """Give a line a set: how many queries, the measures with their intervals, the latency."""
    summaries, sets = summarise_rows(run.rows), by_set(run.rows)
    times = run.timings().get("sets", {})
    rows: list[Row] = [("set", "queries", *measures, "p50 ms", "p95 ms")]
    for name, of_set in sets.items():
        time = times.get(name, {})
        rows.append(
            (
                name,
                f"{len(of_set):,}",
                *(_cell(summaries, measure, name) for measure in measures),
                f"{time['p50 ms']:.1f}" if time else "",
                f"{time['p95 ms']:.1f}" if time else "",
            )
        )
    if len(sets) > 1:
        means = [_cell(summaries, measure, MEAN) for measure in measures]
        rows.append((MEAN, f"{len(run.rows):,}", *means, "", ""))
    return rows


def mean_rows(runs: Sequence[Run], measures: Sequence[str] = (RECALL_5, RECALL_10, NDCG)) -> list[Row]:
    """Give a line a run: the measures' means over its sets."""
    rows: list[Row] = [("run", *measures)]
    for run in runs:
        summaries = summarise_rows(run.rows)
        rows.append((run.name, *(_cell(summaries, measure, MEAN) for measure in measures)))
    return rows


def special_rows(run: Run) -> list[Row]:
    """Give the measures that only some sets have."""
    summaries = summarise_rows(run.rows)
    return [
        (measure, name, interval(intervals[0]))
        for measure in (ALL_GOLD, NEWEST, ENTERED)
        if measure in summaries
        for name, intervals in summaries[measure].sets.items()
        if measure != ENTERED or intervals[0].mean
    ]


def comparison_rows(comparison: Comparison, measures: Sequence[str]) -> list[Row]:
    """Give a line a set: each measure of A, of B, and their difference with its interval."""
    rows: list[Row] = [("set", "queries", *(cell for each in measures for cell in (each, "B", "A - B")))]
    for name in (*comparison.sets, *([MEAN] if len(comparison.sets) > 1 else [])):
        cells: list[str] = []
        for measure in measures:
            found = [
                _pick(summaries, measure, name)
                for summaries in (comparison.of_a, comparison.of_b, comparison.differences)
            ]
            a, b, less = found
            cells += (
                ["", "", ""]
                if a is None or b is None or less is None
                else [
                    number(a.mean),
                    number(b.mean),
                    f"{difference(less)}{mark(less)}",
                ]
            )
        queries = sum(comparison.queries.values()) if name == MEAN else comparison.queries[name]
        rows.append((name, f"{queries:,}", *cells))
    return rows


def sweep_rows(sweep: Sweep, most: int = 15) -> list[Row]:
    """Give the best points of a sweep, with the mean over the sets."""
    return [
        (*sweep.axes, *MEASURES),
        *(
            (*map(str, point.values.values()), *(interval(point.mean[measure]) for measure in MEASURES))
            for point in sweep.best()[:most]
        ),
    ]


def mark(value: Interval) -> str:
    """Point out a difference that is clear of zero."""
    return " ▲" if value.above_zero else " ▼" if value.below_zero else ""


def markdown(rows: Sequence[Row]) -> str:
    head, *rest = rows
    lines = [head, tuple("---" if place == 0 else "---:" for place in range(len(head))), *rest]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _pick(summaries: Mapping[str, Summary], measure: str, name: str) -> Interval | None:
    if measure not in summaries:
        return None
    summary = summaries[measure]
    if name == MEAN:
        return summary.mean[0]
    return summary.sets[name][0] if name in summary.sets else None


def _cell(summaries: Mapping[str, Summary], measure: str, name: str) -> str:
    found = _pick(summaries, measure, name)
    return "" if found is None else interval(found)
