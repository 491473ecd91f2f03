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


def test_what_was_superseded_is_told_as_it_is_now(memory: Recollect) -> None:
    """The newest takes the place of what was pinned or decided before; what lies in another project does not."""
    memory.store.memories.add(
        [
            make_memory(1, "Never use Redis.", tags=("pinned",)),
            make_memory(2, "We deploy with Ansible.", category="decisions"),
            make_memory(3, "We deploy with Nix.", category="decisions"),
            make_memory(4, "Redis is fine now."),
            make_memory(5, "We host in Oslo.", category="decisions"),
            make_memory(6, "They host in Bergen.", project="elsewhere"),
        ]
    )
    for source, target in ((4, 1), (3, 2), (6, 5)):
        memory.store.links.add(make_link(source, "supersedes", target))
    found = brief(memory.store, SCOPE, frozenset(), NOW)
    assert found is not None
    assert [each.id for each in found.memories] == [ref_of(4).id]
    for absent in ("Never use Redis", "Ansible", "Bergen"):
        assert absent not in found.text
    for told in ("Redis is fine now.", "Oslo"):
        assert told in found.text
    assert found.text.count("Nix") == 1


def test_a_question_whose_answer_was_forgotten_is_open_again(memory: Recollect) -> None:
    """It is resolved by what is there, not by what was."""
    memory.store.memories.add([make_memory(1, "Which broker?", category="questions"), make_memory(2, "NATS.")])
    memory.store.links.add(make_link(1, "resolved-by", 2))
    assert brief(memory.store, SCOPE, frozenset(), NOW) is None
    memory.forget(ref_of(2).id)
    found = brief(memory.store, SCOPE, frozenset(), NOW)
    assert found is not None
    assert "Which broker?" in found.text


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
