from dataclasses import replace

from making import make_answer, ref_of
from recollect.core.hits import Scored
from recollect.core.spread import Way
from recollect.core.trace import STAGES, StageTrace, Standing, Step, Trace, WhyNot, explain, hands_on, ways_to, why_not

IN_SCOPE = Standing("in scope")
RANKING = (Scored(ref_of(1), 0.9), Scored(ref_of(2), 0.4), Scored(ref_of(3), 0.2))
TRACE = Trace(
    answers=(make_answer("lexical", {1: 6.0, 2: 3.0, 4: 2.0}), make_answer("exact", {}, failure="it failed: boom")),
    stages=(
        StageTrace("legs", (), 1.0),
        StageTrace("context", (), 0.0, on=False),
        StageTrace("fusion", (*RANKING, Scored(ref_of(4), 0.1)), 0.1),
        StageTrace("links", RANKING, 0.1),
        StageTrace("pack", RANKING[:1], 0.1),
    ),
    replaced={ref_of(4): ref_of(1), ref_of(5): ref_of(6)},
    attached={ref_of(7): ref_of(1)},
    left_out={ref_of(2): "over the limit", ref_of(3): "under the floor"},
)


def test_the_stages_are_the_path_of_a_recall() -> None:
    """The names and their order are part of the trace, the metrics and the documentation."""
    assert STAGES == ("legs", "context", "fusion", "spread", "rerank", "prior", "links", "pack")


def test_explain_follows_a_memory_through_legs_and_stages() -> None:
    """Every leg and stage tells rank and score, that it is off, or why it knows nothing."""
    assert explain(TRACE, ref_of(2)) == (
        Step("lexical", 2, 3.0),
        Step("exact", None, None, "it failed: boom"),
        Step("legs", None, None),
        Step("context", None, None, "off"),
        Step("fusion", 2, 0.4),
        Step("links", 2, 0.4),
        Step("pack", None, None),
    )
    assert explain(TRACE, ref_of(9))[0] == Step("lexical", None, None, "not found by this leg")


def test_why_not_of_a_memory_that_was_recalled() -> None:
    """A memory in the answer is said to be found, at its rank."""
    assert why_not(TRACE, ref_of(1), IN_SCOPE, {}) == WhyNot("pack", "It was recalled, at rank 1.", 1, found=True)


def test_why_not_names_what_pack_left_out() -> None:
    """What pack dropped is told with the rank it had and the reason."""
    assert why_not(TRACE, ref_of(2), IN_SCOPE, {}) == WhyNot("pack", "It stood at rank 2, over the limit.", 2)
    assert why_not(TRACE, ref_of(3), IN_SCOPE, {}).reason == "It stood at rank 3, under the floor."


def test_why_not_names_what_superseded_it() -> None:
    """An outdated memory is told to be, with the newer one's id and the rank it last had."""
    told = why_not(TRACE, ref_of(4), IN_SCOPE, {})
    assert (told.stage, told.rank, told.found) == ("links", 4, False)
    assert f"{ref_of(1).id} supersedes it, and is served in its place" in told.reason
    assert "served" not in why_not(TRACE, ref_of(5), IN_SCOPE, {}).reason


def test_why_not_of_an_attached_answer() -> None:
    """A memory that came along with another one is found, though it has no rank of its own."""
    told = why_not(TRACE, ref_of(7), IN_SCOPE, {})
    assert (told.stage, told.rank, told.found) == ("links", None, True)
    assert f"attached to {ref_of(1).id}" in told.reason


def test_why_not_tells_what_the_legs_know() -> None:
    """A memory that no leg brought comes with each leg's evidence and with the legs that failed."""
    told = why_not(TRACE, ref_of(9), IN_SCOPE, {"lexical": "it holds none of the query's words"})
    assert (told.stage, told.found) == ("legs", False)
    assert told.reason == (
        "No leg brought it. lexical: it holds none of the query's words; exact was left out (it failed: boom)."
    )


def test_why_not_names_what_fusion_left_behind() -> None:
    """What a leg found and all legs together did not bring on is told with where the leg had it."""
    trace = Trace(answers=(make_answer("lexical", {1: 6.0, 8: 3.0}),), stages=TRACE.stages)
    told = why_not(trace, ref_of(8), IN_SCOPE, {})
    assert (told.stage, told.found) == ("fusion", False)
    assert "lexical at rank 2" in told.reason


