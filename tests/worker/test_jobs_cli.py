"""`recollect jobs`: what waits and what failed, for whoever runs the server."""

import json
from pathlib import Path

import pytest

from command_line import CommandLine
from fakes import ToyEmbedder
from making import id_of, make_memory
from recollect.core.errors import EmbedderError
from recollect.service.gate import Gates
from recollect.worker.queue import Backoff
from recollect.worker.run import Pace
from working import Shop


def _refuse(_: str) -> ToyEmbedder:
    raise EmbedderError("toy is not here: fetch it with `recollect embed`.")


@pytest.fixture
def cli(shop: Shop, tmp_path: Path) -> CommandLine:
    command_line = CommandLine(tmp_path / "home")
    command_line.settings["RECOLLECT_DATABASE_URL"] = shop.url
    return command_line


@pytest.fixture
def failed(shop: Shop) -> int:
    """Have one job fail, and those of another space wait."""
    shop.store.memories.add([make_memory(1)])
    shop.workshop.gates = Gates(_refuse)
    shop.work(Pace(backoff=Backoff(tries=1)))
    shop.workshop.gates = Gates(ToyEmbedder)
    shop.store.memories.add([make_memory(2, space="ours")])
    return shop.jobs("failed")[0].id


def test_an_empty_queue_says_so(cli: CommandLine) -> None:
    """Where nothing waits and nothing failed, that is said."""
    assert cli.say("jobs") == "Nothing is left to do.\n"
    assert cli.data("jobs") == {"jobs": []}
    assert cli.say("jobs", "retry", "--all") == "No job has failed.\n"


def test_jobs_are_listed(cli: CommandLine, failed: int) -> None:
    """Each job says its space, its state, since when, how often it was tried, and why it failed."""
    lines = cli.say("jobs").splitlines()
    assert lines[0].split()[:4] == [str(failed), "embed", "personal", "failed"]
    assert lines[0].endswith("just now · tried 1 time · toy is not here: fetch it with `recollect embed`.")
    for line, task in zip(lines[1:], ("embed", "extract"), strict=True):
        assert line.split()[1:] == [task, "ours", "waiting", "just", "now"]
    assert cli.say("jobs", "list") == "\n".join([*lines, ""])
    assert cli.say("jobs", "--failed").split() == lines[0].split()
    assert cli.say("jobs", "list", "--waiting").split() == " ".join(lines[1:]).split()


def test_a_job_says_when_it_is_tried_again(cli: CommandLine, shop: Shop) -> None:
    """A job that waits for its next try says when that is."""
    shop.store.memories.add([make_memory(1)])
    shop.workshop.gates = Gates(_refuse)
    shop.work(Pace(backoff=Backoff(first=250)))
    assert "waiting  just now · tried 1 time · again in 4 min · toy is not here" in cli.say("jobs")
    assert cli.data("jobs")["jobs"][0]["not_before"].endswith("Z")


def test_jobs_are_data(cli: CommandLine, failed: int) -> None:
    """As JSON a job has all its fields, times included."""
    (job,) = cli.data("jobs", "--failed")["jobs"]
    assert job.pop("since").endswith("Z")
    assert job == {
        "id": failed,
        "task": "embed",
        "space": "personal",
        "state": "failed",
        "attempts": 1,
        "not_before": None,
        "reason": "toy is not here: fetch it with `recollect embed`.",
    }


def test_a_failed_job_is_retried(cli: CommandLine, shop: Shop, failed: int) -> None:
    """A job that failed waits again once it is retried, and is then done; one that has not failed cannot be."""
    assert cli.say("jobs", "retry", str(failed)) == "1 job will be tried again.\n"
    assert next((job.id, job.state) for job in shop.jobs()) == (failed, "waiting")
    error = json.loads(cli.run("jobs", "retry", str(failed), "--json", code=3).stderr)
    assert error["kind"] == "NotFound"
    shop.work()
    assert shop.vectors().keys() == {id_of(1), id_of(2)}
    assert cli.data("jobs") == {"jobs": []}


def test_all_failed_jobs_are_retried(cli: CommandLine, failed: int) -> None:
    """`--all` is for those that failed, and no others; it is one or all of them, not both and not neither."""
    assert cli.data("jobs", "retry", "--all") == {"retried": [failed]}
    assert "Name a job" in cli.run("jobs", "retry", code=2).stderr
    assert "Name a job" in cli.run("jobs", "retry", "1", "--all", code=2).stderr


def test_without_a_database_it_says_what_is_missing(tmp_path: Path) -> None:
    """`jobs` and `worker` say which variable names the database."""
    cli = CommandLine(tmp_path / "home")
    cli.settings["RECOLLECT_DATABASE_URL"] = ""
    for command in ("jobs", "worker"):
        assert "RECOLLECT_DATABASE_URL" in cli.run(command, code=2).stderr
