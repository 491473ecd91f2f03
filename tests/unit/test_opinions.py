"""Asking a cross-encoder: one that is late, fails or miscounts has no say, and none sees what is sensitive."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import pytest

from making import make_memory, ref_of
from recollect.service.opinions import Opinions, ask_reranker

LONG = 60.0
"""Seconds that no healthy cross-encoder comes near."""
MEMORIES = [make_memory(n, f"text {n}") for n in (1, 2, 3)]


@dataclass
class TellingReranker:
    """Scores by the given rule, and remembers what it was shown."""

    rule: Callable[[str, Sequence[str]], list[float]] = lambda _query, texts: [float(text[-1]) for text in texts]
    shown: list[tuple[str, list[str]]] = field(default_factory=list)

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        self.shown.append((query, list(texts)))
        return self.rule(query, texts)


@dataclass
class StuckReranker:
    """Does not come back before it is let go."""

    let_go: threading.Event = field(default_factory=threading.Event)
    came_back: threading.Event = field(default_factory=threading.Event)

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        assert query
        self.let_go.wait(LONG)
        self.came_back.set()
        return [1.0] * len(texts)


@pytest.fixture
def stuck() -> Iterator[StuckReranker]:
    reranker = StuckReranker()
    yield reranker
    reranker.let_go.set()
    assert reranker.came_back.wait(LONG)


def test_every_memory_has_its_score() -> None:
    """The query and the texts are shown as they are, and the scores come back by memory."""
    reranker = TellingReranker()
    opinions = ask_reranker(reranker, "which one?", MEMORIES, LONG)
    assert opinions == Opinions({ref_of(1): 1.0, ref_of(2): 2.0, ref_of(3): 3.0})
    assert reranker.shown == [("which one?", ["text 1", "text 2", "text 3"])]


def test_a_sensitive_memory_is_never_shown() -> None:
    """It has no opinion, and the others' opinions stay theirs."""
    reranker = TellingReranker()
    secret = make_memory(9, "secret 9", sensitive=True)
    opinions = ask_reranker(reranker, "which?", [MEMORIES[0], secret, MEMORIES[1]], LONG)
    assert opinions == Opinions({ref_of(1): 1.0, ref_of(2): 2.0})
    assert "secret" not in str(reranker.shown)


def test_a_late_one_has_no_say(stuck: StuckReranker) -> None:
    """It is left out while it still works, with the time it had."""
    began = time.monotonic()
    assert ask_reranker(stuck, "which?", MEMORIES, 0.05) == Opinions(failure="it took longer than 50 ms")
    assert time.monotonic() - began < LONG / 4
    assert not stuck.came_back.is_set()


@pytest.mark.parametrize(
    ("error", "failure"),
    [(RuntimeError("no memory left."), "no memory left"), (OSError("gone"), "gone"), (KeyError(), "KeyError")],
)
def test_a_failing_one_has_no_say(error: Exception, failure: str) -> None:
    """Whatever it raises is told, and goes no further."""

    def fail(_query: str, _texts: Sequence[str]) -> list[float]:
        raise error

    assert ask_reranker(TellingReranker(fail), "which?", MEMORIES, LONG) == Opinions(failure=failure)


@pytest.mark.parametrize("number", [0, 2, 4])
def test_one_that_miscounts_has_no_say(number: int) -> None:
    """Scores that cannot be told whose they are count for nobody."""
    reranker = TellingReranker(lambda _query, _texts: [0.5] * number)
    opinions = ask_reranker(reranker, "which?", MEMORIES, LONG)
    assert opinions == Opinions(failure=f"it gave {number} scores for 3 memories")
