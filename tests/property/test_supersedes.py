"""Chains and circles of what supersedes what."""

from hypothesis import given
from hypothesis import strategies as st

from making import id_of, make_link, make_memory, ref_of
from recollect.core.hits import Scored
from recollect.core.links import apply_links, newest_of
from recollect.core.memory import Link, LinkKind

NUMBERS = st.integers(1, 8)
KINDS: st.SearchStrategy[LinkKind] = st.sampled_from(
    ("supersedes", "supersedes", "supersedes", "resolved-by", "see-also")
)
links = st.lists(
    st.builds(lambda s, k, t, at: make_link(s, k, t, since=at), NUMBERS, KINDS, NUMBERS, st.integers(0, 5))
)
rankings = st.lists(NUMBERS, unique=True, min_size=1)
PRESENT = {ref_of(n): make_memory(n) for n in range(1, 9)}


@given(links, st.sets(NUMBERS))
def test_the_newest_is_superseded_by_nothing(linked: list[Link], gone: set[int]) -> None:
    """Whatever is served for an older memory is there, is not outdated itself, and is not the older one."""
    present = {ref: memory for ref, memory in PRESENT.items() if ref not in {ref_of(n) for n in gone}}
    newest = newest_of(linked, present)
    assert not set(newest.values()) & set(newest)
    assert set(newest.values()) <= set(present)


@given(links, rankings)
def test_nothing_is_lost_and_nothing_doubled(linked: list[Link], ranked: list[int]) -> None:
    """Every memory ranked is served or stood for by one that is, once, at the best place of those it stands for."""
    ranking = [Scored(ref_of(number), 1 / place) for place, number in enumerate(ranked, start=1)]
    served = apply_links(ranking, linked, PRESENT, frozenset())
    assert served
    refs = [item.ref for item in served]
    assert len(set(refs)) == len(refs)
    standing = {item.ref: {item.ref, *item.instead_of} for item in served}
    assert {item.ref for item in ranking} <= set().union(*standing.values())
    for item in served:
        assert item.score == max(each.score for each in ranking if each.ref in standing[item.ref])
        assert item.ref not in item.instead_of
        assert item.ref not in item.answers
    assert [item.score for item in served] == sorted((item.score for item in served), reverse=True)


@given(links, rankings, st.sets(NUMBERS))
def test_what_is_excluded_never_comes_back(linked: list[Link], ranked: list[int], excluded: set[int]) -> None:
    """No link brings a memory that the prompt holds already."""
    exclude = frozenset(map(id_of, excluded))
    ranking = [Scored(ref_of(number), 1 / place) for place, number in enumerate(ranked, start=1)]
    for item in apply_links([each for each in ranking if each.ref.id not in exclude], linked, PRESENT, exclude):
        assert item.ref.id not in exclude
        assert not exclude & {answer.id for answer in item.answers}


@given(links, rankings, st.randoms(use_true_random=False))
def test_the_order_in_which_links_come_does_not_matter(linked: list[Link], ranked: list[int], chance: object) -> None:
    """A store may give links in any order: what is served depends on when they were made."""
    ranking = [Scored(ref_of(number), 1 / place) for place, number in enumerate(ranked, start=1)]
    distinct = list({(link.source, link.kind, link.target): link for link in linked}.values())
    shuffled = list(distinct)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    assert apply_links(ranking, shuffled, PRESENT, frozenset()) == apply_links(ranking, distinct, PRESENT, frozenset())
