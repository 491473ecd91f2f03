"""What an agent is told when a session begins."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from making import START, StandingClock, make_link, make_memory, open_recollect, ref_of
from recollect.core.query import Scope
from recollect.service.brief import TOKENS, brief
from recollect.service.recollect import Recollect

SCOPE = Scope(("personal",), "here")
NOW = START + timedelta(days=10)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Recollect]:
    with open_recollect(tmp_path / "memory.db", StandingClock()) as opened:
        yield opened


def test_a_project_without_anything_to_say_is_silent(memory: Recollect) -> None:
    """Facts alone make no briefing."""
    memory.store.memories.add([make_memory(1, "A fact about something pinned down.")])
    assert brief(memory.store, SCOPE, frozenset(), NOW) is None


def test_pinned_decided_and_open_are_told(memory: Recollect) -> None:
    """What is pinned is told whole; recent decisions and open questions by their headings; other projects' are not."""
    memory.store.memories.add(
        [
            make_memory(1, "Never push to main.\nIt deploys.", tags=("pinned",)),
            make_memory(2, "We use uv.\nBecause pip is slow.", category="decisions"),
            make_memory(3, "Which queue do we take?\nKafka or Postgres.", category="questions"),
            make_memory(4, "Which broker?", category="questions"),
            make_memory(5, "Not ours.", tags=("pinned",), project="elsewhere"),
            make_memory(6, "NATS."),
            make_memory(7, "Code is 4711.", tags=("pinned",), sensitive=True),
        ]
    )
    memory.store.links.add(make_link(4, "resolved-by", 6))
    found = brief(memory.store, SCOPE, frozenset(), NOW)
    assert found is not None
    assert "Never push to main.\nIt deploys." in found.text
    assert "We use uv." in found.text
    assert "pip is slow" not in found.text
    assert "Which queue do we take?" in found.text
    for absent in ("Which broker?", "Not ours", "4711"):
        assert absent not in found.text
    assert {each.id for each in found.memories} == {ref_of(1).id, ref_of(7).id}


def test_old_decisions_are_no_news(memory: Recollect) -> None:
    """A decision is told for a month."""
    memory.store.memories.add([make_memory(1, "We use uv.", category="decisions")])
    assert brief(memory.store, SCOPE, frozenset(), START + timedelta(days=29)) is not None
    assert brief(memory.store, SCOPE, frozenset(), START + timedelta(days=32)) is None


def test_what_the_session_has_is_not_told_again(memory: Recollect) -> None:
    """A session that goes on has its briefing in sight."""
    memory.store.memories.add([make_memory(1, "Never push to main.", tags=("pinned",))])
    assert brief(memory.store, SCOPE, frozenset({ref_of(1).id}), NOW) is None


def test_a_briefing_is_short(memory: Recollect) -> None:
    """However much is pinned, a briefing stays within its tokens."""
    memory.store.memories.add([make_memory(n, f"Rule {n}. " + "word " * 120, tags=("pinned",)) for n in range(1, 9)])
    found = brief(memory.store, SCOPE, frozenset(), NOW)
    assert found is not None
    assert 1 <= len(found.memories) < 8
    assert found.tokens <= TOKENS
