"""The hook at a session's start: a briefing once, and anew when the agent has lost sight of it."""

import time
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

from hook_home import Home
from making import make_memory, ref_of
from recollect.core.moments import to_micros
from recollect.hooks import session_start
from recollect.hooks.clients import PROMPT, SESSION_START, Event
from recollect.journal import given

NOW: Final = datetime.now(UTC)
PINNED: Final = make_memory(1, "Never push to main.", tags=("pinned",), created_at=NOW, updated_at=NOW)
DECIDED: Final = make_memory(2, "We use uv.\nPip is slow.", category="decisions", created_at=NOW, updated_at=NOW)


def _start(source: str = "startup", *, session: str = "s", client: str = "claude-code") -> str:
    """Give what the agent is told; empty if nothing."""
    event = Event(client, SESSION_START, session=session, source=source)
    written: list[dict[str, object]] = []
    session_start.run(event, time.perf_counter(), written.append)
    if not written:
        return ""
    told = written[0]["hookSpecificOutput"]
    assert isinstance(told, dict)
    return str(told["additionalContext"])


def test_a_session_is_briefed_once(home: Home) -> None:
    """Two clients that run the same hooks for one session, or one that resumes it, get one briefing."""
    home.keep(PINNED)
    assert PINNED.content in _start()
    assert _start() == ""
    assert _start("resume") == ""
    assert PINNED.content in _start(session="another")


def test_a_briefing_of_headings_alone_is_told_once_too(home: Home) -> None:
    """What is told by its heading counts as told, though the memory itself may still come with a prompt."""
    home.keep(DECIDED)
    assert "We use uv." in _start()
    assert _start() == ""
    assert given.held(home.journal, "s").keys() == frozenset()


@pytest.mark.parametrize("source", ["compact", "clear"])
def test_what_went_out_of_sight_is_told_again(home: Home, source: str) -> None:
    """After a compaction the agent knows nothing of its briefing, nor of what came with its prompts."""
    home.keep(PINNED, DECIDED)
    told = _start()
    given.note(home.journal, "s", PROMPT, to_micros(NOW), [ref_of(2)], tokens=9, milliseconds=1.0)
    assert _start(source) == told
    assert given.held(home.journal, "s").keys() == {PINNED.id}


def test_what_a_client_may_have_dropped_can_come_with_a_prompt(home: Home) -> None:
    """Cursor is known to lose a briefing, so what was in it may be given again; the briefing is not."""
    home.keep(PINNED)
    for expected in (1, 0):
        written: list[dict[str, object]] = []
        session_start.run(Event("cursor", SESSION_START, session="s"), time.perf_counter(), written.append)
        assert len(written) == expected
    assert given.held(home.journal, "s") == {}
    assert given.given_to(home.journal, "s") == [ref_of(1)]


def test_a_session_without_a_name_is_briefed_each_time(home: Home) -> None:
    """Nobody can say whether it is the same one."""
    home.keep(PINNED, DECIDED)
    assert _start(session="") == _start(session="") != ""


def test_a_project_that_has_nothing_to_say_is_asked_again(home: Home) -> None:
    """Silence is no briefing: what is pinned meanwhile is told when the session goes on."""
    home.keep(make_memory(3, "A fact."))
    assert _start() == ""
    home.keep(PINNED)
    assert PINNED.content in _start("resume")


def test_a_damaged_journal_costs_a_repetition(home: Home) -> None:
    """What is pinned is told all the same, and told twice."""
    home.keep(PINNED)
    home.damage_journal()
    assert PINNED.content in _start()
    assert PINNED.content in _start()


def test_a_briefing_is_not_counted_as_a_prompt(home: Home) -> None:
    """Nor are its memories counted among those of prompts."""
    home.keep(PINNED, DECIDED)
    assert _start()
    usage = home.usage()
    assert (usage.prompts, usage.given, usage.tokens) == (0, 0, 0)
    assert given.held(home.journal, "s").keys() == {PINNED.id}


def test_a_client_that_takes_nothing_was_told_nothing(home: Home) -> None:
    """Another client that shares the session is briefed."""
    home.keep(PINNED)
    assert _start(client="zed") == ""
    assert PINNED.content in _start()


def test_it_is_switched_off_with_the_prompt_hook(home: Home) -> None:
    """No memories to a prompt means none at the start."""
    home.keep(PINNED)
    home.set("prompt.memories", "0")
    assert _start() == ""


def test_what_was_given_long_ago_is_forgotten(home: Home) -> None:
    """The journal is kept short whenever a session begins."""
    home.keep(PINNED)
    old = to_micros(NOW - timedelta(days=given.KEPT_DAYS + 1))
    given.note(home.journal, "old", PROMPT, old, [ref_of(1)], tokens=9, milliseconds=1.0)
    _start()
    assert given.given_to(home.journal, "old") == []
    assert home.usage().prompts == 0