def test_why_not_stops_at_the_scope() -> None:
    """A memory outside the scope is lost before any leg is asked."""
    assert why_not(Trace(), ref_of(1), Standing("forgotten", "It was forgotten."), {}) == WhyNot(
        "scope", "It was forgotten."
    )
    assert why_not(Trace(), ref_of(1), Standing("other scope"), {}).reason == "other scope"


# Score flows from 1 and 2: to 8, which no leg found, and a little to 9, which was not brought on; 3 fell behind.
FLOWED = (Scored(ref_of(1), 1.2), Scored(ref_of(8), 0.5), Scored(ref_of(2), 0.4))
SPREAD = Trace(
    answers=(make_answer("lexical", {1: 6.0, 2: 3.0, 3: 2.0}),),
    stages=(
        StageTrace("legs", (), 1.0),
        StageTrace("fusion", RANKING, 0.1),
        StageTrace("spread", FLOWED, 0.1),
        StageTrace("pack", FLOWED[:2], 0.1),
    ),
    left_out={ref_of(2): "over the limit"},
    ways={
        ref_of(1): (Way(ref_of(1), "names", "Rex Harrison", 0.2), Way(ref_of(2), "terms", "huyton", 0.1)),
        ref_of(2): (Way(ref_of(2), "terms", "huyton", 0.1),),
        ref_of(8): (
            Way(ref_of(1), "names", "Rex Harrison", 0.2),
            Way(ref_of(2), "links", "see-also", 0.1),
            Way(ref_of(1), "terms", "harrison", 0.1),
        ),
        ref_of(9): (Way(ref_of(2), "terms", "huyton", 0.1),),
    },
)


def _note(number: int) -> str:
    return next(step.note for step in explain(SPREAD, ref_of(number)) if step.stage == "spread")


def test_explain_says_which_way_score_came() -> None:
    """The step of `spread` says what brought score and from which memory, and of the best that it flows from them."""
    ends = {number: ref_of(number).id[-8:] for number in (1, 2)}
    assert _note(8) == f"found by no leg; came by 'Rex Harrison' from {ends[1]}, by the link see-also from {ends[2]}"
    assert _note(1) == f"score flows from it; came by 'huyton' from {ends[2]}"
    assert _note(2) == "score flows from it"
    assert _note(3) == ""
    off = replace(SPREAD, stages=(StageTrace("spread", FLOWED, 0.1, on=False), SPREAD.stages[-1]), ways={})
    assert explain(off, ref_of(8))[1].note == "off"


def test_ways_are_told_by_where_they_come_from() -> None:
    """What flows out of a memory and back to it is no way to it; the rest is kept by its source, the widest first."""
    assert {source: [way.name for way in ways] for source, ways in ways_to(SPREAD, ref_of(8)).items()} == {
        ref_of(1): ["Rex Harrison", "harrison"],
        ref_of(2): ["see-also"],
    }
    assert ways_to(SPREAD, ref_of(2)) == ways_to(SPREAD, ref_of(3)) == {}
    assert [hands_on(SPREAD, ref_of(number)) for number in (1, 2, 8, 3)] == [True, True, False, False]


def test_why_not_tells_of_score_that_came() -> None:
    """One that only `spread` brought is said to be, one that it brought too little too, and one that it overtook."""
    ends = {number: ref_of(number).id[-8:] for number in (1, 2)}
    brought = why_not(SPREAD, ref_of(8), IN_SCOPE, {})
    assert (brought.stage, brought.rank, brought.found) == ("pack", 2, True)
    assert brought.reason == (
        f"It was recalled, at rank 2. No leg found it: it came by 'Rex Harrison' from {ends[1]}, "
        f"by the link see-also from {ends[2]}."
    )
    assert why_not(SPREAD, ref_of(1), IN_SCOPE, {}).reason == "It was recalled, at rank 1."
    assert why_not(SPREAD, ref_of(9), IN_SCOPE, {}) == WhyNot(
        "spread", f"No leg found it. Score came by 'huyton' from {ends[2]}, too little to bring it on."
    )
    overtaken = why_not(SPREAD, ref_of(3), IN_SCOPE, {})
    assert (overtaken.stage, overtaken.rank) == ("spread", 3)
    assert overtaken.reason == "It stood at rank 3, too far down once others had score from the best."
