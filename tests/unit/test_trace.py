from making import make_answer, ref_of
from recollect.core.hits import Scored
from recollect.core.trace import STAGES, StageTrace, Standing, Step, Trace, WhyNot, explain, why_not

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
