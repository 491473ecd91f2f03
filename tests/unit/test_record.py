"""Memories as plain data: what comes out goes back in, and what does not fit is refused."""

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from making import at, id_of, make_link, make_memory
from recollect.core.errors import Refused
from recollect.core.memory import Revision
from recollect.core.record import (
    format_time,
    from_history,
    from_record,
    parse_time,
    to_history,
    to_link_record,
    to_record,
)

RECORD = {
    "id": id_of(1),
    "space": "personal",
    "content": "Deploys run on Tuesdays.",
    "created_at": "2026-01-01T00:00:01.000000Z",
    "updated_at": "2026-01-01T00:00:01.000000Z",
    "category": "facts",
    "tags": [],
    "keywords": [],
    "importance": 0.5,
    "project": None,
    "session": None,
    "place": None,
    "sensitive": False,
    "version": 1,
    "action": "remembered",
    "deleted_at": None,
}


def test_a_record_has_every_field() -> None:
    """The form of an export is fixed: its names, times in UTC to the microsecond, labels as lists."""
    assert to_record(make_memory()) == RECORD
    assert from_record(RECORD) == make_memory()


def test_what_was_left_out_has_its_default() -> None:
    """A record needs id, space, content and times; the rest has defaults."""
    short = {name: RECORD[name] for name in ("id", "space", "content", "created_at", "updated_at")}
    assert from_record(short) == make_memory()


@pytest.mark.parametrize("name", ["id", "space", "content", "created_at", "updated_at"])
def test_what_is_missing_is_named(name: str) -> None:
    """A record without a required field is refused, naming it."""
    with pytest.raises(Refused, match=f"lacks {name}"):
        from_record({key: value for key, value in RECORD.items() if key != name})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"colour": "red", "age": 3}, "unknown age, colour"),
        ({"content": 5}, "content is 5"),
        ({"importance": "high"}, "importance is 'high'"),
        ({"importance": True}, "importance is True"),
        ({"importance": False}, "importance is False"),
        ({"place": True}, "place is True"),
        ({"place": False}, "place is False"),
        ({"place": 1.5}, "place is 1.5"),
        ({"sensitive": 1}, "sensitive is 1"),
        ({"project": 7}, "project is 7"),
        ({"tags": "a"}, "tags are 'a'"),
        ({"keywords": ["a", 1]}, "no list of words"),
        ({"action": "eaten"}, "action is 'eaten'"),
        ({"created_at": "yesterday"}, "'yesterday' is not a time"),
        ({"created_at": None}, "created_at"),
        ({"updated_at": None}, "updated_at"),
        ({"deleted_at": 1}, "not a time"),
    ],
)
def test_what_is_of_the_wrong_kind_is_refused(fields: dict[str, Any], message: str) -> None:
    """A record from elsewhere is checked field by field before it becomes a memory."""
    with pytest.raises(Refused, match=message):
        from_record({**RECORD, **fields})


def test_a_history_is_every_state_oldest_first() -> None:
    """A memory with its past goes out and comes back as its states."""
    states = [make_memory(1), make_memory(1, "Deploys run daily.", updated_at=at(5), version=2, action="edited")]
    record = to_history([Revision(states[0], at(5)), Revision(states[1], None)])
    assert from_history(json.loads(json.dumps(record))) == states


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ({"version": 3}, "versions of one memory"),
        ({"version": 1}, "versions of one memory"),
        ({"version": 2, "id": id_of(2)}, "versions of one memory"),
        ({"version": 2, "space": "ours"}, "versions of one memory"),
        ({"version": 2}, "order of their times"),
        ({"version": 2, "updated_at": "2025-12-31T00:00:00Z"}, "order of their times"),
    ],
)
def test_states_that_do_not_follow_each_other_are_refused(second: dict[str, Any], message: str) -> None:
    """States are the versions of one memory from 1 on, each later than the one before."""
    with pytest.raises(Refused, match=message):
        from_history({"states": [RECORD, {**RECORD, **second}]})


@pytest.mark.parametrize("states", [None, [], {}, "x", [1], [RECORD, None]])
def test_a_record_without_states_is_refused(states: object) -> None:
    """Whatever stands in the place of the states, the answer is a refusal and no crash."""
    with pytest.raises(Refused, match="no states"):
        from_history({"states": states})


def test_a_link_record_has_both_ends_and_both_times() -> None:
    """A link goes out with when it began and when it ended, if it did."""
    assert to_link_record(make_link(2, "supersedes", 1, since=3, until=4)) == {
        "space": "personal",
        "source": id_of(2),
        "kind": "supersedes",
        "target": id_of(1),
        "created_at": "2026-01-01T00:00:03.000000Z",
        "ended_at": "2026-01-01T00:00:04.000000Z",
    }
    assert to_link_record(make_link(2, "see-also", 1))["ended_at"] is None


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-05-31", datetime(2026, 5, 31, tzinfo=UTC)),
        ("2026-05-31T18:00:00Z", datetime(2026, 5, 31, 18, tzinfo=UTC)),
        ("2026-05-31T18:00:00+02:00", datetime(2026, 5, 31, 16, tzinfo=UTC)),
        ("2026-05-31 18:00", datetime(2026, 5, 31, 18, tzinfo=UTC)),
    ],
)
def test_times_are_read_in_iso_8601(text: str, moment: datetime) -> None:
    """A time with a zone is brought to UTC, one without is taken as UTC."""
    assert parse_time(text) == moment
    assert parse_time(text).tzinfo is UTC


@pytest.mark.parametrize("text", ["", "soon", "2026-13-01", None, True, "0001-01-01T00:00:00+14:00", [1]])
def test_what_is_no_time_is_refused_with_an_example(text: object) -> None:
    """A refusal shows how a time is written; one before the first year is none."""
    with pytest.raises(Refused, match="write it like 2026-05-31"):
        parse_time(text)


def test_times_are_written_in_utc_to_the_microsecond() -> None:
    """Whatever zone a time is in, it is written in UTC, always with six decimals, so that texts sort as times."""
    there = datetime(2026, 5, 31, 18, tzinfo=timezone(timedelta(hours=2)))
    assert format_time(there) == "2026-05-31T16:00:00.000000Z"
