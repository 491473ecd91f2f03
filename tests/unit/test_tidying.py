"""What is proposed to be tidied up."""

import random
from datetime import UTC, datetime, timedelta

import pytest

from making import at, id_of, make_memory
from recollect.core.memory import Memory
from recollect.core.tidying import Proposal, propose

SOON = at(1000)
NOW = at(0) + timedelta(days=400)


def proposed(
    *memories: Memory, given: frozenset[str] | None = None, now: datetime = SOON
) -> list[tuple[str, int, int]]:
    """Give the kind of each proposal, and the numbers of what it drops and keeps."""
    return [_numbered(each) for each in propose(memories, now, given)]


def _numbered(proposal: Proposal) -> tuple[str, int, int]:
    return proposal.kind, _number(proposal.drop), _number(proposal.keep) if proposal.keep else 0


def _number(memory: Memory) -> int:
    return int(memory.id[-8:], 16)


def test_of_two_that_say_the_same_the_newer_is_kept() -> None:
    """The older goes, unless it says more."""
    same = ("Deploys run on Tuesdays at ten.", "deploys are run on Tuesdays at ten")
    assert proposed(make_memory(1, same[0]), make_memory(2, same[1])) == [("duplicate", 1, 2)]
    longer = "Deploys run, as ever, on Tuesdays at ten."
    assert proposed(make_memory(1, longer), make_memory(2, same[1])) == [("duplicate", 2, 1)]
    assert proposed(make_memory(1, same[0] + " "), make_memory(2, same[0])) == [("duplicate", 2, 1)]


def test_the_newer_of_two_that_contradict_each_other_supersedes() -> None:
    """What was said last stands."""
    ports = [make_memory(number, f"The staging database listens on port {5430 + number}.") for number in (1, 2)]
    assert proposed(*ports) == [("contradiction", 1, 2)]
    assert proposed(*reversed(ports)) == [("contradiction", 1, 2)]


def test_what_no_recall_brings_together_is_left_alone() -> None:
    """Memories of two projects, turns of one conversation and questions are not compared."""
    text = "The staging database listens on port {}."
    for fields in (
        [{"project": "a"}, {"project": "b"}],
        [{"space": "a"}, {"space": "b"}],
        [{"session": "s", "place": 1}, {"session": "s", "place": 2}],
    ):
        pair = [make_memory(number, text.format(number), **fields[number]) for number in (0, 1)]
        assert proposed(*pair) == []
    assert proposed(make_memory(1, "Does it run on port 1?"), make_memory(2, "Does it run on port 1?")) == []
    assert proposed(make_memory(1, text.format(1)), make_memory(2, text.format(2), project="a")) != []


def test_nobody_misses_what_goes() -> None:
    """What holds in every project does not go for what one project knows, nor what is pinned for what is not."""
    text = "Answers are written in British English."
    assert proposed(make_memory(1, text), make_memory(2, text, project="a")) == [("duplicate", 2, 1)]
    assert proposed(make_memory(1, text, project="a"), make_memory(2, text)) == [("duplicate", 1, 2)]
    assert proposed(make_memory(1, text, tags=("pinned",)), make_memory(2, text)) == [("duplicate", 2, 1)]
    pinned = make_memory(1, text, project="a", tags=("pinned",))
    assert proposed(pinned, make_memory(2, text)) == []
    assert proposed(pinned, make_memory(2, text, project="a", tags=("pinned",))) == [("duplicate", 1, 2)]


def test_what_says_the_same_as_what_is_contradicted_stays_with_it() -> None:
    """A memory is not said to say the same as what contradicts its twin."""
    ports = [make_memory(number, f"The staging database listens on port {port}.") for number, port in ((1, 1), (2, 1))]
    newest = make_memory(3, "The staging database listens on port 2.")
    assert proposed(*ports, newest) == [("duplicate", 1, 2), ("contradiction", 2, 3)]


def test_a_memory_is_dropped_once() -> None:
    """Of many that say the same all but one go, and nothing is kept for what goes itself."""
    many = [make_memory(number, "Deploys run on Tuesdays at ten.") for number in range(1, 6)]
    assert proposed(*many) == [("duplicate", number, 5) for number in range(1, 5)]


@pytest.mark.parametrize(
    "text",
    [
        "The old API stays until 2025-03.",
        "The certificate is valid until 2025-12-31.",
        "The contract runs through March 2025.",
        "The freeze ends on 3 June 2025.",
        "The key expires on June 3rd, 2025.",
        "The offer is valid until the end of 2025.",
    ],
)
def test_what_has_run_out(text: str) -> None:
    """A day, a month or a year that something lasted until, and that is over."""
    assert proposed(make_memory(1, text), now=datetime(2026, 1, 1, tzinfo=UTC)) == [("stale", 1, 0)]
    assert proposed(make_memory(1, text), now=datetime(2025, 2, 1, tzinfo=UTC)) == []


def test_what_was_of_a_moment() -> None:
    """What was to be done, or held for now, is stale after a season, and not before."""
    for text in ("TODO: move the cart to the new API.", "The cache is switched off for now."):
        assert proposed(make_memory(1, text), now=at(0) + timedelta(days=100)) == [("stale", 1, 0)]
        assert proposed(make_memory(1, text), now=at(0) + timedelta(days=80)) == []
    assert proposed(make_memory(1, "The freeze holds until 2025-99."), now=NOW) == []


def test_what_nobody_was_given_for_a_year() -> None:
    """A memory is of no use if prompts were long given others and never it, unless it is important."""
    memory = make_memory(1, "Deploys run on Tuesdays.")
    assert proposed(memory, given=frozenset(), now=NOW) == [("stale", 1, 0)]
    assert proposed(memory, given=frozenset((id_of(1),)), now=NOW) == []
    assert proposed(memory, given=None, now=NOW) == []
    assert proposed(make_memory(1, importance=0.9), given=frozenset(), now=NOW) == []
    assert proposed(memory, given=frozenset(), now=at(0) + timedelta(days=300)) == []


def test_not_every_two_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Among thousands of memories, only those that share one of their rarest terms are looked at."""
    from recollect.core import tidying

    generator = random.Random(7)
    words = [f"word{number}x" for number in range(3000)]
    memories = [make_memory(number, " ".join(generator.sample(words, 12))) for number in range(1, 2001)]
    memories.append(make_memory(2001, memories[0].content))
    compared: list[object] = []
    original = tidying._may_meet  # noqa: SLF001

    def count(one: Memory, other: Memory) -> bool:
        compared.append(None)
        return original(one, other)

    monkeypatch.setattr(tidying, "_may_meet", count)
    assert proposed(*memories) == [("duplicate", 1, 2001)]
    assert len(compared) < 20_000
