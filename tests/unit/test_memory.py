import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from making import make_memory
from recollect.core.errors import Refused, TooLong
from recollect.core.memory import LABEL_LIMIT, LABELS_LIMIT, check, is_id, make_id


def test_an_id_is_a_uuid_of_version_7() -> None:
    """Time in the first 48 bits, then the version, 12 random bits, the variant, 62 random bits (RFC 9562)."""
    assert make_id(0x017F22E279B0, (0xCC3 << 62) | 0x18C4DC0C0C07398F) == "017f22e2-79b0-7cc3-98c4-dc0c0c07398f"
    assert make_id(0, 0) == "00000000-0000-7000-8000-000000000000"
    assert make_id((1 << 48) - 1, (1 << 74) - 1) == "ffffffff-ffff-7fff-bfff-ffffffffffff"


def test_ids_sort_by_time() -> None:
    """A later id is a larger string, whatever the random bits are."""
    assert make_id(1000, (1 << 74) - 1) < make_id(1001, 0)


@pytest.mark.parametrize(
    "text", ["", "x", "017F22E2-79B0-7CC3-98C4-DC0C0C07398F", "017f22e279b07cc398c4dc0c0c07398f", "g" * 36, "-" * 4]
)
def test_what_is_no_id(text: str) -> None:
    """Only lower-case UUIDs with their dashes are ids."""
    assert not is_id(text)
    assert is_id(make_id(1, 1))


def test_the_heading_is_the_first_line_with_something_on_it() -> None:
    """Blank lines are passed over and the spaces around the line dropped."""
    assert make_memory(content="\n  \n  Deploys \nrun").heading == "Deploys"
    assert make_memory(content="one line").heading == "one line"


def test_the_short_id_is_the_random_end() -> None:
    """Ids made in the same second differ in their last eight characters."""
    assert make_memory(0xABCDEF12).short_id == "abcdef12"


@pytest.mark.parametrize(
    "fields",
    [
        {"content": "x" * 1400},
        {"content": "tab\tnewline\nbell\x07 RTL \u202eabc emoji 👩‍👩‍👧"},
        {"content": " leading and trailing "},
        {"category": "my own"},
        {"tags": ("a",) * LABELS_LIMIT, "keywords": ("b" * LABEL_LIMIT,)},
        {"importance": 0},
        {"importance": 1},
        {"place": 0},
        {"place": (1 << 31) - 1},
    ],
)
def test_what_is_accepted(fields: dict[str, Any]) -> None:
    """Anything a store can keep and return unchanged passes."""
    check(make_memory(**fields))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"content": ""}, "needs some text"),
        ({"content": " \n\t"}, "needs some text"),
        ({"content": "nul \0 inside"}, r"content contains a null character \(U\+0000\)"),
        ({"content": "half \ud83d of a pair"}, "content contains half of a surrogate pair at position 5"),
        ({"category": ""}, "category cannot be empty"),
        ({"category": " "}, "category cannot be empty"),
        ({"category": "x" * 201}, "Category has 201 characters; 200 is the most"),
        ({"space": ""}, "space cannot be empty"),
        ({"project": ""}, "project cannot be empty"),
        ({"session": "\0"}, "session contains a null"),
        ({"tags": ("ok", "")}, "tags cannot be empty"),
        ({"updated_at": datetime.max.replace(tzinfo=UTC)}, "no time after it"),
        ({"tags": ("ok", "two\nlines")}, "line break"),
        ({"project": "two\r"}, "line break"),
        ({"tags": ("ok", "\udfff")}, "tags contains half of a surrogate"),
        ({"tags": ("a",) * 65}, "can have 64 tags, not 65"),
        ({"keywords": ("k" * 201,)}, "keywords has 201 characters"),
        ({"importance": -0.01}, "from 0 to 1, not -0.01"),
        ({"importance": 1.01}, "from 0 to 1"),
        ({"importance": math.nan}, "from 0 to 1"),
        ({"importance": 10**400}, "from 0 to 1"),
        ({"place": -1}, "whole number from 0 up, not -1"),
        ({"place": 1 << 31}, "whole number from 0 up"),
        ({"created_at": datetime(2026, 1, 1)}, "created_at must be a time in UTC"),  # noqa: DTZ001
        ({"updated_at": datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=1)))}, "updated_at must be a time in UTC"),
    ],
)
def test_what_is_refused(fields: dict[str, Any], message: str) -> None:
    """What no store could return unchanged is refused with a reason, not mended."""
    with pytest.raises(Refused, match=message):
        check(make_memory(**fields))


def test_a_bad_id_is_refused() -> None:
    """An id that is not a lower-case UUID is named in the refusal."""
    with pytest.raises(Refused, match="'ABC' is not an id"):
        check(replace(make_memory(), id="ABC"))


def test_too_long_says_what_to_do() -> None:
    """A memory over the limit is refused with both lengths and how to split it."""
    with pytest.raises(TooLong, match=r"1,401 characters and the limit is 1,400.*part-of"):
        check(make_memory(content="x" * 1401))
    check(make_memory(content="x" * 1401), length_limit=1401)
