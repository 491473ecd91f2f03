"""Before a compaction: what was said is learned, and what was given may be given again."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from making import id_of
from recollect.config import read_config
from recollect.core.hits import Ref
from recollect.hooks import pre_compact, stop
from recollect.hooks.clients import PRE_COMPACT, STOP, Event
from recollect.journal.candidates import JournalQueue
from recollect.journal.file import Journal
from recollect.journal.given import held, note


@pytest.fixture
def event(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Event:
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path))
    monkeypatch.setenv("RECOLLECT_PROJECT", "")
    path = tmp_path / "session.jsonl"
    lines = [
        {"type": "user", "message": {"content": "Remember that invoices go out on the 1st."}},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": "As [0000beef] says, noted."}]}},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return Event("claude-code", PRE_COMPACT, session="s", folder=str(tmp_path), transcript=str(path))


@pytest.fixture
def journal(event: Event) -> Iterator[Journal]:
    journal = Journal(read_config().journal)
    note(journal, event.session, "prompt", 1, [Ref("personal", id_of(0xBEEF))], tokens=9, milliseconds=1.0)
    yield journal
    journal.close()


def waiting(journal: Journal) -> list[str]:
    return [each.content for each in JournalQueue(journal).waiting("personal")]


def test_what_was_said_is_learned_and_what_was_given_is_let_go(event: Event, journal: Journal) -> None:
    """The hook learns what was not read yet, once, and the session holds nothing any more."""
    pre_compact.run(event)
    assert waiting(journal) == ["Invoices go out on the 1st."]
    assert held(journal, "s").keys() == frozenset()
    stop.run(event)
    assert waiting(journal) == ["Invoices go out on the 1st."]


def test_what_was_given_is_let_go_whatever_happens(event: Event, journal: Journal) -> None:
    """A transcript that cannot be read keeps nothing in the session's hands."""
    Path(event.transcript).unlink()
    with pytest.raises(FileNotFoundError):
        pre_compact.run(event)
    assert held(journal, "s").keys() == frozenset()


def test_what_was_given_is_let_go_before_anything_is_learned(
    event: Event, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that is ended while a model still reads has let go of it."""
    seen: list[dict[str, int]] = []
    monkeypatch.setattr(pre_compact, "learn_from", lambda *_: seen.append(held(journal, "s")))
    pre_compact.run(event)
    assert seen == [{}]


def test_a_session_without_a_name_lets_nothing_go(event: Event, journal: Journal) -> None:
    """What was said is learned; whose sight it was that was lost is not known."""
    pre_compact.run(Event("claude-code", PRE_COMPACT, transcript=event.transcript))
    assert waiting(journal) == ["Invoices go out on the 1st."]
    assert held(journal, "s").keys() == {id_of(0xBEEF)}


def test_a_turn_that_goes_on_teaches_nothing_yet(event: Event, journal: Journal) -> None:
    """A stop that only lets the turn go on is left alone, and so is one without a transcript."""
    stop.run(Event("claude-code", STOP, session="s", transcript=event.transcript, again=True))
    stop.run(Event("claude-code", STOP, session="s"))
    assert waiting(journal) == []


def test_a_memory_that_the_agent_named_was_used(event: Event, journal: Journal) -> None:
    """The id of a memory that was given, in what the agent wrote, is kept as its use."""
    with journal.write() as connection:
        connection.execute("UPDATE given SET at = (strftime('%s', 'now') - 60) * 1000000")
    stop.run(event)
    with journal.read() as connection:
        assert connection.execute("SELECT used_at IS NOT NULL FROM given").fetchall() == [(1,)]
