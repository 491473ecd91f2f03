"""What cannot be done: a line that says why, the right exit code, never a traceback."""

from pathlib import Path

import pytest

from command_line import CommandLine
from recollect.core.settings import SETTINGS

TAKEN = "01900000-0000-7000-8000-00000000abcd"


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path / "home")


@pytest.mark.parametrize(
    ("code", "command"),
    [
        (2, ["frobnicate"]),
        (2, ["recall"]),
        (2, ["recall", ""]),
        (2, ["recall", "x", "--limit", "0"]),
        (2, ["recall", "x", "--limit", "many"]),
        (2, ["recall", "x", "--sort", "luck"]),
        (2, ["recall", "x", "--budget", "0"]),
        (2, ["recall", "x", "--as-of", "yesterday"]),
        (2, ["recall", "x", "--project", "p", "--everywhere"]),
        (2, ["list", "--limit", "0"]),
        (2, ["remember", " "]),
        (2, ["remember", "x" * 1401]),
        (2, ["remember", "x\0y"]),
        (2, ["remember", "x", "--importance", "2"]),
        (2, ["remember", "x", "--importance", "nan"]),
        (2, ["remember", "x", "--place", "99999999999999999999"]),
        (2, ["remember", "x", "--category", ""]),
        (2, ["remember", "x", "--id", "7"]),
        (2, ["remember", "x", "--project", "p", "--general"]),
        (2, ["edit", TAKEN]),
        (2, ["edit", TAKEN, "--content", ""]),
        (2, ["link", TAKEN, "see-also", TAKEN]),
        (2, ["link", TAKEN, "likes", TAKEN]),
        (2, ["config", "luck"]),
        (2, ["config", "--reset", "luck"]),
        (2, ["config", "limit", "0"]),
        (2, ["config", "limit", "--reset", "limit"]),
        (2, ["import", "/nowhere"]),
        (2, ["import", "/"]),
        (2, ["export", "/nowhere/else"]),
        (2, ["remember", "caf\udce9"]),
        (2, ["recall", "x", "--project", "\udcff"]),
        (2, ["list", "--category", "\ud800"]),
        (3, ["show", "abcdef01"]),
        (3, ["show", "a"]),
        (3, ["show", "[bold]"]),
        (3, ["forget", "abcdef01"]),
        (3, ["why-not", "abcdef01", "x"]),
        (3, ["recall", "x", "--exclude", "abcdef01"]),
        (3, ["link", TAKEN, "see-also", "abcdef01"]),
        (3, ["list", "--after", "abcdef01"]),
        (4, ["remember", "something else", "--id", TAKEN]),
    ],
)
def test_exit_codes(cli: CommandLine, code: int, command: list[str]) -> None:
    """What is refused, missing or in conflict ends with its own code and a single complaint on standard error."""
    cli.keep("taken", "--id", TAKEN)
    result = cli.run(*command, code=code)
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert "Traceback" not in result.stderr


def test_harmless_extremes_are_answered(cli: CommandLine) -> None:
    """Numbers beyond what any store counts to are no error where their meaning is plain."""
    cli.keep("cart", "--session", "s", "--place", "0")
    assert "cart" in cli.say("recall", "cart", "--before", str(10**30), "--budget", str(10**30))
    assert "cart" in cli.say("list", "--limit", str(10**30))
    assert "Nothing" in cli.say("list", "--before", str(-(10**30)))


def test_a_short_id_that_fits_several(cli: CommandLine) -> None:
    """An ambiguous id is refused with the ids it fits."""
    for start in "ab":
        cli.keep(start, "--id", f"{start}1900000-0000-7000-8000-00000000abcd")
    result = cli.run("show", "abcd", code=3)
    assert "a1900000" in result.stderr
    assert "b1900000" in result.stderr


def test_trouble_with_the_store(cli: CommandLine, tmp_path: Path) -> None:
    """A store that is damaged or cannot be opened ends with 5, in JSON too."""
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(b"not a database at all" * 100)
    for store in (str(damaged), "/proc/nowhere/memory.db"):
        for command in (["list"], ["recall", "x"], ["doctor"], ["remember", "x"]):
            result = cli.run(*command, code=5, settings={"RECOLLECT_STORE": store})
            assert result.stderr.startswith("error: ")
    assert (
        '"kind": "StoreDamaged"' in cli.run("list", "--json", code=5, settings={"RECOLLECT_STORE": str(damaged)}).stderr
    )


def test_a_space_that_is_no_text(cli: CommandLine) -> None:
    """Bytes that are no text in the environment are refused like those in an argument."""
    result = cli.run("list", code=2, settings={"RECOLLECT_SPACE": "a\udcff"})
    assert "not text" in result.stderr


def test_standard_input_that_is_no_text(cli: CommandLine) -> None:
    """Bytes that are not UTF-8 are refused, and nothing is kept."""
    assert "UTF-8" in cli.run("remember", "-", stdin=b"caf\xe9", code=2).stderr
    assert "first line" in cli.run("import", "-", stdin=b"\xff\xfe", code=2).stderr
    assert cli.data("list")["memories"] == []


def test_a_failed_export_leaves_the_old_file(cli: CommandLine, tmp_path: Path) -> None:
    """An export that cannot be finished leaves no half of a file behind."""
    cli.keep("one")
    target = tmp_path / "folder"
    target.mkdir()
    cli.run("export", str(target), code=2)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "home"]


def test_completion_offers_what_there_is(cli: CommandLine) -> None:
    """Categories, link kinds, orders and settings complete, the user's own categories too."""
    cli.keep("x", "-c", "recipes")

    def complete(line: str) -> list[str]:
        settings = {"_RECOLLECT_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
        return cli.process(settings=settings).stdout.decode().split()

    assert complete("recollect remember x -c r") == ["recipes"]
    assert complete("recollect recall x --category peo") == ["people"]
    assert complete("recollect link a res") == ["resolved-by"]
    assert complete("recollect recall x --sort rec") == ["recency"]
    assert set(complete("recollect config ")) == set(SETTINGS)


def test_completion_makes_no_store(cli: CommandLine) -> None:
    """Completing a category before anything was remembered does not create the store."""
    settings = {"_RECOLLECT_COMPLETE": "complete_bash", "COMP_WORDS": "recollect recall x -c f", "COMP_CWORD": "4"}
    assert cli.process(settings=settings).stdout.decode().split() == ["facts"]
    assert not cli.home.exists()
