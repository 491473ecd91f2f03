"""`import --from` as a person uses it: look first, then take in, and be told what was left and why."""

import json
import subprocess
from pathlib import Path

import pytest

from command_line import CommandLine

SAMPLES = Path(__file__).parents[1] / "samples" / "importers"
MEM0 = str(SAMPLES / "mem0" / "memories.json")


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path / "home")


def test_a_dry_run_then_the_import(cli: CommandLine) -> None:
    """The dry run shows headings and what is skipped, and leaves the store empty; then it is done, once."""
    shown = cli.say("import", MEM0, "--from", "mem0", "--dry-run")
    assert shown == (
        "Would add 3 memories; 0 updated, 0 unchanged, 1 new link.\n"
        "  + Lives in Porto\n"
        "  + Moved from Porto to Lisbon in January 2026\n"
        "  + Prefers answers in metric units\n"
        "skipped: memory 3: Its metadata source has no place in a memory.\n"
    )
    assert cli.data("list")["memories"] == []
    assert cli.say("import", MEM0, "--from", "mem0") == shown.replace("Would add", "Added")
    assert cli.say("import", MEM0, "--from", "mem0").startswith(
        "Added 0 memories; 0 updated, 3 unchanged, 0 new links.\n"
    )
    assert "Moved from Porto to Lisbon" in cli.say("recall", "Lisbon")


def test_as_data(cli: CommandLine) -> None:
    """`--json` gives every change with its id."""
    data = cli.data("import", MEM0, "--from", "mem0", "--dry-run")
    assert (data["dry_run"], data["from"], data["added"], data["links"], data["problems"]) == (True, "mem0", 3, 1, [])
    assert data["changes"][0]["heading"] == "Lives in Porto"
    assert cli.data("import", MEM0, "--from", "mem0") == {**data, "dry_run": False}
    assert cli.data("show", data["changes"][0]["id"])["content"] == "Lives in Porto"


def test_another_systems_file_is_recognised(cli: CommandLine) -> None:
    """Without --from the error names the format and the command; what nobody knows is no export."""
    told = cli.run("import", MEM0, code=2).stderr
    assert f"looks like mem0. See what would be taken in with: recollect import {MEM0} --from mem0 --dry-run" in told
    told = cli.run("import", str(SAMPLES / "basic-memory"), code=2).stderr
    assert "looks like basic-memory" in told
    assert "not a Recollect export" in cli.run("import", __file__, code=2).stderr
    assert "there is no such file" in cli.run("import", "missing", "--from", "mem0", code=2).stderr
    assert "no format 'songs'" in cli.run("import", MEM0, "--from", "songs", code=2).stderr


def test_where_it_belongs_is_said(cli: CommandLine) -> None:
    """--project puts all into a project, --general into none; both together, or without --from, are refused."""
    memory = str(SAMPLES / "claude-code" / "-home-ana-shop")
    refused = cli.run("import", memory, "--from", "claude-code", code=1)
    assert "Its project is not known here: say --project NAME, or --general." in refused.stderr
    cli.say("import", memory, "--from", "claude-code", "--project", "shop")
    assert {each["project"] for each in cli.data("list", "--everywhere")["memories"]} == {"shop"}
    cli.say("import", memory, "--from", "claude-code", "--general")
    assert {each["project"] for each in cli.data("list")["memories"]} == {None}
    assert "exclude each other" in cli.run("import", MEM0, "--from", "mem0", "-p", "x", "-g", code=2).stderr
    assert "need --from" in cli.run("import", MEM0, "--general", code=2).stderr


def test_sections_belong_to_the_project_of_their_file(cli: CommandLine, tmp_path: Path) -> None:
    """Wherever one stands, and also after the repository was moved; a dry run leaves no trace in it."""
    folder = tmp_path / "shop"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    (folder / "AGENTS.md").write_text("# Testing\n\nRun all of them.")
    cli.say("import", str(folder / "AGENTS.md"), "--from", "markdown", "--dry-run")
    assert not (folder / ".git" / "recollect").exists()
    cli.say("import", str(folder / "AGENTS.md"), "--from", "markdown")
    assert [each["project"] for each in cli.data("list", "--everywhere")["memories"]] == [str(folder)]
    moved = folder.rename(tmp_path / "moved")
    again = cli.say("import", str(moved / "AGENTS.md"), "--from", "markdown")
    assert again == "Added 0 memories; 0 updated, 1 unchanged, 0 new links.\n"


def test_a_secret_is_kept_from_agents_and_from_the_screen(cli: CommandLine, tmp_path: Path) -> None:
    """Its memory is sensitive, the report names its place and kind, and neither shows it."""
    secret = "AKIA" + "IOSFODNN7EXAMPLX"
    path = tmp_path / "memories.json"
    path.write_text(json.dumps([{"id": "1", "memory": f"The key of the shop is {secret}."}]))
    shown = cli.say("import", str(path), "--from", "mem0")
    assert "  + sensitive\n" in shown
    assert "sensitive, since a secret is in it: memory 1: " in shown
    assert secret not in shown + json.dumps(cli.data("import", str(path), "--from", "mem0", "--dry-run"))
    (record,) = cli.data("list")["memories"]
    assert record["sensitive"] is True


def test_what_could_not_be_taken_in_is_told_last(cli: CommandLine, tmp_path: Path) -> None:
    """Problems go to standard error, the exit code says that there are some, and the rest is taken."""
    path = tmp_path / "memories.json"
    path.write_text(
        json.dumps([{"memory": 5}, *({"id": str(number), "memory": f"fact {number}"} for number in range(12))])
    )
    result = cli.run("import", str(path), "--from", "mem0", code=1)
    assert result.stdout.startswith("Added 12 memories; ")
    assert result.stdout.endswith("    and 2 more\n")
    assert result.stderr == "memory 1: It has no text under `memory`.\n"
