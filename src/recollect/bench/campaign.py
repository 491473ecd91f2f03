"""Runs arms over sets: each set is opened once for all arms, and kept as soon as an arm has answered it."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

from recollect.bench.arms import Arm
from recollect.bench.cache import CachedEmbedder
from recollect.bench.datasets import SETS, UNSEEN, Dataset
from recollect.bench.errors import BenchError
from recollect.bench.exact import EXACT_SETS, ExactSet
from recollect.bench.load import Progress
from recollect.bench.lowered import LOWERED, Lowered
from recollect.bench.models import portable
from recollect.bench.run import Desk
from recollect.bench.runs import Folder, Run, conditions, run_name
from recollect.bench.sources import Source, Split, take_part

GROUPS: Final = {"standard": SETS, "exact": tuple(EXACT_SETS), "unseen": tuple(sorted(UNSEEN))}
"""Names for several sets at once."""

MadeUnder = Mapping[str, Mapping[str, Any]]
"""The conditions of each arm's run."""


@dataclass(frozen=True, slots=True)
class Campaign:
    datasets: Path
    folder: Path
    """Where stores, vectors and runs are kept."""
    sets: tuple[str, ...]
    arms: tuple[Arm, ...]
    split: Split = "test"
    model: str | None = None
    name: str | None = None
    """What to call the runs; by default each is named after its arm and conditions."""
    fresh: bool = False
    strict: bool = True
    postgres: str | None = field(default=None, repr=False)
    """A Postgres to make databases in, for the arms that need one; the address may hold a password."""

    @property
    def runs(self) -> Path:
        return self.folder / "runs"


def name_sets(given: Sequence[str]) -> tuple[str, ...]:
    """Give the sets that names and group names stand for, each once."""
    names = [name for each in given or ("standard",) for name in GROUPS.get(each, (each,))]
    return tuple(dict.fromkeys(names))


def open_source(datasets: Path, name: str) -> Source:
    if name in EXACT_SETS:
        return ExactSet(name, Dataset(datasets / EXACT_SETS[name]))
    if name.endswith(LOWERED):
        return Lowered(open_source(datasets, name.removesuffix(LOWERED)))
    if not (datasets / name).is_dir():
        known = sorted(path.name for path in datasets.iterdir() if path.is_dir())
        raise BenchError(f"There is no set {name!r} in {datasets}. There are {', '.join((*known, *EXACT_SETS))}.")
    return Dataset(datasets / name)


def run_campaign(campaign: Campaign, *, workers: int = 1, progress: Progress = lambda *_: None) -> list[Run]:
    """Run what is missing and give all runs, finished."""
    # Whatever is wrong with the names is said before hours are spent.
    for name in campaign.sets:
        open_source(campaign.datasets, name)
    if campaign.postgres is None and (needy := [arm.name for arm in campaign.arms if arm.needs_postgres]):
        raise BenchError(f"The arm {needy[0]} needs a Postgres to make databases in: name one with --database.")
    with open_embedder(campaign.model, campaign.folder) as embedder:
        model = None if embedder is None else portable(embedder.model)
    # Read once: code that is edited meanwhile is not the code that runs.
    made_under = {arm.name: conditions(arm, campaign.split, model) for arm in campaign.arms}
    folders = _folders(campaign, made_under, fresh=campaign.fresh)
    if workers > 1:
        _run_apart(campaign, made_under, workers, progress)
    else:
        for name in campaign.sets:
            run_set(campaign, name, made_under, progress)
    return [folder.finish(workers=workers) for folder in folders.values()]


def run_set(campaign: Campaign, name: str, made_under: MadeUnder, progress: Progress = lambda *_: None) -> str:
    """Ask one set of every arm that has not answered it yet."""
    folders = _folders(campaign, made_under, fresh=False)
    source = open_source(campaign.datasets, name)
    data = source.fingerprint()
    missing = [arm for arm in campaign.arms if not folders[arm.name].has(name, data)]
    if not missing:
        return name
    part = take_part(source, campaign.split)
    if not part.questions:
        raise BenchError(f"{name} has no questions in the split {campaign.split}.")
    with open_embedder(campaign.model, campaign.folder) as embedder:
        desk = Desk(
            part, campaign.folder, embedder, progress=progress, strict=campaign.strict, postgres=campaign.postgres
        )
        try:
            for arm in missing:
                folders[arm.name].keep(desk.run(arm))
        finally:
            desk.close()
    return name


def _run_apart(campaign: Campaign, made_under: MadeUnder, workers: int, progress: Progress) -> None:
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        jobs = [pool.submit(run_set, campaign, name, made_under) for name in campaign.sets]
        for done, job in enumerate(as_completed(jobs), 1):
            progress(f"{job.result()} is done; sets", done, len(jobs))


def _folders(campaign: Campaign, made_under: MadeUnder, *, fresh: bool) -> dict[str, Folder]:
    folders = {}
    for arm in campaign.arms:
        name = run_name(made_under[arm.name]) if campaign.name is None else campaign.name
        if campaign.name is not None and len(campaign.arms) > 1:
            name = f"{campaign.name}-{arm.name}"
        folders[arm.name] = Folder(campaign.runs / name, made_under[arm.name], arm.about, fresh=fresh)
    return folders


@contextmanager
def open_embedder(model: str | None, folder: Path) -> Iterator[CachedEmbedder | None]:
    """Open a model by any of its names, with the vectors it has made before."""
    if model is None:
        yield None
        return
    from recollect import wiring

    embedder = CachedEmbedder(wiring.open_embedder(model), folder)
    try:
        yield embedder
    finally:
        embedder.close()
