"""Asking the legs: whatever one of them does, the others answer."""

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pytest

from fakes import FailingLeg, TellingLeg
from making import make_query, ref_of
from recollect.core.errors import LegTimeout, StoreBusy
from recollect.core.hits import Evidence, Hit
from recollect.core.query import Query
from recollect.service.ask import ask_legs

LONG = 60.0
"""Seconds that no healthy leg comes near."""


@dataclass
class StuckLeg:
    """Does not come back before it is let go, and takes no notice of its time."""

    name: str = "exact"
    least: float = -1.0
    let_go: threading.Event = field(default_factory=threading.Event)
    came_back: threading.Event = field(default_factory=threading.Event)

    def search(self, query: Query, depth: int, seconds: float) -> Sequence[Hit]:  # noqa: ARG002
        self.let_go.wait(LONG)
        self.came_back.set()
        return ()

    def weigh(self, query: Query, ref: object) -> Evidence:
        raise NotImplementedError


@pytest.fixture
def stuck() -> Iterator[StuckLeg]:
    leg = StuckLeg()
    yield leg
    leg.let_go.set()
    assert leg.came_back.wait(LONG)


def test_every_leg_answers_in_the_order_asked() -> None:
    """Answers carry the legs' hits and least scores, and stand in the order of the legs."""
    words = TellingLeg("lexical", {ref_of(1): 2.0, ref_of(2): 3.0})
    rare = TellingLeg("exact", {ref_of(3): 1.0}, least=-1.0)
    first, second = ask_legs([words, rare], make_query(), 10, LONG)
    assert (first.leg, first.least, first.failure) == ("lexical", 0.0, None)
    assert [hit.ref for hit in first.hits] == [ref_of(2), ref_of(1)]
    assert (second.leg, second.least, len(second.hits)) == ("exact", -1.0, 1)


def test_the_depth_is_handed_on() -> None:
    """A leg is asked for as many hits as the caller wants."""
    words = TellingLeg("lexical", {ref_of(n): float(n) for n in range(1, 20)})
    (answer,) = ask_legs([words], make_query(), 3, LONG)
    assert len(answer.hits) == 3


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (RuntimeError("no such table"), "it failed: no such table"),
        (KeyError(), "it failed: KeyError"),
        (StoreBusy("held for 60 s"), "it failed: held for 60 s"),
        (LegTimeout("it took longer than 5 ms"), "it took longer than 5 ms"),
    ],
)
def test_a_leg_that_raises_is_left_out_with_its_reason(error: Exception, failure: str) -> None:
    """A failing leg gives no hits and says why; the other leg's answer is untouched."""
    broken, words = FailingLeg("exact", error=error), TellingLeg("lexical", {ref_of(1): 1.0})
    answers = ask_legs([broken, words], make_query(), 10, LONG)
    assert [(answer.leg, len(answer.hits), answer.failure) for answer in answers] == [
        ("exact", 0, failure),
        ("lexical", 1, None),
    ]


def test_a_leg_past_its_time_is_not_waited_for(stuck: StuckLeg) -> None:
    """A leg that ignores its limit is left out while it still runs, and the rest answers."""
    words = TellingLeg("lexical", {ref_of(1): 1.0})
    began = time.monotonic()
    late, prompt = ask_legs([stuck, words], make_query(), 10, 0.05)
    assert time.monotonic() - began < LONG / 4
    assert not stuck.came_back.is_set()
    assert (late.leg, late.hits, late.least, late.failure) == ("exact", (), -1.0, "it took longer than 50 ms")
    assert (len(prompt.hits), prompt.failure) == (1, None)


def test_several_late_legs_share_one_limit(stuck: StuckLeg) -> None:
    """All legs run at once, so that two that are late cost no more time than one."""
    other = StuckLeg("other", let_go=stuck.let_go)
    limit = 0.4
    began = time.monotonic()
    answers = ask_legs([stuck, other, TellingLeg("lexical")], make_query(), 10, limit)
    assert time.monotonic() - began < 2 * limit
    assert [answer.failure is None for answer in answers] == [False, False, True]
    stuck.let_go.set()
    assert other.came_back.wait(LONG)


def test_legs_run_at_the_same_time() -> None:
    """A leg can wait for another to be asked: none waits for the one before it to answer."""
    meeting = threading.Barrier(2, timeout=LONG)
    legs = [TellingLeg(name, afterwards=meeting.wait) for name in ("lexical", "exact")]
    assert [answer.failure for answer in ask_legs(legs, make_query(), 10, LONG)] == [None, None]


def test_no_legs_no_answers() -> None:
    """Asking nobody is answered by nobody."""
    assert ask_legs([], make_query(), 10, LONG) == ()
