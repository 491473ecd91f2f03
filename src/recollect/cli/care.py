"""`stats` and `doctor`."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Final

import typer

from recollect.cli.errors import PROBLEM
from recollect.cli.options import Json
from recollect.config import Config, read_config

if TYPE_CHECKING:
    from recollect.journal.given import Usage

_USAGE_DAYS: Final = 30


def stats(json: Json = False) -> None:
    """Say how much is remembered, where it is kept, and what agents were given of it in the last month."""
    from recollect.wiring import open_recollect

    config = read_config()
    with open_recollect(config) as memory:
        counts, octets = memory.store.count(), memory.store.size()
    usage = _read_usage(config)
    if json:
        from recollect.cli.as_json import write_json

        write_json(
            {
                "store": config.store,
                "bytes": octets,
                "spaces": [asdict(each) for each in counts],
                "hooks": None if usage is None else {"days": _USAGE_DAYS, **asdict(usage)},
            }
        )
        return
    from recollect.cli.paper import Paper
    from recollect.cli.show_care import show_stats, show_usage

    paper = Paper()
    show_stats(paper, config.store, octets, counts)
    if usage is not None and usage.prompts:
        show_usage(paper, usage, _USAGE_DAYS)


def _read_usage(config: Config) -> "Usage | None":
    """Give what hooks did; of a journal that cannot be read, say so and count the store all the same."""
    from recollect.core.errors import StoreError
    from recollect.wiring import read_usage

    try:
        return read_usage(config, _USAGE_DAYS)
    except StoreError as error:
        from recollect.cli.paper import NOTICE, Paper, plain

        Paper(errors=True).write(plain(str(error), NOTICE))
        return None


def doctor(
    mend: Annotated[
        bool, typer.Option("--mend", help="Build the index and the counts anew where they are wrong.")
    ] = False,
    json: Json = False,
) -> None:
    """Check that the store is sound: its file, its index, its counts, its past. Exits with 1 if it is not."""
    from recollect.cli.progress import show_share
    from recollect.wiring import open_recollect

    with open_recollect() as memory:
        with show_share("Checking") as progress:
            problems = memory.store.examine(progress)
        found = len(problems)
        if mend and problems:
            memory.store.mend()
            with show_share("Checking again") as progress:
                problems = memory.store.examine(progress)
        total = sum(each.memories + each.forgotten for each in memory.store.count())
    if json:
        from recollect.cli.as_json import write_json

        write_json(
            {"checked": total, "mended": found - len(problems), "problems": [asdict(problem) for problem in problems]}
        )
    else:
        from recollect.cli.paper import Paper
        from recollect.cli.show_care import show_verdict

        show_verdict(Paper(), total, found, problems)
    if problems:
        raise typer.Exit(PROBLEM)
