"""`bench inject`: what prompts would be given, and how often rightly nothing."""

from typing import TYPE_CHECKING, Annotated

import typer

from recollect.cli.bench import Datasets, Work, needs_extra, show_progress, show_rows, work_folder
from recollect.cli.options import Json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.bench.inject import Trial, Way

_WAYS: "tuple[Way, ...]" = ("words", "words and meaning")


def inject(
    model: Annotated[
        str, typer.Option("--model", "-m", help="The model to search by meaning with, as `recollect embed` takes it.")
    ],
    *,
    datasets: Datasets = None,
    work: Work = None,
    split: Annotated[str, typer.Option("--split", help="tune, test or all.")] = "test",
    floor: Annotated[float, typer.Option("--floor", min=0, help="The setting `prompt.floor` to judge.")] = 1.0,
    plot: Annotated[
        str | None, typer.Option("--plot", metavar="FILE", help="Draw the trade-off (.svg or .png).")
    ] = None,
    json: Json = False,
) -> None:
    """Measure what prompts are given unasked: recall in it, and silence where there is nothing to say."""
    with needs_extra():
        from pathlib import Path

        from recollect.bench.datasets import find_folder
        from recollect.bench.errors import BenchError
        from recollect.bench.inject import run_trials
        from recollect.bench.sources import SPLITS

        chosen = next((each for each in SPLITS if each == split), None)
        if chosen is None:
            raise BenchError(f"A split is one of {', '.join(SPLITS)}, not {split!r}.")
        with show_progress() as progress:
            trials = run_trials(find_folder(datasets), work_folder(work), model, chosen, progress)
        if plot is not None:
            from recollect.bench.inject_plot import plot_trade_off

            plot_trade_off(trials, Path(plot), split)
    if json:
        from recollect.cli.as_json import write_json

        write_json(_records(trials, floor))
    else:
        show_rows(_rows(trials, floor), left=2)


def _records(trials: "Sequence[Trial]", floor: float) -> list[dict[str, object]]:
    from dataclasses import asdict

    from recollect.bench.inject import SETS, judge

    return [
        {"set": name, "way": way, "floor": floor, **asdict(judge(trials, name, way, floor))}
        for name in SETS
        for way in _WAYS
    ]


def _rows(trials: "Sequence[Trial]", floor: float) -> list[tuple[str, ...]]:
    from recollect.bench.inject import FOREIGN, SETS, judge
    from recollect.bench.tables import difference, number

    kinds = ("unrelated", *FOREIGN, "unanswerable")
    rows: list[tuple[str, ...]] = [
        ("set", "by", "R@5", "lost by the floor", "given", *(f"silent: {kind}" for kind in kinds))
    ]
    for name in SETS:
        for way in _WAYS:
            outcome = judge(trials, name, way, floor)
            silent = [f"{outcome.silent[kind].mean:.1%}" for kind in kinds]
            rows.append(
                (name, way, number(outcome.plain.mean), difference(outcome.lost), f"{outcome.given:.1f}", *silent)
            )
    return rows
