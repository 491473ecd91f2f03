"""`recollect forget --since`: what went wrong since some time, taken out at once and brought back one by one."""

from pathlib import Path

import pytest

from command_line import CommandLine


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    made = CommandLine(tmp_path / "home")
    made.keep("Deploys run on Tuesdays.")
    made.keep("Learned of the cart.", "--tag", "learned")
    made.keep("Of another project.", "--project", "other")
    return made


def left(cli: CommandLine) -> set[str]:
    return {each["content"] for each in cli.data("list", "-a")["memories"]}


ALL = {"Deploys run on Tuesdays.", "Learned of the cart.", "Of another project."}


def test_a_dry_run_changes_nothing(cli: CommandLine) -> None:
    """It shows what would go and asks nothing."""
    shown = cli.say("forget", "--since", "1h", "--everywhere", "--dry-run")
    assert shown.count("Would forget") == 3
    assert len(cli.data("forget", "--since", "1h", "-a", "--dry-run")["would_be_forgotten"]) == 3
    assert "Would remove" in cli.say("forget", "--since", "1h", "-a", "--dry-run", "--purge")
    assert left(cli) == ALL


def test_it_asks_first_and_each_can_be_brought_back(cli: CommandLine) -> None:
    """Without a yes nothing is forgotten; what is forgotten is brought back by undo."""
    refused = cli.run("forget", "--since", "1h", "-a", stdin="n\n", code=1)
    assert "Nothing was forgotten" in refused.stderr
    assert left(cli) == ALL
    cli.run("forget", "--since", "1h", "-a", stdin="y\n")
    assert left(cli) == set()
    cli.say("undo")
    assert len(left(cli)) == 1


def test_what_it_looks_at(cli: CommandLine) -> None:
    """A project, what was learned, and a time narrow it; purging is for good."""
    assert cli.data("forget", "--since", "1h", "--learned", "-y")["forgotten"]
    assert left(cli) == ALL - {"Learned of the cart."}
    assert cli.say("forget", "--since", "2099-01-01", "-a") == "Nothing was remembered since then.\n"
    assert cli.data("forget", "--since", "2001-01-01", "-p", "other", "--purge", "-y")["purged"]
    assert left(cli) == {"Deploys run on Tuesdays."}


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["abcd1234", "--since", "1h"],
        ["abcd1234", "--learned"],
        ["--since", "yesterdayish"],
        ["--since", "99999999999d"],
        ["--since", "1h", "-a", "-p", "other"],
    ],
)
def test_what_cannot_be_meant(cli: CommandLine, arguments: list[str]) -> None:
    """Neither ids nor a time, both, or no time at all is refused."""
    cli.run("forget", *arguments, code=2)
    assert left(cli) == ALL


@pytest.mark.parametrize("since", ["2 hours", "yesterday", "90s", "18:00", ""])
def test_what_is_no_time_is_told_how_to_be_written(cli: CommandLine, since: str) -> None:
    """Who writes how long ago it was in another way is shown the way, and nothing is forgotten."""
    refused = cli.run("forget", "--since", since, "--yes", code=2)
    assert "30min, 2h, 3d, 2w" in " ".join(refused.stderr.split())
