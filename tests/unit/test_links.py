"""What links do to a ranking."""

import time
from itertools import pairwise

import pytest

from making import make_link, make_memory, ref_of
from recollect.core.hits import Ref, Scored
from recollect.core.links import Pointer, Served, apply_links, newest_of
from recollect.core.memory import Link, LinkKind, Memory

PRESENT: dict[Ref, Memory] = {ref_of(n): make_memory(n) for n in range(1, 10)}
NOTHING: frozenset[str] = frozenset()


def _ranked(*numbers: int) -> list[Scored]:
    return [Scored(ref_of(number), 1.0 / rank) for rank, number in enumerate(numbers, start=1)]


def _supersedes(*chain: int) -> list[Link]:
    """Link a chain from oldest to newest."""
    return [make_link(new, "supersedes", old, since=new) for old, new in pairwise(chain)]


def test_the_newest_is_served_in_place_of_the_old() -> None:
    """Of a chain only the newest is served, at the best place any of them had, naming those it replaces."""
    served = apply_links(_ranked(1, 5, 3), _supersedes(1, 2, 3), PRESENT, NOTHING)
    assert [(item.ref, item.score) for item in served] == [(ref_of(3), 1.0), (ref_of(5), 0.5)]
    assert served[0].instead_of == (ref_of(1),)


def test_several_olds_are_served_once() -> None:
    """One memory that supersedes two others comes once, and names both."""
    links = [make_link(9, "supersedes", 1), make_link(9, "supersedes", 2)]
    assert apply_links(_ranked(1, 2), links, PRESENT, NOTHING) == (Served(ref_of(9), 1.0, (ref_of(1), ref_of(2))),)


def test_of_two_that_supersede_the_same_the_later_wins() -> None:
    """The link made last says what is newest, whatever the ids say."""
    links = [make_link(2, "supersedes", 1, since=20), make_link(3, "supersedes", 1, since=10)]
    assert newest_of(links, PRESENT) == {ref_of(1): ref_of(2)}


def test_a_superseding_memory_that_is_gone_does_nothing() -> None:
    """When the newest is forgotten, the one before it is served again."""
    without = {ref: memory for ref, memory in PRESENT.items() if ref != ref_of(3)}
    assert newest_of(_supersedes(1, 2, 3), without) == {ref_of(1): ref_of(2)}


def test_a_circle_keeps_all_its_memories() -> None:
    """Memories that supersede each other, and those below them, are all served as themselves."""
    links = [*_supersedes(1, 2), make_link(1, "supersedes", 2, since=9), make_link(1, "supersedes", 4)]
    assert newest_of(links, PRESENT) == {}
    assert [item.ref for item in apply_links(_ranked(1, 2, 4), links, PRESENT, NOTHING)] == [
        ref_of(1), ref_of(2), ref_of(4),
    ]  # fmt: skip


def test_spaces_do_not_mix() -> None:
    """A link speaks of the memories of its own space."""
    ours = Ref("ours", ref_of(1).id)
    served = apply_links([Scored(ours, 1.0)], _supersedes(1, 2), {**PRESENT, ours: PRESENT[ref_of(1)]}, NOTHING)
    assert served == (Served(ours, 1.0),)


def test_answers_come_attached_three_at_most() -> None:
    """A symptom brings the first three memories that resolve it, in the order they were linked."""
    links = [make_link(1, "resolved-by", n, since=9 - n) for n in (2, 3, 4, 5)]
    (served,) = apply_links(_ranked(1), links, PRESENT, NOTHING)
    assert served.answers == (ref_of(5), ref_of(4), ref_of(3))


def test_an_answer_that_is_superseded_is_answered_by_the_newest() -> None:
    """The current answer is attached, once, and never the symptom itself."""
    links = [
        make_link(1, "resolved-by", 2),
        make_link(1, "resolved-by", 3),
        make_link(4, "supersedes", 2),
        make_link(4, "supersedes", 3),
        make_link(1, "resolved-by", 5),
        make_link(1, "supersedes", 5),
    ]
    (served,) = apply_links(_ranked(1), links, PRESENT, NOTHING)
    assert served.answers == (ref_of(4),)


def test_pointers_read_from_the_memory_they_hang_on() -> None:
    """A part points to its whole, a whole to its parts, and see-also both ways, once."""
    links = [
        make_link(1, "part-of", 2),
        make_link(3, "part-of", 1),
        make_link(1, "see-also", 4),
        make_link(4, "see-also", 1),
        make_link(5, "see-also", 1),
    ]
    (served,) = apply_links(_ranked(1), links, PRESENT, NOTHING)
    assert served.pointers == (
        Pointer("part-of", ref_of(2)),
        Pointer("has-part", ref_of(3)),
        Pointer("see-also", ref_of(4)),
        Pointer("see-also", ref_of(5)),
    )


@pytest.mark.parametrize("kind", ["resolved-by", "part-of", "see-also"])
def test_a_link_to_what_is_gone_does_nothing(kind: LinkKind) -> None:
    """Nothing points to a memory that may not be shown."""
    (served,) = apply_links(_ranked(1), [make_link(1, kind, 99)], PRESENT, NOTHING)
    assert served == Served(ref_of(1), 1.0)


def test_what_is_excluded_comes_by_no_link() -> None:
    """An excluded memory is neither served for an older one nor attached as an answer."""
    links = [make_link(2, "supersedes", 1), make_link(3, "resolved-by", 4), make_link(3, "resolved-by", 5)]
    served = apply_links(_ranked(1, 3), links, PRESENT, frozenset({ref_of(2).id, ref_of(4).id}))
    assert served == (Served(ref_of(3), 0.5, answers=(ref_of(5),)),)


def test_the_work_for_a_chain_grows_with_its_length() -> None:
    """Four hundred states of one thing, each superseding the last, cost milliseconds and not seconds."""
    chain = range(1, 400)
    present = {ref_of(n): make_memory(n) for n in chain}
    began = time.process_time()
    newest = newest_of(_supersedes(*chain), present)
    assert time.process_time() - began < 0.2  # 0.6 when each memory's way was searched for circles anew
    assert newest == {ref_of(n): ref_of(399) for n in range(1, 399)}


def test_a_chain_runs_on_through_a_memory_that_is_gone() -> None:
    """Forgetting the middle of a chain does not bring back what it had replaced."""
    present = {ref: memory for ref, memory in PRESENT.items() if ref != ref_of(2)}
    assert newest_of(_supersedes(1, 2, 3), present) == {ref_of(1): ref_of(3), ref_of(2): ref_of(3)}
    assert newest_of(_supersedes(1, 2), present) == {}
