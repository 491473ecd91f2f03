"""`recollect tidy`: proposals, followed or not."""

from pathlib import Path

import pytest

from command_line import CommandLine

OLD, NEW = (f"The staging database listens on port {port}." for port in (5432, 5433))
SAME = ("Deploys run on Tuesdays at ten.", "deploys run on Tuesdays at ten")
OVER = "The old API stays until 2024-03."


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    made = CommandLine(tmp_path / "home")
    for text in (OLD, NEW, *SAME, OVER, "Money is stored in integer cents."):
        made.keep(text)
    made.keep(f"{OLD} It is secret.", "--sensitive")
    return made


def left(cli: CommandLine) -> set[str]:
    return {each["content"] for each in cli.data("list", "-a")["memories"]}


def test_a_dry_run_shows_and_changes_nothing(cli: CommandLine) -> None:
    """Every proposal is shown with what is kept and why; nothing is done."""
    before = left(cli)
    found = cli.data("tidy", "--dry-run")
    assert [(each["kind"], each["deed"], each["drop"]["content"]) for each in found["proposals"]] == [
        ("duplicate", "forget", SAME[1]),
        ("contradiction", "supersede", OLD),
        ("stale", "forget", OVER),
    ]
    assert found["followed"] == 0
    shown = cli.say("tidy", "--dry-run", "--yes")
    assert "3 proposals shown; nothing was changed." in shown
    assert "until 2024-03" in shown
    assert left(cli) == before


def test_all_are_followed_with_yes(cli: CommandLine) -> None:
    """What says the same or has run out is forgotten, what is contradicted is superseded; again there is nothing."""
    assert cli.data("tidy", "--yes")["followed"] == 3
    assert not {SAME[1], OVER} & left(cli)
    (found,) = [each for each in cli.data("recall", "staging port")["results"] if each["content"] == NEW]
    assert len(found["instead_of"]) == 1
    assert cli.say("tidy", "--yes") == "There is nothing to tidy up.\n"


def test_one_key_each(cli: CommandLine) -> None:
    """A key follows a proposal or leaves it, and the next may take it back."""
    shown = cli.talk("tidy", keys="yyunq")
    assert "3 of 3" in shown
    assert "1 proposal followed." in shown
    assert SAME[1] not in left(cli)
    assert cli.data("tidy", "--dry-run")["proposals"][0]["drop"]["content"] == OLD
    cli.talk("tidy", keys="yuq")
    assert {OLD, NEW, OVER} <= left(cli)
    assert len(cli.data("tidy", "--dry-run")["proposals"]) == 2


def test_without_a_terminal_it_says_what_to_do(cli: CommandLine) -> None:
    """A pipe is told of the options."""
    assert "--dry-run" in cli.run("tidy", code=2).stderr
    assert "--dry-run" in cli.run("tidy", "--json", code=2).stderr


def test_what_is_superseded_is_nothing_to_go_back_to(cli: CommandLine) -> None:
    """What was said again does not go for an old memory that is superseded, nor is that put above its successor."""
    cli.say("tidy", "--yes")
    again = cli.data("remember", OLD.rstrip("."))["id"]
    (proposal,) = cli.data("tidy", "--dry-run")["proposals"]
    assert (proposal["drop"]["content"], proposal["keep"]["id"]) == (NEW, again)
