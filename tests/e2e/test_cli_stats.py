"""`recollect stats`: what the hooks gave, what of it was used, and what it cost."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from command_line import CommandLine
from making import ref_of
from recollect.core.moments import to_micros
from recollect.hooks.clients import PROMPT, SESSION_START
from recollect.journal import given
from recollect.journal.file import Journal

NOW: Final = to_micros(datetime.now(UTC))
LONG_AGO: Final = to_micros(datetime.now(UTC) - timedelta(days=31))


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    line = CommandLine(tmp_path / "home")
    line.keep("The cart is stored in Redis.")
    return line


@pytest.fixture
def journal(cli: CommandLine) -> Iterator[Journal]:
    with closing(Journal(str(cli.home / "memory.journal.db"))) as opened:
        yield opened


def _give(journal: Journal, hook: str, *memories: int, tokens: int, milliseconds: float, at: int = NOW) -> None:
    refs = [ref_of(number) for number in memories]
    given.note(journal, "s", hook, at, refs, tokens=tokens, milliseconds=milliseconds)


def _lines(shown: str) -> dict[str, str]:
    """Give what is said of the prompts, by its first word."""
    rows = shown.partition("Prompts in 30 days\n")[2].splitlines()
    return {name: rest.strip() for name, _, rest in (row.strip().partition(" ") for row in rows)}


def test_what_hooks_did_is_counted(cli: CommandLine, journal: Journal) -> None:
    """Of four prompts in a month two were silent; of three memories given one was used; older is another story."""
    _give(journal, SESSION_START, 4, tokens=500, milliseconds=400, at=NOW - 1)
    _give(journal, PROMPT, 1, 2, tokens=120, milliseconds=40)
    _give(journal, PROMPT, tokens=0, milliseconds=10)
    _give(journal, PROMPT, tokens=0, milliseconds=20)
    _give(journal, PROMPT, 3, tokens=61, milliseconds=30.5)
    _give(journal, PROMPT, 5, tokens=9000, milliseconds=9000, at=LONG_AGO)
    given.use(journal, [ref_of(2).id], NOW)
    assert cli.data("stats")["hooks"] == {
        "days": 30, "prompts": 4, "silent": 2, "given": 3, "used": 1, "tokens": 181, "seconds": 0.1005,
        "median_ms": 30.5, "slow_ms": 40.0,
    }  # fmt: skip
    assert _lines(cli.say("stats")) == {
        "silent": "50% of 4",
        "given": "3 memories, 33% of them used",
        "tokens": "181, 90 a time",
        "time": "30 ms, at most 40 ms for 99 of 100, 0.1 s in all",
    }


def test_prompts_that_were_given_nothing_are_counted(cli: CommandLine, journal: Journal) -> None:
    """Silence alone has nothing to divide by, and is told all the same."""
    _give(journal, PROMPT, tokens=0, milliseconds=12)
    assert _lines(cli.say("stats")) == {
        "silent": "100% of 1",
        "given": "0 memories, none used",
        "tokens": "0, 0 a time",
        "time": "12 ms, at most 12 ms for 99 of 100, 0.0 s in all",
    }


def test_a_briefing_was_not_given_with_a_prompt(cli: CommandLine, journal: Journal) -> None:
    """Where every prompt was silent nothing came with one, whatever the session was told at its start."""
    _give(journal, SESSION_START, 4, 5, tokens=500, milliseconds=400, at=NOW - 1)
    _give(journal, PROMPT, tokens=0, milliseconds=12)
    given.use(journal, [ref_of(4).id], NOW)
    assert _lines(cli.say("stats"))["given"] == "0 memories, none used"


def test_a_journal_without_prompts_is_not_worth_a_word(cli: CommandLine, journal: Journal) -> None:
    """A client without prompt hooks has no line; the figures are there, and are 0."""
    _give(journal, SESSION_START, tokens=0, milliseconds=5)
    assert "Prompts" not in cli.say("stats")
    hooks = cli.data("stats")["hooks"]
    assert hooks.pop("days") == 30
    assert set(hooks.values()) == {0}


def test_without_hooks_there_is_no_journal_and_none_is_made(cli: CommandLine) -> None:
    """Who never installed a hook is told nothing of them."""
    assert cli.data("stats")["hooks"] is None
    assert "Prompts" not in cli.say("stats")
    assert not list(cli.home.glob("*journal*"))


def test_a_journal_that_cannot_be_read_is_named(cli: CommandLine) -> None:
    """The store is counted all the same; the file is named, and what may be done with it."""
    (cli.home / "memory.journal.db").write_bytes(b"no journal " * 500)
    result = cli.run("stats")
    said = " ".join(result.stderr.split())
    assert "memory.journal.db" in said
    assert "may be moved away" in said
    assert "1 memory" in result.stdout
