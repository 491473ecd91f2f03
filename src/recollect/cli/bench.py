"""`bench`: how well recall finds, measured by the product's own recall on sets with known answers."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from recollect.cli.errors import PROBLEM
from recollect.cli.options import Json
from recollect.config import read_config
from recollect.core.errors import Refused

if TYPE_CHECKING:
    from pathlib import Path

    from recollect.bench.load import Progress
    from recollect.bench.runs import Run
    from recollect.bench.tables import Row

bench = typer.Typer(
    help="Measure how well recall finds, on sets with known answers.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

_SHOWN_WHOLE: Final = 3
"""More runs than these are shown by their means alone."""

Sets = Annotated[
    list[str] | None,
    typer.Option("--set", "-s", help="A set, or standard, exact, unseen for several. Repeatable. Default: standard."),
]
Arms = Annotated[
    list[str] | None, typer.Option("--arm", "-a", help="What to measure; `bench arms` lists them. Repeatable.")
]
Model = Annotated[
    str | None,
    typer.Option("--model", "-m", help="The model to search by meaning with, as `recollect embed` takes it."),
]
Datasets = Annotated[
    str | None,
    typer.Option(
        "--datasets", envvar="RECOLLECT_DATASETS", help="The folder of the sets.", show_default="../shared/datasets"
    ),
]
Work = Annotated[
    str | None,
    typer.Option(
        "--work",
        envvar="RECOLLECT_BENCH",
        help="Where stores, vectors and runs are kept. Default: bench beside the store.",
    ),
]
Postgres = Annotated[
    str | None,
    typer.Option(
        "--database",
        envvar="RECOLLECT_BENCH_DATABASE_URL",
        show_envvar=True,
        metavar="URL",
        help="A Postgres to make databases in and drop them again, for the arms that need one.",
    ),
]
Workers = Annotated[int, typer.Option("--workers", min=1, max=16, help="Sets to run at once. Timings suffer.")]
Measures = Annotated[list[str] | None, typer.Option("--measure", help="A measure, such as R@10. Repeatable.")]


@bench.command()
def arms(json: Json = False) -> None:
    """List what can be measured."""
    from recollect.bench.arms import ARMS

    if json:
        from recollect.cli.as_json import write_json

        write_json([{"name": arm.name, "about": arm.about, "settings": dict(arm.values)} for arm in ARMS.values()])
        return
    show_rows([("arm", "what it is"), *((arm.name, arm.about) for arm in ARMS.values())], left=2)


@bench.command()
def run(
    sets: Sets = None,
    arm: Arms = None,
    *,
    split: Annotated[str, typer.Option("--split", help="test, tune or all.")] = "test",
    model: Model = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="NAME=VALUE", help="Change a setting in every arm. Repeatable."),
    ] = None,
    name: Annotated[
        str | None, typer.Option("--name", help="What to call the run. Default: by arm and conditions.")
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Replace a run of that name instead of going on with it.")
    ] = False,
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Count legs that fail instead of ending the run with the first.")
    ] = False,
    workers: Workers = 1,
    datasets: Datasets = None,
    work: Work = None,
    postgres: Postgres = None,
    json: Json = False,
) -> None:
    """Measure arms on sets. What is there already under the same conditions is not measured again."""
    with needs_extra():
        from recollect.bench.arms import STANDARD, find_arm, vary
        from recollect.bench.campaign import Campaign, name_sets, run_campaign
        from recollect.bench.datasets import find_folder
        from recollect.bench.sources import SPLITS
    if split not in SPLITS:
        raise typer.BadParameter(f"--split is one of {', '.join(SPLITS)}, not {split!r}.")
    varied = _read_changes(changes or ())
    campaign = Campaign(
        find_folder(datasets),
        work_folder(work),
        name_sets(sets or ()),
        tuple(vary(find_arm(each), varied) for each in arm or STANDARD),
        split=split,
        model=model,
        name=name,
        fresh=fresh,
        strict=not lenient,
        postgres=postgres,
    )
    with show_progress() as progress:
        runs = run_campaign(campaign, workers=workers, progress=progress)
    if json:
        from recollect.bench.runs import describe
        from recollect.cli.as_json import write_json

        write_json([describe(each) for each in runs])
        return
    if len(runs) > _SHOWN_WHOLE:
        from recollect.bench.tables import mean_rows

        _say(f"Means over {len(campaign.sets)} sets; `bench report` shows them one by one.")
        show_rows(mean_rows(runs))
        return
    for each in runs:
        _show_run(each)


@bench.command()
def compare(
    a: Annotated[str, typer.Argument(metavar="A", help="A run: its name, its folder, or its arm.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The run it is compared with.")],
    measure: Measures = None,
    work: Work = None,
) -> None:
    """Show by how much A is better than B, set by set, each difference with its 95 % interval."""
    with needs_extra():
        from recollect.bench.compare import compare as compare_runs
        from recollect.bench.metrics import NDCG, RECALL_10
        from recollect.bench.runs import find_run
        from recollect.bench.tables import comparison_rows
    folder = work_folder(work) / "runs"
    comparison = compare_runs(find_run(folder, a), find_run(folder, b))
    measures = _check_measures(measure or [RECALL_10, NDCG])
    _say(f"A is {comparison.a.name}, B is {comparison.b.name}; ▲ and ▼ are clear of zero.")
    show_rows(comparison_rows(comparison, measures))


@bench.command()
def gate(
    a: Annotated[str, typer.Argument(metavar="A", help="The run that asks to be admitted.")],
    b: Annotated[str, typer.Argument(metavar="B", help="The run it would replace: a name, or a folder kept in git.")],
    not_worse: Annotated[bool, typer.Option("--not-worse", help="Admit what is not clearly worse.")] = False,
    measure: Measures = None,
    work: Work = None,
) -> None:
    """Exit with 0 if A is better than B beyond chance and worse on no set, with 1 if not."""
    with needs_extra():
        from recollect.bench.compare import compare as compare_runs
        from recollect.bench.metrics import NDCG
        from recollect.bench.runs import find_run
        from recollect.bench.tables import comparison_rows
        from recollect.bench.verdict import judge
    folder = work_folder(work) / "runs"
    comparison = compare_runs(find_run(folder, a), find_run(folder, b))
    measures = _check_measures(measure or [NDCG])
    verdict = judge(comparison, measures, not_worse=not_worse)
    show_rows(comparison_rows(comparison, measures))
    for reason in verdict.reasons:
        _say(f"✗ {reason}.")
    if not verdict.passed:
        raise typer.Exit(PROBLEM)
    _say(f"{comparison.a.name} {'is not worse than' if not_worse else 'may take the place of'} {comparison.b.name}.")


@bench.command()
def sweep(
    sets: Sets = None,
    grid: Annotated[str | None, typer.Option("--grid", help="A grid that is ready: rrf or convex.")] = None,
    *,
    vary: Annotated[
        list[str] | None,
        typer.Option("--vary", metavar="NAME=V1,V2", help="A setting, or alpha, and the values to try. Repeatable."),
    ] = None,
    arm: Annotated[str, typer.Option("--arm", "-a", help="The arm that --vary changes.")] = "default",
    model: Model = None,
    datasets: Datasets = None,
    work: Work = None,
) -> None:
    """Try every point of a grid, on the tune split only, and show the best."""
    with needs_extra():
        from recollect.bench.campaign import name_sets
        from recollect.bench.datasets import find_folder
        from recollect.bench.grids import find_grid, make_grid
        from recollect.bench.sweep import Plan, run_sweep
        from recollect.bench.tables import sweep_rows
    if (grid is None) == (not vary):
        raise typer.BadParameter("Give --grid, or --vary once or more.")
    chosen = make_grid(arm, vary) if vary else find_grid(str(grid))
    plan = Plan(chosen, find_folder(datasets), work_folder(work), name_sets(sets or ()), model)
    with show_progress() as progress:
        swept = run_sweep(plan, progress)
    _say(f"{swept.name}: {len(swept.points):,} points of {chosen.arm} on the tune split, the best first")
    show_rows(sweep_rows(swept))


@bench.command()
def report(
    runs: Annotated[list[str] | None, typer.Argument(metavar="RUN", help="Default: the latest of each arm.")] = None,
    out: Annotated[str, typer.Option("--out", "-o", help="The page to write.")] = "bench.html",
    *,
    split: Annotated[str, typer.Option("--split", help="Which split's runs, where none are named.")] = "test",
    as_markdown: Annotated[str | None, typer.Option("--markdown", help="A Markdown file to write beside it.")] = None,
    work: Work = None,
) -> None:
    """Write one page with all figures and drawings, that needs nothing but itself."""
    with needs_extra():
        from pathlib import Path

        from recollect.bench.report import gather, to_html, to_markdown
        from recollect.bench.runs import find_run, list_runs, read_run
        from recollect.bench.sweep import list_sweeps
    folder = work_folder(work)
    if runs:
        chosen = [find_run(folder / "runs", each) for each in runs]
    else:
        read = map(read_run, list_runs(folder / "runs"))
        chosen = [each for each in read if each.manifest["conditions"]["split"] == split]
    gathered = gather(chosen)
    Path(out).write_text(to_html(gathered, list_sweeps(folder)), encoding="utf-8")
    if as_markdown:
        Path(as_markdown).write_text(to_markdown(gathered), encoding="utf-8")
    _say(f"Wrote {out}: {len(gathered.runs)} arms over {len(gathered.reference.data)} sets.")
    for each in gathered.left_out:
        _say(f"Left out: {each}.")


def _read_changes(changes: Sequence[str]) -> dict[str, Any]:
    from recollect.bench.arms import read_value

    pairs = [change.partition("=") for change in changes]
    for name, equals, _ in pairs:
        if not equals:
            raise typer.BadParameter(f"Write NAME=VALUE, not {name!r}.")
    return {name: read_value(name, value) for name, _, value in pairs}


def _check_measures(measures: Sequence[str]) -> Sequence[str]:
    from recollect.bench.metrics import MEASURES

    for measure in measures:
        if measure not in MEASURES:
            raise typer.BadParameter(f"There is no measure {measure!r}. There are {', '.join(MEASURES)}.")
    return measures


def work_folder(work: str | None) -> "Path":
    from pathlib import Path

    return Path(work or os.path.join(os.path.dirname(read_config().store), "bench"))


@contextmanager
def needs_extra() -> Iterator[None]:
    """Say what to install where a library of the extra is missing."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("recollect"):
            raise
        raise Refused(f"`recollect bench` needs {error.name}: pip install 'recollect[bench]' brings it.") from error


