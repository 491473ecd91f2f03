"""Tries every point of a grid on the tune split, so that a parameter is chosen on questions no figure is reported on.

The legs are asked once a question; the points differ in what becomes of their hits.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np

from recollect.bench.arm_store import RememberedLeg
from recollect.bench.arms import resolve, values_of
from recollect.bench.cache import CachedEmbedder
from recollect.bench.campaign import open_embedder, open_source
from recollect.bench.datasets import UNSEEN
from recollect.bench.errors import BenchError
from recollect.bench.grids import Grid
from recollect.bench.load import Progress
from recollect.bench.metrics import NDCG, RECALL_10
from recollect.bench.models import portable
from recollect.bench.provenance import checkout, code_digest, versions
from recollect.bench.run import Desk
from recollect.bench.significance import Interval, Table, summarise
from recollect.bench.sources import take_part
from recollect.core.settings import Value

MEASURES: Final = (RECALL_10, NDCG)
"""What a sweep looks at, in the columns of its tables."""


@dataclass(frozen=True, slots=True)
class Plan:
    grid: Grid
    datasets: Path
    folder: Path
    sets: tuple[str, ...]
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Point:
    values: Mapping[str, Value]
    mean: Mapping[str, Interval]
    sets: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Sweep:
    name: str
    axes: Mapping[str, list[Value]]
    points: tuple[Point, ...]
    manifest: Mapping[str, Any]

    def best(self, measure: str = NDCG) -> list[Point]:
        """Give the points, best first."""
        return sorted(self.points, key=lambda point: -point.mean[measure].mean)


def run_sweep(plan: Plan, progress: Progress = lambda *_: None) -> Sweep:
    """Sweep a grid over sets, going on where a sweep of the same conditions stood."""
    unseen = [name for name in plan.sets if name in UNSEEN]
    if unseen:
        raise BenchError(
            f"{' and '.join(unseen)} must stay unseen: what is chosen by a sweep is to be confirmed on data that no "
            "choice has looked at. Leave it out."
        )
    grid = plan.grid
    with open_embedder(plan.model, plan.folder) as embedder:
        conditions = _conditions(plan, None if embedder is None else portable(embedder.model))
        digest = hashlib.sha256(json.dumps(conditions, sort_keys=True).encode()).hexdigest()[:8]
        path = plan.folder / "sweeps" / f"{grid.name}-{digest}"
        path.mkdir(parents=True, exist_ok=True)
        tables = {name: _sweep_set(plan, name, embedder, path, progress) for name in plan.sets}
    about = {
        "conditions": conditions,
        "sets": {name: open_source(plan.datasets, name).fingerprint() for name in plan.sets},
        "versions": versions(),
        "checkout": checkout(),
        "finished": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
    }
    sweep = Sweep(path.name, {name: list(values) for name, values in grid.axes.items()}, _points(grid, tables), about)
    (path / "sweep.json").write_text(json.dumps(_to_json(sweep), indent=1) + "\n", encoding="utf-8")
    return sweep


def list_sweeps(folder: Path) -> list[Sweep]:
    """Give the finished sweeps, the latest first."""
    found = [_from_json(json.loads(path.read_text(encoding="utf-8"))) for path in folder.glob("sweeps/*/sweep.json")]
    return sorted(found, key=lambda sweep: str(sweep.manifest["finished"]), reverse=True)


def _conditions(plan: Plan, model: str | None) -> dict[str, Any]:
    """Give all that decides the figures besides the data: sets can be added to a sweep."""
    grid = plan.grid
    return {
        "arm": grid.arm,
        "axes": {name: list(values) for name, values in grid.axes.items()},
        "base": resolve(values_of(grid.arms()[0][1], has_model=model is not None)),
        "split": "tune",
        "model": model,
        "code": code_digest(),
    }


def _sweep_set(plan: Plan, name: str, embedder: CachedEmbedder | None, path: Path, progress: Progress) -> Table:
    """Give a set's measures: a row a query, then the points, then the measures."""
    source = open_source(plan.datasets, name)
    kept = path / f"{name}-{source.fingerprint()}.npy"
    if kept.is_file():
        table: Table = np.load(kept)
        return table
    part = take_part(source, "tune")
    if not part.questions:
        raise BenchError(f"{name} has no questions to tune on.")
    desk = Desk(part, plan.folder, embedder, wrap=RememberedLeg)
    arms = plan.grid.arms()
    columns = []
    try:
        for number, (_, arm) in enumerate(arms, 1):
            rows = desk.run(arm).rows
            columns.append([[row.metrics[measure] for measure in MEASURES] for row in rows])
            progress(f"Sweeping {name}", number, len(arms))
    finally:
        desk.close()
    table = np.array(columns).transpose(1, 0, 2)
    beside = path / f"{name}.new.npy"
    np.save(beside, table)
    beside.replace(kept)
    return table


def _points(grid: Grid, tables: Mapping[str, Table]) -> tuple[Point, ...]:
    # A point's measures are columns side by side, so that all are resampled together.
    flat = {name: table.reshape(len(table), -1) for name, table in tables.items()}
    summary = summarise(flat)
    points = []
    for number, values in enumerate(grid.points()):
        columns = {measure: number * len(MEASURES) + place for place, measure in enumerate(MEASURES)}
        points.append(
            Point(
                values,
                {measure: summary.mean[column] for measure, column in columns.items()},
                {
                    name: {measure: intervals[column].mean for measure, column in columns.items()}
                    for name, intervals in summary.sets.items()
                },
            )
        )
    return tuple(points)


def _to_json(sweep: Sweep) -> dict[str, Any]:
    return {
        "name": sweep.name,
        "axes": sweep.axes,
        "manifest": sweep.manifest,
        "points": [
            {
                "values": point.values,
                "mean": {
                    measure: [round(value, 6) for value in (each.mean, each.low, each.high)]
                    for measure, each in point.mean.items()
                },
                "sets": {
                    name: {measure: round(value, 6) for measure, value in values.items()}
                    for name, values in point.sets.items()
                },
            }
            for point in sweep.points
        ],
    }


def _from_json(record: Mapping[str, Any]) -> Sweep:
    points = tuple(
        Point(
            each["values"],
            {measure: Interval(*values) for measure, values in each["mean"].items()},
            each["sets"],
        )
        for each in record["points"]
    )
    return Sweep(record["name"], record["axes"], points, record["manifest"])
