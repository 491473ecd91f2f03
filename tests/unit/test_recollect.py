"""What the facade adds: the project one stands in, the limit from the settings, pages."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from making import StandingClock, at, id_of, open_recollect
from recollect.core.errors import Ambiguous, BadQuery, BadSetting, NotFound
from recollect.service.recollect import Recollect


@pytest.fixture
def clock() -> StandingClock:
    return StandingClock()


@pytest.fixture
def memory(tmp_path: Path, clock: StandingClock) -> Iterator[Recollect]:
    with open_recollect(tmp_path / "memory.db", clock, project="site") as opened:
        yield opened


def test_one_stands_in_a_project(memory: Recollect) -> None:
    """What is remembered belongs to the project one stands in, and recall looks there and at what belongs to none."""
    memory.remember("alpha here")
    memory.remember("alpha everywhere", project=None)
    memory.remember("alpha elsewhere", project="shop")

    def found(project: str | None) -> set[str]:
        return {each.memory.content for each in memory.recall("alpha", project=project).results}

    assert found(".") == {"alpha here", "alpha everywhere"}
    assert found("shop") == {"alpha elsewhere", "alpha everywhere"}
    assert found(None) == {"alpha here", "alpha everywhere", "alpha elsewhere"}


def test_the_limit_is_the_settings_unless_given(memory: Recollect) -> None:
    """A recall brings as many memories as the setting says, or as it was asked for."""
    for number in range(12):
        memory.remember(f"alpha {number}")
    assert len(memory.recall("alpha").results) == 10
    memory.set("limit", "3")
    assert len(memory.recall("alpha").results) == 3
    assert len(memory.recall("alpha", limit=12).results) == 12


def test_settings_take_effect_on_the_next_recall(memory: Recollect) -> None:
    """A setting is read by every recall; a bad one is refused and the old one stays."""
    memory.remember("alpha beta")
    memory.remember("alpha")
    memory.set("floor.lexical", "0.9")
    assert [found.memory.content for found in memory.recall("alpha beta").results] == ["alpha beta"]
    with pytest.raises(BadSetting):
        memory.set("floor.lexical", "2")
    assert memory.settings().number("floor.lexical") == 0.9
    memory.set("floor.lexical", None)
    assert len(memory.recall("alpha beta").results) == 2


@pytest.mark.parametrize("text", [None, "1"])
def test_a_setting_that_is_not_there_is_neither_set_nor_taken_back(memory: Recollect, text: str | None) -> None:
    """A misspelt setting is told, also when it is to go back to its default."""
    with pytest.raises(BadSetting, match=r"no setting 'weight.lexcal'"):
        memory.set("weight.lexcal", text)


def test_a_page_of_what_cannot_be_listed_is_refused(memory: Recollect) -> None:
    """Listing is checked like asking: the limit, the names, the time."""
    with pytest.raises(BadQuery, match="limit"):
        memory.page(memory.scope(), 0)
    with pytest.raises(BadQuery, match="surrogate"):
        memory.page(memory.scope(project="\ud800"), 10)
    with pytest.raises(BadQuery, match="zone"):
        memory.page(memory.scope(as_of=datetime(2026, 1, 1)), 10)  # noqa: DTZ001


def test_pages_follow_each_other(memory: Recollect, clock: StandingClock) -> None:
    """Listing goes from the newest to the oldest, each page behind the last one's end."""
    for number in range(5):
        clock.move()
        memory.remember(f"memory {number}")
    first = memory.page(memory.scope(), 2)
    second = memory.page(memory.scope(), 2, after=first[-1].id)
    third = memory.page(memory.scope(), 2, after=second[-1].id)
    assert [each.content for each in (*first, *second, *third)] == [f"memory {n}" for n in (4, 3, 2, 1, 0)]


def test_a_handle_that_fits_several_is_ambiguous(memory: Recollect) -> None:
    """A short id that fits two memories names them both."""
    for end in ("a1234", "b1234"):
        memory.remember(end, id=f"01900000-0000-7000-8000-0000000{end}")
    with pytest.raises(Ambiguous, match=r"fits several memories: .*a1234, .*b1234\. Give more"):
        memory.get("1234")


def test_a_memory_is_not_known_before_its_time(memory: Recollect, clock: StandingClock) -> None:
    """Reading a memory as of a moment before it was stored says that it was not known."""
    clock.move()
    kept = memory.remember("alpha")
    with pytest.raises(NotFound, match="not known yet"):
        memory.get(kept.id, as_of=at(0))


def test_why_not_and_evidence_go_through(memory: Recollect) -> None:
    """The facade tells why a memory is missing, and what speaks for one that is there."""
    kept, missing = memory.remember("alpha beta"), memory.remember("gamma")
    answer = memory.recall("alpha")
    assert "none of the query's words" in memory.why_not(answer.query, missing.id).reason
    assert memory.evidence(answer, kept)["lexical"].parts[0][0] == "alpha"


def test_ids_are_made_of_the_time_and_chance(memory: Recollect, clock: StandingClock) -> None:
    """Two ids of one moment share their beginning and differ in their end."""
    one, other = memory.make_id(clock()), memory.make_id(clock())
    assert one[:13] == other[:13] == "019b76da-a800"
    assert one != other
    assert memory.remember("with its own", id=id_of(7)).id == id_of(7)


def test_another_space_is_another_world(tmp_path: Path, clock: StandingClock) -> None:
    """What one space holds, another neither recalls nor resolves."""
    with open_recollect(tmp_path / "m.db", clock) as mine, open_recollect(tmp_path / "m.db", clock, space="b") as b:
        kept = mine.remember("alpha")
        assert b.recall("alpha").results == ()
        with pytest.raises(NotFound):
            b.get(kept.id)