@contextmanager
def show_progress() -> "Iterator[Progress]":
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars

    from recollect.cli.paper import Paper

    paper = Paper(errors=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bars(*columns, console=paper.console, transient=True, disable=not paper.is_terminal) as bars:
        task = bars.add_task("", total=None)

        def show(what: str, done: int, total: int | None) -> None:
            if bars.tasks[0].description != what:
                bars.reset(task, description=what)
            bars.update(task, completed=done, total=total)

        yield show


def _show_run(run: "Run") -> None:
    from recollect.bench.tables import run_rows, special_rows

    conditions = run.manifest["conditions"]
    _say(f"{run.name}: {run.manifest['about']} ({conditions['split']} split, {conditions['model'] or 'no model'})")
    show_rows(run_rows(run))
    if special := special_rows(run):
        _say("")
        show_rows([("measure", "set", "mean"), *special], left=2)
    _say("")
    sizes = {name: each["bytes a memory"] for name, each in run.timings().get("sets", {}).items()}
    _say(f"Bytes a memory: {', '.join(f'{name} {size:,}' for name, size in sizes.items())}.")
    _say("")


def show_rows(rows: "Sequence[Row]", left: int = 1) -> None:
    from rich.text import Text

    from recollect.cli.paper import DIM, Paper

    # Paper does not align the last column, which usually is a text.
    widest = max(len(row[-1]) for row in rows) if len(rows[0]) > left else 0
    head, *rest = [(*row[:-1], row[-1].rjust(widest) if row[-1] else "") for row in rows]
    cells = [[Text(cell, DIM) for cell in head], *([Text(cell) for cell in row] for row in rest)]
    Paper().columns(cells, right=set(range(left, len(head))))


def _say(text: str) -> None:
    from recollect.cli.paper import Paper

    Paper().write(text)
