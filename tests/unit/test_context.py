"""What a hit takes of its neighbours: who may enter, and who is left alone. How much is for the benchmark to say."""

from dataclasses import replace

from making import make_answer, make_memory, ref_of
from recollect.core.context import REACH, read_together, take_context
from recollect.core.hits import LegAnswer, Surroundings

PARTS = {"lexical": 1.0, "dense": 1.0}


def _stand(number: int, *others: tuple[int, int]) -> Surroundings:
    """Give who stands next to a memory, and it next to them: others by number, with their distances."""
    counts = {ref_of(other): tuple(int(away == each) for each in range(1, REACH + 1)) for other, away in others}
    counts[ref_of(number)] = tuple(sum(away == each for _, away in others) for each in range(1, REACH + 1))
    return Surroundings({ref_of(number): [(ref_of(other), away) for other, away in others]}, counts)


def _found(answer: LegAnswer) -> list[int]:
    return [int(hit.ref.id[-12:], 16) for hit in answer.hits]


def test_without_neighbours_nothing_changes() -> None:
    """What belongs to no session is handed on as it came."""
    answers = (make_answer("lexical", {1: 2.0, 2: 1.0}), make_answer("dense", {3: 0.5}, least=-1.0))
    assert take_context(answers, Surroundings(), PARTS) == answers
    assert take_context(answers, _stand(9, (8, 1)), PARTS) == answers


def test_a_leg_without_a_part_is_left_alone() -> None:
    """Part 0, or none, takes nothing; the other leg is not touched by that."""
    answers = (make_answer("lexical", {1: 2.0}), make_answer("dense", {1: 0.5}), make_answer("exact", {1: 0.5}))
    words, meaning, rare = take_context(answers, _stand(1, (5, 1)), {"lexical": 1.0, "dense": 0.0})
    assert (meaning, rare) == answers[1:]
    assert _found(words) == [1, 5]


def test_a_neighbour_that_was_not_found_may_enter() -> None:
    """It comes in behind the hit that brings it, the nearer before the farther, with evidence of its own."""
    near = _stand(1, *((10 + distance, distance) for distance in range(1, REACH + 1)))
    (answer,) = take_context([make_answer("lexical", {1: 2.0})], near, PARTS)
    assert _found(answer) == [1, *range(11, 11 + REACH)]
    assert all(hit.score > 0 and 0 < hit.evidence <= 1 for hit in answer.hits)


def test_the_order_is_by_score_and_then_by_id() -> None:
    """Equal scores stand by id, in whatever order the neighbours were given."""
    for others in (((9, 1), (4, 1)), ((4, 1), (9, 1))):
        (answer,) = take_context([make_answer("lexical", {6: 1.0})], _stand(6, *others), PARTS)
        assert _found(answer) == [6, 4, 9]


def test_the_frame_of_an_answer_stays() -> None:
    """Leg, least score, time and failure are what they were."""
    before = replace(make_answer("dense", {1: 0.5}, least=-1.0), milliseconds=7.0)
    failed = make_answer("lexical", {}, failure="it failed")
    answer, same = take_context([before, failed], _stand(1, (2, 1)), PARTS)
    assert (answer.leg, answer.least, answer.milliseconds, answer.failure) == ("dense", -1.0, 7.0, None)
    assert same == failed


def test_a_turn_without_turns_before_is_read_alone() -> None:
    """There is nothing to read it together with."""
    assert read_together(make_memory(1, "Yes."), ()) == ()
