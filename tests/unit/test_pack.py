from making import make_memory, ref_of
from recollect.core.hits import Hit, LegAnswer, Ref
from recollect.core.links import Pointer, Served
from recollect.core.memory import Memory
from recollect.core.pack import Packed, count_tokens, pack

# Ten tokens, four tokens, one token.
MEMORIES: dict[Ref, Memory] = {
    ref_of(1): make_memory(1, "x" * 40),
    ref_of(2): make_memory(2, "y" * 16),
    ref_of(3): make_memory(3, "z"),
}
RANKING = [Served(ref_of(1), 0.9), Served(ref_of(2), 0.5), Served(ref_of(3), 0.1)]


def _pack(
    ranking: list[Served],
    *,
    limit: int = 10,
    budget: int | None = None,
    floors: dict[str, float] | None = None,
    evidence: dict[str, dict[int, float]] | None = None,
) -> Packed:
    answers = [
        LegAnswer(leg, tuple(Hit(ref_of(number), 1.0, share) for number, share in shares.items()))
        for leg, shares in (evidence or {}).items()
    ]
    return pack(ranking, MEMORIES, answers, floors=floors or {}, limit=limit, budget=budget)


def test_tokens_are_counted_in_fours_and_rounded_up() -> None:
    """Four characters are a token, and so is what is left of them."""
    assert [count_tokens("x" * length) for length in (0, 1, 4, 5, 8)] == [0, 1, 1, 2, 2]


def test_everything_fits_without_limits() -> None:
    """With room for all, all is served in order and its tokens are added up."""
    packed = _pack(RANKING)
    assert (packed.served, packed.left_out, packed.tokens) == (tuple(RANKING), {}, 15)


def test_the_limit_counts_memories() -> None:
    """What comes behind the limit is left out and said to be."""
    packed = _pack(RANKING, limit=2)
    assert [item.ref for item in packed.served] == [ref_of(1), ref_of(2)]
    assert packed.left_out == {ref_of(3): "over the limit"}


def test_the_budget_takes_whole_memories_and_the_smaller_one_behind() -> None:
    """What does not fit the budget is passed over for a smaller memory, never cut."""
    packed = _pack(RANKING, budget=11)
    assert [item.ref for item in packed.served] == [ref_of(1), ref_of(3)]
    assert packed.left_out == {ref_of(2): "over the budget"}
    assert packed.tokens == 11


def test_a_budget_smaller_than_any_memory_serves_nothing() -> None:
    """No memory is cut to make it fit."""
    packed = _pack(RANKING[:2], budget=3)
    assert (packed.served, packed.tokens) == ((), 0)
    assert set(packed.left_out.values()) == {"over the budget"}


def test_answers_count_against_the_budget_but_not_against_the_limit() -> None:
    """An attached answer costs its tokens and takes no place."""
    with_answer = [Served(ref_of(2), 0.9, answers=(ref_of(1),)), Served(ref_of(3), 0.5)]
    assert _pack(with_answer, limit=2).tokens == 4 + 10 + 1
    assert [item.ref for item in _pack(with_answer, budget=14).served] == [ref_of(2)]


def test_an_answer_that_does_not_fit_is_pointed_to() -> None:
    """A large answer does not push its symptom out of the budget: it stays behind, and is said to be there."""
    ranking = [Served(ref_of(2), 0.9, answers=(ref_of(1),)), Served(ref_of(3), 0.5)]
    packed = _pack(ranking, budget=13)
    assert packed.served[0] == Served(ref_of(2), 0.9, pointers=(Pointer("resolved-by", ref_of(1)),))
    assert (packed.tokens, packed.left_out) == (4 + 1, {})


def test_nothing_is_given_twice() -> None:
    """An answer that stands further up is pointed to; one attached further up is not served again; both cost once."""
    served_first = [Served(ref_of(2), 0.9), Served(ref_of(1), 0.5, answers=(ref_of(2),))]
    packed = _pack(served_first)
    assert packed.served == (served_first[0], Served(ref_of(1), 0.5, pointers=(Pointer("resolved-by", ref_of(2)),)))
    assert packed.tokens == 4 + 10
    attached_first = [Served(ref_of(1), 0.9, answers=(ref_of(2),)), Served(ref_of(2), 0.5), Served(ref_of(3), 0.1)]
    packed = _pack(attached_first, limit=2)
    assert packed.served == (attached_first[0], attached_first[2])
    assert (packed.tokens, packed.left_out) == (10 + 4 + 1, {})


def test_an_answer_shared_by_two_symptoms_comes_once() -> None:
    """The second symptom points to the answer that the first one brought."""
    ranking = [Served(ref_of(1), 0.9, answers=(ref_of(3),)), Served(ref_of(2), 0.5, answers=(ref_of(3),))]
    packed = _pack(ranking)
    assert [(item.answers, item.pointers) for item in packed.served] == [
        ((ref_of(3),), ()),
        ((), (Pointer("resolved-by", ref_of(3)),)),
    ]
    assert packed.tokens == 10 + 1 + 4


def test_what_is_under_the_floor_is_left_out_and_takes_no_place() -> None:
    """The floor reads each leg's evidence; exactly at the floor stands."""
    packed = _pack(RANKING, limit=2, floors={"lexical": 0.5}, evidence={"lexical": {1: 0.49, 2: 0.5, 3: 0.9}})
    assert [item.ref for item in packed.served] == [ref_of(2), ref_of(3)]
    assert packed.left_out == {ref_of(1): "under the floor"}


def test_one_leg_with_enough_evidence_is_enough() -> None:
    """A memory stands when any leg's evidence reaches that leg's own floor."""
    floors = {"lexical": 0.8, "exact": 0.6}
    evidence = {"lexical": {1: 0.7, 2: 0.7}, "exact": {1: 0.6, 2: 0.5}}
    assert [item.ref for item in _pack(RANKING[:2], floors=floors, evidence=evidence).served] == [ref_of(1)]


def test_what_stands_for_an_older_memory_stands_on_its_evidence() -> None:
    """A superseding memory that no leg found passes the floor by what speaks for the one it replaces."""
    ranking = [Served(ref_of(2), 0.9, instead_of=(ref_of(1),)), Served(ref_of(3), 0.5)]
    packed = _pack(ranking, floors={"lexical": 0.5}, evidence={"lexical": {1: 0.6}})
    assert [item.ref for item in packed.served] == [ref_of(2)]
    assert packed.left_out == {ref_of(3): "under the floor"}


def test_no_floor_asks_for_no_evidence() -> None:
    """With every floor at 0 a memory without evidence stands too."""
    assert len(_pack(RANKING, floors={"lexical": 0.0, "exact": 0.0}).served) == 3
