from datetime import datetime
from typing import Any

import pytest

from making import at, make_query
from recollect.core.errors import BadQuery
from recollect.core.query import Query, Scope, check


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"text": ""}, "query is empty"),
        ({"text": " \n"}, "query is empty"),
        ({"limit": 0}, "from 1 to 1,000, not 0"),
        ({"limit": 1001}, "from 1 to 1,000"),
        ({"sort": "colour"}, "Sort by relevance, importance, recency"),
        ({"budget": 0}, "tokens above 0"),
        ({"project": "\ud800"}, "half of a surrogate pair"),
        ({"sessions": frozenset({"ok", "\udfff"})}, "half of a surrogate pair"),
        ({"categories": frozenset({"\udc00"})}, "half of a surrogate pair"),
    ],
)
def test_what_cannot_be_asked_is_refused(parts: dict[str, Any], message: str) -> None:
    """A query that no leg could answer is refused before any is asked, with what to change."""
    with pytest.raises(BadQuery, match=message):
        check(make_query(**parts))


@pytest.mark.parametrize("parts", [{"as_of": datetime(2026, 1, 1)}, {"before": 1 << 63}])  # noqa: DTZ001
def test_a_moment_has_a_zone_and_a_place_is_a_place(parts: dict[str, Any]) -> None:
    """A time without a zone, and a place beyond any that can be stored, are refused rather than failed on."""
    with pytest.raises(BadQuery):
        check(make_query(**parts))


def test_a_query_needs_a_space() -> None:
    """There is no recall over nothing, and none over everything."""
    with pytest.raises(BadQuery, match="name at least one space"):
        check(Query("deploys", Scope(())))
    with pytest.raises(BadQuery, match="surrogate"):
        check(Query("deploys", Scope(("\ud800",))))


def test_what_can_be_asked() -> None:
    """Bounds are included, and any text with something in it is a query."""
    check(make_query("\ud800 half a pair is no word", limit=1))
    check(make_query("x", limit=1000, budget=1, sort="recency", before=0, as_of=at(0), exclude=frozenset({"any"})))


@pytest.mark.parametrize(
    "parts",
    [
        {"project": "p"},
        {"sessions": frozenset({"s"})},
        {"categories": frozenset({"c"})},
        {"before": 0},
    ],
)
def test_every_part_of_a_scope_narrows(parts: dict[str, Any]) -> None:
    """A scope with any part set leaves something out; an empty part or a moment alone does not."""
    assert Scope(("personal",), **parts).narrows
    assert not Scope(("personal",), project="", sessions=frozenset(), as_of=at(0)).narrows
