"""What every store does with links."""

import pytest

from making import at, make_link, make_memory, make_query, ref_of
from recollect.core.errors import NotFound
from recollect.core.memory import Link
from recollect.core.ports import Store
from recollect.service.recall import recall


@pytest.fixture(autouse=True)
def _memories(store: Store) -> None:
    store.memories.add([make_memory(n) for n in range(1, 8)])


def test_a_link_is_kept_and_found_from_both_ends(store: Store) -> None:
    """What was linked is given for its source and for its target, and for nobody else."""
    link = make_link(1, "see-also", 2, since=10)
    assert store.links.add(link)
    assert store.links.among([ref_of(1)]) == store.links.among([ref_of(2)]) == [link]
    assert store.links.among([ref_of(1), ref_of(2)]) == [link]
    assert store.links.among([ref_of(3)]) == store.links.among([]) == []
    assert store.links.among([ref_of(1, "elsewhere")]) == []


def test_a_link_that_holds_is_not_added_twice(store: Store) -> None:
    """Adding a link that is there says so; the other direction and another kind are other links."""
    assert store.links.add(make_link(1, "see-also", 2, since=10))
    assert not store.links.add(make_link(1, "see-also", 2, since=20))
    assert store.links.add(make_link(2, "see-also", 1, since=20))
    assert store.links.add(make_link(1, "part-of", 2, since=20))
    assert len(store.links.among([ref_of(1)])) == 3


@pytest.mark.parametrize(("source", "target"), [(1, 99), (99, 1)])
def test_a_link_needs_both_ends(store: Store, source: int, target: int) -> None:
    """A link to or from what is not there is refused, naming it."""
    with pytest.raises(NotFound, match="63"):
        store.links.add(make_link(source, "see-also", target))
    with pytest.raises(NotFound):
        store.links.add(Link("elsewhere", ref_of(1).id, "see-also", ref_of(2).id, at(0)))


def test_an_ended_link_is_gone_now_and_was_there_then(store: Store) -> None:
    """Ending keeps the link for its own time, from the microsecond it began to the one before it ended."""
    link = make_link(1, "see-also", 2, since=10)
    store.links.add(link)
    assert store.links.end(link, at(20))
    assert not store.links.end(link, at(30))
    ended = make_link(1, "see-also", 2, since=10, until=20)
    assert store.links.among([ref_of(1)]) == []
    assert store.links.among([ref_of(1)], at(9.999999)) == []
    assert store.links.among([ref_of(1)], at(10)) == store.links.among([ref_of(1)], at(19.999999)) == [ended]
    assert store.links.among([ref_of(1)], at(20)) == []


def test_a_link_can_be_made_again(store: Store) -> None:
    """After it ended, the same link holds anew, and both times are remembered."""
    store.links.add(make_link(1, "see-also", 2, since=10))
    store.links.end(make_link(1, "see-also", 2), at(20))
    again = make_link(1, "see-also", 2, since=30)
    assert store.links.add(again)
    assert store.links.among([ref_of(1)]) == [again]
    assert store.links.all_of(ref_of(1)) == [make_link(1, "see-also", 2, since=10, until=20), again]


def test_ending_what_is_not_there(store: Store) -> None:
    """There is nothing to end between memories or spaces that are not linked."""
    assert not store.links.end(make_link(1, "see-also", 2), at(1))
    assert not store.links.end(make_link(1, "see-also", 99), at(1))
    assert not store.links.end(Link("elsewhere", ref_of(1).id, "see-also", ref_of(2).id, at(0)), at(1))


def test_links_come_with_the_chain_of_what_supersedes(store: Store) -> None:
    """Asking for the oldest of a chain gives every link up to the newest, and what hangs on those."""
    chain = [make_link(new, "supersedes", new - 1, since=new) for new in (2, 3, 4)]
    beside = make_link(4, "see-also", 7, since=9)
    for link in (*chain, beside):
        store.links.add(link)
    assert store.links.among([ref_of(1)]) == [*chain, beside]
    assert store.links.among([ref_of(4)]) == [chain[2], beside]


def test_a_recall_brings_the_present_answer(store: Store) -> None:
    """A symptom resolved by what was superseded since comes with the newest answer, which no word of it finds."""
    store.memories.add([make_memory(20, "kiwi"), make_memory(21, "melon"), make_memory(22, "plum")])
    store.links.add(make_link(20, "resolved-by", 21, since=10))
    store.links.add(make_link(22, "supersedes", 21, since=20))
    (found,) = recall(store, make_query("kiwi")).results
    assert [answer.content for answer in found.answers] == ["plum"]
    (then,) = recall(store, make_query("kiwi", as_of=at(22))).results
    assert [answer.content for answer in then.answers] == ["plum"]


def test_a_circle_of_supersedes_ends(store: Store) -> None:
    """Memories that supersede each other give their links once and do not hang."""
    links = [make_link(2, "supersedes", 1, since=1), make_link(3, "supersedes", 2, since=2)]
    links.append(make_link(1, "supersedes", 3, since=3))
    for link in links:
        store.links.add(link)
    assert store.links.among([ref_of(1)]) == links


def test_a_chain_is_followed_as_it_was(store: Store) -> None:
    """As of a moment, only links that held then lead on."""
    store.links.add(make_link(2, "supersedes", 1, since=10))
    store.links.add(make_link(3, "supersedes", 2, since=20))
    store.links.end(make_link(2, "supersedes", 1), at(30))
    assert [link.source for link in store.links.among([ref_of(1)], at(15))] == [ref_of(2).id]
    assert [link.source for link in store.links.among([ref_of(1)], at(25))] == [ref_of(2).id, ref_of(3).id]
    assert store.links.among([ref_of(1)]) == []


def test_a_link_that_ended_elsewhere_is_taken_in(store: Store) -> None:
    """An import brings links that are over already; taking one in twice changes nothing."""
    ended = make_link(1, "see-also", 2, since=10, until=20)
    assert store.links.add(ended)
    assert not store.links.add(ended)
    assert store.links.all_of(ref_of(1)) == [ended]
    assert store.links.among([ref_of(1)]) == []
    assert store.links.add(make_link(1, "see-also", 2, since=30))


def test_all_of_gives_links_from_a_memory_only(store: Store) -> None:
    """Every link is given once over all memories: by its source, oldest first."""
    one, two = make_link(1, "see-also", 2, since=2), make_link(1, "part-of", 3, since=1)
    store.links.add(one)
    store.links.add(two)
    store.links.add(make_link(2, "see-also", 1, since=3))
    assert store.links.all_of(ref_of(1)) == [two, one]
    assert store.links.all_of(ref_of(3)) == store.links.all_of(ref_of(99)) == []
    assert store.links.all_of(ref_of(1, "elsewhere")) == []


def test_links_of_several_spaces(store: Store) -> None:
    """Each space gives its own links, though the ids are the same."""
    store.memories.add([make_memory(n, space="ours") for n in (1, 2, 3)])
    mine = make_link(1, "see-also", 2, since=1)
    ours = Link("ours", ref_of(1).id, "see-also", ref_of(3).id, at(2))
    store.links.add(mine)
    store.links.add(ours)
    assert sorted(store.links.among([ref_of(1), ref_of(1, "ours")]), key=lambda link: link.created_at) == [mine, ours]
    assert store.links.among([ref_of(1, "ours")]) == [ours]
