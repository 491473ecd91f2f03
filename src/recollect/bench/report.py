"""Runs and sweeps -> one page for people, and a Markdown table for the README."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Final

from recollect.bench import page
from recollect.bench.compare import compare
from recollect.bench.errors import BenchError
from recollect.bench.figures import summarise_rows
from recollect.bench.metrics import ALL_GOLD, NDCG, NEWEST, RECALL_5, RECALL_10, RECIPROCAL
from recollect.bench.plots import Mark, color_of, plot_latency, plot_means, plot_sets, plot_sweep
from recollect.bench.runs import Run
from recollect.bench.significance import Summary
from recollect.bench.sweep import Sweep
from recollect.bench.tables import MEAN, difference, interval, mark, markdown, number, run_rows

REFERENCE: Final = "default"
_JUDGED: Final = (RECALL_10, NDCG, ALL_GOLD, NEWEST)
_TABLED: Final = (RECALL_5, RECALL_10, NDCG, RECIPROCAL)


@dataclass(frozen=True, slots=True)
class Report:
    runs: tuple[Run, ...]
    reference: Run
    summaries: Mapping[str, Mapping[str, Summary]]
    """By arm, then by measure."""
    left_out: tuple[str, ...]

    @property
    def arms(self) -> list[str]:
        """The arms, the reference first, the rest by their mean."""
        rest = sorted(
            (run.arm for run in self.runs if run is not self.reference),
            key=lambda arm: -self.summaries[arm][NDCG].mean[0].mean,
        )
        return [self.reference.arm, *rest]


def gather(runs: Sequence[Run]) -> Report:
    """Take the runs that answered all that the reference did: means over different sets are no comparison."""
    if not runs:
        raise BenchError("There are no runs to report: `recollect bench run` makes them.")
    latest: dict[str, Run] = {}
    for run in runs:
        latest.setdefault(run.arm, run)
    reference = latest.get(REFERENCE) or max(latest.values(), key=lambda run: len(run.data))
    taken, left_out = [], []
    for run in latest.values():
        lacking = _lacking(run, reference)
        if lacking:
            left_out.append(f"{run.name} ({lacking})")
        else:
            rows = tuple(row for row in run.rows if row.set in reference.data)
            taken.append(replace(run, rows=rows))
    summaries = {run.arm: summarise_rows(run.rows) for run in taken}
    chosen = next(run for run in taken if run.arm == reference.arm)
    return Report(tuple(taken), chosen, summaries, tuple(left_out))


def to_html(report: Report, sweeps: Sequence[Sweep]) -> str:
    conditions = report.reference.manifest["conditions"]
    queries = len(report.reference.rows)
    title = "How well Recollect finds"
    losses = _losses(report)
    parts = [
        f"<h1>{title}</h1>",
        page.paragraph(
            f"{queries:,} questions of {len(report.reference.data)} sets, {conditions['split']} split; model "
            f"{conditions['model'] or 'none'}. Every figure is of the product's own recall; brackets and bars are "
            "95 % bootstrap intervals over questions."
        ),
        page.cards(_cards(report)),
        page.heading("Arms", "The mean over the sets, each set counting alike. The broken line is the default's."),
        page.figure(_means(report)),
        page.table(_arm_rows(report), strong=[report.reference.arm]),
        page.heading("Set by set", NDCG),
        page.figure(_sets(report)),
        page.heading("The default, set by set"),
        page.table(run_rows(report.reference, _TABLED), strong=[MEAN]),
        page.heading("Where the default loses", _losing(losses)),
        *([page.table([("set", "measure", "to", "difference"), *losses])] if losses else []),
        *_sweeps(sweeps),
        page.heading("Quality and latency", "Measured where the runs were made, over the sets' medians."),
        page.figure(_latency(report)),
        page.heading("How it was measured"),
        *(page.paragraph(f"Left out: {each}.") for each in report.left_out),
        *(page.more(f"{run.name}: {run.manifest['about']}", json.dumps(run.manifest, indent=1)) for run in report.runs),
    ]
    return page.page(title, parts)


def to_markdown(report: Report) -> str:
    """Give the arms as a table, and the default set by set."""
    return f"{markdown(_arm_rows(report))}\n\n{markdown(run_rows(report.reference))}\n"


def _lacking(run: Run, reference: Run) -> str:
    if run.manifest["conditions"]["split"] != reference.manifest["conditions"]["split"]:
        return "another split"
    missing = sorted(reference.data.keys() - run.data.keys())
    if missing:
        return f"without {', '.join(missing)}"
    return "" if all(run.data[name] == data for name, data in reference.data.items()) else "other data"


def _cards(report: Report) -> list[str]:
    own = report.summaries[report.reference.arm]
    found = [
        page.card(number(own[measure].mean[0].mean), f"{measure} of {report.reference.arm}, mean of sets")
        for measure in (NDCG, RECALL_10)
    ]
    for run in report.runs:
        if run.arm in {"lexical", "seeds"} and run is not report.reference:
            gained = compare(report.reference, run).differences[NDCG].mean[0]
            value, _, bracket = difference(gained).partition(" ")
            found.append(page.card(value, f"{NDCG} over {run.arm}, {bracket}"))
    return found


def _means(report: Report) -> str:
    colors = color_of(report.arms)
    panels = {
        measure: [Mark(arm, report.summaries[arm][measure].mean[0], colors[arm]) for arm in report.arms]
        for measure in (NDCG, RECALL_10)
    }
    return plot_means(panels, report.reference.arm)


def _sets(report: Report) -> str:
    colors = color_of(report.arms)
    panels = {
        name: [Mark(arm, report.summaries[arm][NDCG].sets[name][0], colors[arm]) for arm in report.arms]
        for name in report.reference.data
    }
    return plot_sets(panels, report.reference.arm, NDCG)


def _arm_rows(report: Report) -> list[tuple[str, ...]]:
    measures = [each for each in (*_TABLED, ALL_GOLD, NEWEST) if each in report.summaries[report.reference.arm]]
    return [
        ("arm", *measures),
        *((arm, *(interval(report.summaries[arm][each].mean[0]) for each in measures)) for arm in report.arms),
    ]


def _losses(report: Report) -> list[tuple[str, ...]]:
    """Find the sets and measures in which another arm is clearly better, the largest differences first."""
    found = []
    for run in report.runs:
        if run is report.reference:
            continue
        for measure, summary in compare(report.reference, run).differences.items():
            for name, (value,) in summary.sets.items():
                if measure in _JUDGED and value.below_zero:
                    found.append((value.mean, (name, measure, run.arm, f"{difference(value)}{mark(value)}")))
    return [row for _, row in sorted(found)]


def _losing(losses: Sequence[object]) -> str:
    return "Differences whose interval lies wholly below zero." if losses else "Nowhere beyond chance."


def _sweeps(sweeps: Sequence[Sweep]) -> list[str]:
    """Draw the latest sweep of each kind, along each of its axes that is a scale."""
    parts: list[str] = []
    for sweep in {tuple(each.axes): each for each in reversed(sweeps)}.values():
        scales = [name for name, values in sweep.axes.items() if all(isinstance(each, int | float) for each in values)]
        best = sweep.best()[0]
        told = ", ".join(f"{name} = {value}" for name, value in best.values.items())
        parts += [
            page.heading(
                f"Sweep of {', '.join(sweep.axes)}",
                f"Over {sweep.manifest['conditions']['arm']}, on the tune split. Best: {told}, {NDCG} "
                f"{interval(best.mean[NDCG])}.",
            ),
            page.pair([page.figure(plot_sweep(sweep, name, NDCG)) for name in scales]),
        ]
    return parts


def _latency(report: Report) -> str:
    colors = color_of(report.arms)
    points = []
    for run in report.runs:
        times = run.timings().get("sets", {})
        if times:
            key = "p50 ms with query embedding"
            p50 = median(each.get(key, each["p50 ms"]) for each in times.values())
            points.append((Mark(run.arm, report.summaries[run.arm][NDCG].mean[0], colors[run.arm]), p50))
    return plot_latency(points, NDCG)
