"""A memory among others, and what an agent may know of the ways between them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from making import StandingClock, open_recollect
from recollect.core.hits import Ref
from recollect.core.spread import MOST_TIES
from recollect.service.extract import Rules, extract_waiting
from recollect.service.graph import Graph
from recollect.service.recollect import Recollect


@pytest.fixture
def clock() -> StandingClock:
    return StandingClock()


@pytest.fixture
def memory(tmp_path: Path, clock: StandingClock) -> Iterator[Recollect]:
    with open_recollect(tmp_path / "memory.db", clock) as opened:
        yield opened


def _keep(memory: Recollect, content: str, *, sensitive: bool = False) -> str:
    """Remember something, have it read, and give its id."""
    kept = memory.remember(content, sensitive=sensitive)
    extract_waiting(memory.store, Rules())
    return kept.id


def _branches(graph: Graph) -> list[tuple[set[str], list[str]]]:
    return [({tie.name for tie in branch.ties}, [other.id for other in branch.others]) for branch in graph.branches]


def test_what_leads_to_the_same_memories_is_one_branch(memory: Recollect) -> None:
    """A name and the rare words in it stand together, the rarest first, and under each those that share it."""
    film = _keep(memory, "We saw Rex Harrison in it, near Huyton.")
    actor = _keep(memory, "It is about Rex Harrison.")
    town = _keep(memory, "There is a church of Huyton, where Rex Harrison was born.")
    assert _branches(memory.graph(film)) == [
        ({"Huyton", "huyton"}, [town]),
        ({"Rex Harrison", "rex", "harrison"}, [town, actor]),
    ]
    assert memory.graph(film).further == 0


def test_the_closest_come_first(memory: Recollect) -> None:
    """Under a tie stand first those that share more besides it."""
    root = _keep(memory, "We met Ana, Bob, Carol.")
    far = _keep(memory, "We saw Ana.")
    near = _keep(memory, "We asked Ana, Bob, Carol.")
    branches = _branches(memory.graph(root))
    assert next(others for names, others in branches if "Ana" in names) == [near, far]


def test_links_are_ties(memory: Recollect) -> None:
    """What somebody linked stands in the graph from either side, but for what takes another's place."""
    one, other, newer = (_keep(memory, content) for content in ("alpha", "beta", "gamma"))
    memory.link(one, "see-also", other)
    memory.link(newer, "supersedes", one)
    assert _branches(memory.graph(one)) == [({"see-also"}, [other])]
    assert _branches(memory.graph(other)) == [({"see-also"}, [one])]
    assert _branches(memory.graph(newer)) == []


def test_ties_beyond_those_that_carry_are_counted(memory: Recollect) -> None:
    """Of a memory with very many ties the rarest are shown, as score would flow, and the rest are counted."""
    names = ", ".join(f"Name{number}" for number in range(MOST_TIES + 5))
    root = _keep(memory, f"We met {names}.")
    _keep(memory, f"We asked {names}.")
    graph = memory.graph(root)
    assert sum(len(branch.ties) for branch in graph.branches) == MOST_TIES
    assert graph.further >= 5


def test_a_sensitive_memory_has_no_ties(memory: Recollect) -> None:
    """Nothing leads from it or to it: not by the words that its owner finds it by, and not by a link."""
    root = _keep(memory, "We met Ana in Huyton.")
    hidden = _keep(memory, "Ana of Huyton has the password.", sensitive=True)
    memory.link(root, "see-also", hidden)
    assert _branches(memory.graph(root)) == []
    assert _branches(memory.graph(hidden)) == []


def test_the_past_has_the_ties_it_had(memory: Recollect, clock: StandingClock) -> None:
    """As of a moment, a link that was ended since is there, and one that was made since is not."""
    one, other = _keep(memory, "alpha"), _keep(memory, "beta")
    before = clock.now
    clock.move()
    memory.link(one, "see-also", other)
    then = clock.move()
    clock.move()
    memory.unlink(one, "see-also", other)
    assert [_branches(memory.graph(one, as_of)) for as_of in (before, then, None)] == [
        [],
        [({"see-also"}, [other])],
        [],
    ]


def test_an_agent_is_told_no_way_that_a_hidden_memory_is_an_end_of(memory: Recollect, clock: StandingClock) -> None:
    """What both ends say is known only to who may read both, then and now; its owner is told."""
    source = _keep(memory, "The vault of Huyton opens at noon.")
    target = _keep(memory, "In Huyton it rains.")
    then = clock.move()
    ref = Ref("personal", target)
    asked = memory.query("when does the vault open", as_of=then)
    answer = memory.answer(asked)
    assert [came.source.id for came in memory.ways(answer, ref)] == [source]
    assert memory.ways(memory.hide_ways(answer, ref), ref) == memory.ways(answer, ref)
    assert "huyton" in memory.why_not(asked, target, agent=True).reason.lower()
    clock.move()
    memory.edit(source, sensitive=True)
    answer = memory.answer(asked)
    assert memory.ways(memory.hide_ways(answer, ref), ref) == ()
    assert "huyton" not in memory.why_not(asked, target, agent=True).reason.lower()


def test_a_program_that_recalls_has_concepts_read(memory: Recollect) -> None:
    """Where nobody else reads, a recall does first, so that what was just remembered leads to others."""
    memory.remember("The vault is in Huyton.")
    memory.remember("In Huyton it rains.")
    memory.recall("vault")
    assert memory.store.concepts.readers() == []
    reading = Recollect(memory.store, memory.clock, memory.random, memory.space, reading_seconds=60.0)
    assert [found.memory.content for found in reading.recall("vault").results] == [
        "The vault is in Huyton.",
        "In Huyton it rains.",
    ]
    assert [reader.waiting for reader in memory.store.concepts.readers()] == [0]
