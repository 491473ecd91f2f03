"""The hook at a prompt, without the process around it: what is given, what is noted, and whom it asks."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from hook_home import Home, is_listened_at
from making import make_memory, ref_of, wait_until
from recollect.core.hits import Evidence, Hit, Ref
from recollect.core.query import Query
from recollect.hooks import prompt
from recollect.hooks.clients import PROMPT, Event
from recollect.journal import given
from recollect.resident.listen import Resident
from recollect.wiring import open_file

PORT = make_memory(1, "The staging database is Postgres 16 on port 5433.")
SECONDS = 60.0
ASKED = "Which port does the staging database use?"


def _run(text: str = ASKED, *, client: str = "claude-code", session: str = "s", seconds: float = SECONDS) -> str:
    """Give what the agent is told; empty if nothing."""
    written: list[dict[str, object]] = []
    event = Event(client, PROMPT, session=session, prompt=text)
    prompt.run(event, time.perf_counter(), seconds, written.append)
    if not written:
        return ""
    told = written[0]["hookSpecificOutput"]
    assert isinstance(told, dict)
    return str(told["additionalContext"])


def test_what_is_given_is_noted(home: Home) -> None:
    """The journal knows what the session has, with its tokens and the time that it took."""
    home.keep(PORT)
    assert PORT.content in _run()
    usage = home.usage()
    assert (usage.prompts, usage.silent, usage.given) == (1, 0, 1)
    assert usage.tokens > 0
    assert usage.median_ms > 0
    assert given.held(home.journal, "s").keys() == {PORT.id}


@pytest.mark.parametrize("text", ["Write a limerick about a lonely whale.", "go on", ""])
def test_silence_is_noted(home: Home, text: str) -> None:
    """A prompt that nothing speaks to, or that has no telling word, counts as one."""
    home.keep(PORT)
    assert _run(text) == ""
    usage = home.usage()
    assert (usage.prompts, usage.silent, usage.given, usage.tokens) == (1, 1, 0, 0)


def test_a_client_that_takes_nothing_was_given_nothing(home: Home) -> None:
    """What could not be shown may be shown later, by a client that can."""
    home.keep(PORT)
    assert _run(client="zed") == ""
    assert given.held(home.journal, "s").keys() == frozenset()
    assert PORT.content in _run()


def test_what_was_changed_since_is_given_again(home: Home) -> None:
    """A session that has the old text in sight is told the new one, once."""
    home.keep(PORT)
    assert "5433" in _run()
    assert _run() == ""
    with open_file(home.config.store) as memory:
        memory.edit(PORT.id, content="The staging database is Postgres 17 on port 6543.")
    assert "6543" in _run()
    assert _run() == ""


def test_a_session_without_a_name_is_given_it_each_time(home: Home) -> None:
    """What one call without a session was given is in nobody else's sight: whoever tries it out sees it again."""
    home.keep(PORT)
    assert PORT.content in _run(session="")
    assert PORT.content in _run(session="")


def test_a_hook_that_is_switched_off_does_nothing(home: Home) -> None:
    """It is not even counted."""
    home.keep(PORT)
    home.set("prompt.memories", "0")
    assert _run() == ""
    assert home.usage().prompts == 0


def test_no_more_is_given_than_is_set(home: Home) -> None:
    """The owner's settings say how many memories there are to a prompt, and how many tokens."""
    home.keep(*(make_memory(n, f"The staging database port is in chapter {n} of the handbook.") for n in range(1, 9)))
    home.set("prompt.memories", "2")
    _run(session="two")
    assert len(given.held(home.journal, "two")) == 2
    home.set("prompt.memories", "5")
    home.set("prompt.tokens", "150")
    before = home.usage().tokens
    _run(session="few")
    assert 0 < home.usage().tokens - before <= 150
    assert len(given.held(home.journal, "few")) < 5


class _KnownLeg:
    """A dense leg to which the second memory means what is asked."""

    name = "dense"
    least = -1.0

    def search(self, query: Query, depth: int, seconds: float) -> Sequence[Hit]:
        assert query.text
        assert seconds > 0
        return [Hit(ref_of(2), 0.9, 0.8)][:depth]

    def weigh(self, query: Query, ref: Ref) -> Evidence:
        raise AssertionError((query, ref))


@contextmanager
def _listening(path: str) -> Iterator[None]:
    resident = Resident(path, _KnownLeg(), "personal", seconds=0.01)
    resident.start()
    try:
        wait_until(lambda: is_listened_at(path))
        yield
    finally:
        resident.stop(60.0)


def test_a_resident_is_asked_for_meaning(home: Home) -> None:
    """What shares no word with the prompt is given if a running process knows that it means the same."""
    home.keep(PORT, make_memory(2, "Sundays are for restoring backups."))
    assert _run("when do they go back to yesterday's state?", session="alone") == ""
    with _listening(home.config.resident):
        assert "Sundays are for restoring" in _run("when do they go back to yesterday's state?")


def test_without_time_nobody_is_asked_for_meaning(home: Home) -> None:
    """A hook that started late does not ask a process that could not answer in time."""
    home.keep(PORT, make_memory(2, "Sundays are for restoring backups."))
    with _listening(home.config.resident):
        assert _run("when do they go back to yesterday's state?", seconds=0.0) == ""
