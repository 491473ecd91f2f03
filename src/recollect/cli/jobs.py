"""`jobs`: what the workers have before them, and what they gave up on."""

from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recollect.cli.options import Json
from recollect.config import read_config

if TYPE_CHECKING:
    from rich.text import Text

    from recollect.stores.postgres.jobs import Job

jobs = typer.Typer(
    help="List what waits for the workers and what failed, and have it tried again.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
)

Failed = Annotated[bool, typer.Option("--failed", help="Only those that were given up.")]
Waiting = Annotated[bool, typer.Option("--waiting", help="Only those that wait, to be tried again too.")]


@jobs.callback()
def show_jobs(context: typer.Context, *, failed: Failed = False, waiting: Waiting = False, json: Json = False) -> None:
    if context.invoked_subcommand is None:
        list_jobs(failed=failed, waiting=waiting, json=json)


@jobs.command("list")
def list_jobs(*, failed: Failed = False, waiting: Waiting = False, json: Json = False) -> None:
    """List the jobs that are not done, oldest first: what for, since when, how often tried, and why in vain."""
    from recollect.wiring import open_database

    states = [state for state, asked in {"failed": failed, "waiting": waiting}.items() if asked]
    database = open_database(read_config(), size=1)
    from recollect.stores.postgres.jobs import list_jobs as find_jobs

    try:
        with database.read() as connection:
            found = find_jobs(connection, *states)
    finally:
        database.close()
    if json:
        from recollect.cli.as_json import write_json

        write_json({"jobs": [_to_data(job) for job in found]})
        return
    from recollect.cli.show_server import show_rows

    now = datetime.now(UTC)
    show_rows([_row(job, now) for job in found], "Nothing is left to do.")


@jobs.command()
def retry(
    job: Annotated[int | None, typer.Argument(metavar="[ID]", help="The job, as `recollect jobs` shows it.")] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="All that failed.")] = False,
    json: Json = False,
) -> None:
    """Have a job that failed tried again, from the beginning. What a model refused is sent to it once more."""
    if (job is None) != everything:
        raise typer.BadParameter("Name a job, or give --all.")
    from recollect.wiring import open_database

    database = open_database(read_config(), size=1)
    from recollect.stores.postgres.jobs import retry_jobs

    try:
        with database.write() as connection:
            found = retry_jobs(connection, job)
    finally:
        database.close()
    if json:
        from recollect.cli.as_json import write_json

        write_json({"retried": found})
        return
    from recollect.cli.show_server import say
    from recollect.cli.words import count

    say(f"{count(len(found), 'job')} will be tried again." if found else "No job has failed.")


def _to_data(job: "Job") -> dict[str, Any]:
    from recollect.core.record import format_time

    data = asdict(job)
    for name in ("since", "not_before"):
        data[name] = data[name] and format_time(data[name])
    return data


def _row(job: "Job", now: datetime) -> "tuple[Text, ...]":
    from rich.text import Text

    from recollect.cli.paper import DIM, HANDLE, STRONG, WRONG, label
    from recollect.cli.words import ago, count

    parts = [ago(job.since, now)]
    if job.attempts:
        parts.append(f"tried {count(job.attempts, 'time')}")
    if job.state == "waiting" and job.not_before and job.not_before > now:
        parts.append(f"again {ago(job.not_before, now)}")
    if job.reason:
        parts.append(job.reason)
    return (
        Text(str(job.id), HANDLE),
        label(job.task),
        label(job.space or "(gone)", STRONG),
        Text(job.state, "" if job.state in {"waiting", "running"} else WRONG),
        label(" · ".join(parts), DIM),
    )
