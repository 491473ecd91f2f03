"""The path of a recall over fakes: what is asked, in what order, and what is said about it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from fakes import DictStore, FailingLeg, TellingLeg
from making import about, at, id_of, make_link, make_memory, make_query, ref_of
from recollect.core.errors import BadQuery, EmbedderBusy, LegError, NotFound
from recollect.core.hits import Ref
from recollect.core.trace import STAGES
from recollect.service.recall import explain_missing, recall, weigh_evidence

ONE, TWO, THREE, FOUR = (make_memory(n, f"memory number {n}") for n in (1, 2, 3, 4))
ALL = [ONE, TWO, THREE, FOUR]


def _words(*scores: float) -> TellingLeg:
    """Give a words leg that scores the memories 1, 2, 3 and so on."""
    return TellingLeg("lexical", {ref_of(n): score for n, score in enumerate(scores, start=1)})


def test_a_leg_of_weight_zero_is_never_called() -> None:
    """A leg that is switched off is not even asked."""
    words, rare = _words(1.0), FailingLeg("exact")
    answer = recall(DictStore(ALL, [words, rare], settings={"weight.exact": 0.0}), make_query())
    assert (len(words.asked), rare.asked) == (1, [])
    assert [leg.leg for leg in answer.trace.answers] == ["lexical"]
    assert answer.notices == ()


def test_all_weights_zero_is_a_clear_error() -> None:
    """A recall without any leg is refused, and no leg is asked."""
    words = _words(1.0)
    with pytest.raises(BadQuery, match=r"Every leg has weight 0.*give at least one of them a weight"):
        recall(DictStore(ALL, [words], settings={"weight.lexical": 0.0}), make_query())
    assert words.asked == []


def test_a_bad_query_reaches_no_leg() -> None:
    """What cannot be asked is refused first."""
    words = _words(1.0)
    with pytest.raises(BadQuery, match="empty"):
        recall(DictStore(ALL, [words]), make_query(" "))
    assert words.asked == []


def test_the_stages_are_traced_in_order() -> None:
    """The trace names every stage once, in the path's order, and which were off."""
    answer = recall(DictStore(ALL, [_words(2.0, 1.0)]), make_query())
    assert tuple(stage.name for stage in answer.trace.stages) == STAGES
    assert {stage.name for stage in answer.trace.stages if not stage.on} == {"context", "spread", "rerank"}
    assert all(stage.milliseconds >= 0 for stage in answer.trace.stages)


def test_a_stage_that_is_off_changes_nothing() -> None:
    """What fusion left is what the stages behind it that are off hand on."""
    answer = recall(DictStore(ALL, [_words(2.0, 1.0)]), make_query())
    rankings = {stage.name: stage.ranking for stage in answer.trace.stages}
    assert rankings["fusion"] == rankings["spread"] == rankings["rerank"]
    assert [item.score for item in rankings["fusion"]] == [1.0, 0.5]
    assert [item.score for item in rankings["prior"]] == [about(0.925), 0.5]


def test_exclude_is_handed_to_the_legs() -> None:
    """What the prompt holds is left out by the legs themselves, and cannot come back by a link."""
    links = [make_link(1, "supersedes", 2), make_link(3, "resolved-by", 1)]
    words = _words(3.0, 2.0, 1.0)
    answer = recall(DictStore(ALL, [words], links=links), make_query(exclude=frozenset({id_of(1)})))
    assert words.asked[0].exclude == {id_of(1)}
    assert [(found.memory, found.answers) for found in answer.results] == [(THREE, ())]


def test_a_leg_that_fails_is_left_out_and_named() -> None:
    """The result says which leg is missing and why; the other leg's order stands as if it were alone."""
    store = DictStore(ALL, [_words(2.0, 4.0), FailingLeg("exact", error=OSError("disk gone"))])
    store.settings = DictStore([], [], settings={"weight.exact": 5.0}).settings
    answer = recall(store, make_query())
    assert answer.notices == ("exact was left out: it failed: disk gone.",)
    assert [(found.memory.id, found.score) for found in answer.results] == [
        (id_of(2), about(0.925)),
        (id_of(1), 0.5),
    ]


def test_when_every_leg_fails_the_answer_is_empty_and_says_why() -> None:
    """No leg, no memories, no crash."""
    answer = recall(DictStore(ALL, [FailingLeg("lexical")]), make_query())
    assert (answer.results, answer.tokens) == ((), 0)
    assert answer.notices == ("lexical was left out: it failed: RuntimeError.",)


def test_several_spaces_are_merged_by_raw_score() -> None:
    """The hits of all spaces stand in one list by their raw scores before anything is normalised."""
    mine, ours = make_memory(1, space="mine"), make_memory(2, space="ours")
    best = make_memory(3, space="ours")
    scores = {ref_of(1, "mine"): 2.0, ref_of(2, "ours"): 1.0, ref_of(3, "ours"): 4.0}
    answer = recall(DictStore([mine, ours, best], [TellingLeg("lexical", scores)]), make_query("x", "mine", "ours"))
    assert [(found.memory, found.score) for found in answer.results] == [
        (best, about(0.25 + 0.75 * 0.85)),
        (mine, about(0.25 + 0.25 * 0.85)),
        (ours, 0.25),
    ]


def test_two_legs_are_fused_as_the_settings_say() -> None:
    """Convex adds normalised scores, reciprocal rank adds ranks, each under its own setting."""
    legs = [_words(10.0, 9.0), TellingLeg("exact", {ref_of(2): 1.0, ref_of(3): 1.0})]
    weights = {"weight.lexical": 1.0, "weight.exact": 1.0}

    def scores(**more: str) -> list[tuple[str, float]]:
        answer = recall(DictStore(ALL, legs, settings={**weights, **more}), make_query())
        fusion = next(stage for stage in answer.trace.stages if stage.name == "fusion")
        return [(item.ref.id, item.score) for item in fusion.ranking]

    two, one, three = id_of(2), id_of(1), id_of(3)
    assert scores() == [(two, about(0.95)), (one, 0.5), (three, 0.5)]
    assert scores(normaliser="min-max") == [(one, 0.5), (two, 0.5), (three, 0.5)]
    assert scores(fusion="reciprocal-rank") == [
        (two, about(1 / 62 + 1 / 61)),
        (one, about(1 / 61)),
        (three, about(1 / 62)),
    ]


def test_limit_budget_and_floor_leave_out_and_say_so() -> None:
    """What is found and not served is listed with the reason."""
    words = TellingLeg("lexical", {ref_of(n): 5.0 - n for n in (1, 2, 3, 4)}, {ref_of(1): 0.1})
    store = DictStore(ALL, [words], settings={"floor.lexical": 0.5})
    answer = recall(store, make_query(limit=1))
    assert [found.memory for found in answer.results] == [TWO]
    assert answer.left_out == {
        ref_of(1): "under the floor", ref_of(3): "over the limit", ref_of(4): "over the limit",
    }  # fmt: skip
    assert recall(store, make_query(budget=1)).results == ()


def test_what_was_forgotten_while_the_legs_looked_is_not_served() -> None:
    """A memory that another process forgets between the search and the reading is left out, without an error."""
    words = _words(2.0, 1.0)
    store = DictStore(ALL, [words])
    words.afterwards = lambda: store.kept.update({ref_of(1): replace(ONE, deleted_at=at(9))})
    assert [found.memory for found in recall(store, make_query()).results] == [TWO]


def test_what_was_purged_while_the_legs_looked_is_not_served() -> None:
    """A memory that is gone for good by the time it is read is left out, without an error."""
    words = _words(2.0, 1.0)
    store = DictStore(ALL, [words])
    words.afterwards = lambda: store.kept.pop(ref_of(1))
    assert [found.memory for found in recall(store, make_query()).results] == [TWO]


def test_links_bring_along_answers_and_pointers() -> None:
    """A result carries the memories that resolve it and those it points to."""
    links = [make_link(1, "resolved-by", 2), make_link(1, "part-of", 3), make_link(4, "see-also", 1)]
    (found,) = recall(DictStore(ALL, [_words(1.0)], links=links), make_query()).results
    assert found.answers == (TWO,)
    assert found.pointers == (("part-of", THREE), ("see-also", FOUR))


def test_the_superseding_memory_is_served_and_the_trace_says_for_whom() -> None:
    """The newer memory comes in place of the old one, which the trace remembers."""
    answer = recall(DictStore(ALL, [_words(1.0)], links=[make_link(2, "supersedes", 1)]), make_query())
    assert [(found.memory, found.instead_of) for found in answer.results] == [(TWO, (ref_of(1),))]
    assert answer.trace.replaced == {ref_of(1): ref_of(2)}


def test_forgotten_memories_come_by_no_link() -> None:
    """A link to a forgotten memory brings nothing."""
    gone = replace(TWO, deleted_at=at(9))
    links = [make_link(2, "supersedes", 1), make_link(1, "resolved-by", 2), make_link(1, "see-also", 2)]
    (found,) = recall(DictStore([ONE, gone], [_words(1.0)], links=links), make_query()).results
    assert (found.memory, found.answers, found.pointers) == (ONE, (), ())


def test_evidence_is_asked_of_the_legs_that_took_part() -> None:
    """A leg that was switched off, or that failed, has no say in the explanation."""
    legs = [_words(2.0), FailingLeg("dense"), TellingLeg("exact")]
    store = DictStore(ALL, legs, settings={"weight.exact": 0.0})
    evidence = weigh_evidence(store, recall(store, make_query()), ref_of(1))
    assert {leg: each.summary for leg, each in evidence.items()} == {"lexical": "it scores 2"}


def test_why_not_of_what_is_there_and_what_is_not() -> None:
    """Found, over the limit, outdated, brought by no leg: each is told apart."""
    links = [make_link(2, "supersedes", 3)]
    store = DictStore(ALL, [_words(3.0, 2.0, 1.0)], links=links)
    query = make_query(limit=1)
    assert explain_missing(store, query, ref_of(1)).found
    assert explain_missing(store, query, ref_of(2)).reason == "It stood at rank 2, over the limit."
    outdated = explain_missing(store, query, ref_of(3))
    assert (outdated.stage, outdated.found) == ("links", False)
    assert explain_missing(store, query, ref_of(4)).reason == "No leg brought it. lexical: it scores 0."


def test_why_not_of_a_memory_whose_successor_is_excluded() -> None:
    """A memory that is outdated by one the prompt already holds is not in the answer, and is not said to be."""
    store = DictStore(ALL, [_words(1.0)], links=[make_link(2, "supersedes", 1)])
    query = make_query(exclude=frozenset({id_of(2)}))
    assert recall(store, query).results == ()
    told = explain_missing(store, query, ref_of(1))
    assert not told.found
    assert id_of(2) in told.reason


def test_why_not_stops_at_what_the_scope_leaves_out() -> None:
    """Forgotten, not yet known, in another scope, excluded, unknown: told before any leg is asked."""
    words = _words(1.0)
    forgotten = replace(TWO, deleted_at=at(9))
    store = DictStore([ONE, forgotten, THREE], [words])
    assert "forgotten on 2026-01-01" in explain_missing(store, make_query(), ref_of(2)).reason
    assert "not known yet" in explain_missing(store, make_query(as_of=at(0)), ref_of(1)).reason
    elsewhere = explain_missing(store, make_query(sessions=frozenset({"s9"})), ref_of(3)).reason
    assert "outside the scope" in elsewhere
    assert "its project is none" in elsewhere
    assert "excludes it" in explain_missing(store, make_query(exclude=frozenset({id_of(1)})), ref_of(1)).reason
    with pytest.raises(NotFound, match="recollect list"):
        explain_missing(store, make_query(), ref_of(9))
    assert words.asked == []


def test_links_do_not_lead_out_of_the_scope() -> None:
    """A recall shows nothing outside its scope: neither a successor, nor an answer, nor a pointer."""
    inside = replace(ONE, category="facts")
    outside = replace(TWO, category="people")
    for kind in ("supersedes", "resolved-by", "see-also"):
        ends = (2, 1) if kind == "supersedes" else (1, 2)
        store = DictStore([inside, outside], [_words(1.0)], links=[make_link(ends[0], kind, ends[1])])
        (found,) = recall(store, make_query(categories=frozenset({"facts"}))).results
        assert (found.memory, found.answers, found.pointers) == (inside, (), ())


def test_a_limit_above_the_depth_is_kept() -> None:
    """Who asks for more than the legs usually bring gets it."""
    memories = [make_memory(n) for n in range(1, 13)]
    words = TellingLeg("lexical", {ref_of(n): float(n) for n in range(1, 13)})
    store = DictStore(memories, [words], settings={"depth": 10})
    assert len(recall(store, make_query(limit=12)).results) == 12


@dataclass
class LikingReranker:
    """Likes later memories better, and remembers what it was shown."""

    shown: list[str] = field(default_factory=list)

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        assert query
        self.shown += texts
        return [float(text[-1]) for text in texts]


def test_a_leg_that_cannot_answer_is_left_out_with_its_reason() -> None:
    """What the leg or the model says is told as it is, as one sentence."""
    for error in (LegError("no model is set up"), EmbedderBusy("no model is set up.")):
        answer = recall(DictStore(ALL, [_words(1.0), FailingLeg("dense", error=error)]), make_query())
        assert answer.notices == ("dense was left out: no model is set up.",)
        assert [found.memory for found in answer.results] == [ONE]


@pytest.mark.parametrize(
    ("waiting", "notices"),
    [
        (0, ()),
        (1, ("1 memory waits to be found by meaning.",)),
        (1234, ("1,234 memories wait to be found by meaning.",)),
    ],
)
def test_what_is_not_found_by_meaning_yet_is_told(waiting: int, notices: tuple[str, ...]) -> None:
    """An answer by meaning that may lack something says how much."""
    legs = [_words(1.0), TellingLeg("dense", {ref_of(2): 0.5}, least=-1.0)]
    assert recall(DictStore(ALL, legs, waiting=waiting), make_query()).notices == notices


def test_without_the_meaning_leg_nothing_is_said_about_what_waits() -> None:
    """Who recalls by words alone need not know; who is told that the leg failed knows enough."""
    failing = FailingLeg("dense", error=LegError("it is away"))
    assert recall(DictStore(ALL, [_words(1.0)], waiting=7), make_query()).notices == ()
    off = DictStore(ALL, [_words(1.0), failing], waiting=7, settings={"weight.dense": 0.0})
    assert recall(off, make_query()).notices == ()
    left_out = recall(DictStore(ALL, [_words(1.0), failing], waiting=7), make_query()).notices
    assert left_out == ("dense was left out: it is away.",)


def _session(*places: int, **settings: float) -> DictStore:
    """Give a store of one session's turns, of which the words leg finds the first, and takes all of its context."""
    turns = [make_memory(place, f"turn {place}", session="s1", place=place) for place in places]
    return DictStore(turns, [_words(1.0)], settings={"context.lexical": 1.0, **settings})


def test_a_neighbour_comes_in_by_its_session() -> None:
    """What was said next to a hit is brought too, and the trace says that `context` did it."""
    answer = recall(_session(1, 2, 9), make_query())
    assert [found.memory.place for found in answer.results] == [1, 2]
    assert [stage.on for stage in answer.trace.stages if stage.name == "context"] == [True]


def test_a_turn_that_is_forgotten_while_the_legs_looked_is_no_error() -> None:
    """What it brought by its session may come or not; it itself is not served, and nothing fails."""
    store = _session(1, 2)
    (words,) = store.legs
    assert isinstance(words, TellingLeg)
    words.afterwards = lambda: store.kept.update({ref_of(1): replace(store.kept[ref_of(1)], deleted_at=at(9))})
    assert ref_of(1) not in [Ref(found.memory.space, found.memory.id) for found in recall(store, make_query()).results]


def test_context_is_switched_off_by_its_setting() -> None:
    """With `context` at 0 nothing comes in by its session, and the stage is off."""
    answer = recall(_session(1, 2, context=0.0), make_query())
    assert [found.memory.place for found in answer.results] == [1]
    assert [stage.on for stage in answer.trace.stages if stage.name == "context"] == [False]


def test_an_excluded_neighbour_does_not_come_in() -> None:
    """What the prompt holds already comes back by no session either."""
    answer = recall(_session(1, 2, 3), make_query(exclude=frozenset({id_of(2)})))
    assert [found.memory.place for found in answer.results] == [1, 3]
    assert ref_of(2) not in {hit.ref for leg in answer.trace.answers for hit in leg.hits}


def test_a_neighbour_outside_the_scope_does_not_come_in() -> None:
    """A session leads no further than the scope."""
    answer = recall(_session(1, 2, 3), make_query(before=3))
    assert [found.memory.place for found in answer.results] == [1, 2]


def test_a_cross_encoder_orders_the_top() -> None:
    """As many of the best as the setting says are read again, and the trace says so; the rest stays."""
    reranker = LikingReranker()
    store = DictStore(ALL, [_words(4.0, 3.0, 2.0, 1.0)], settings={"rerank": 3})
    answer = recall(store, make_query(), reranker)
    assert [found.memory for found in answer.results] == [THREE, TWO, ONE, FOUR]
    assert [stage.on for stage in answer.trace.stages if stage.name == "rerank"] == [True]
    assert (len(reranker.shown), answer.notices) == (3, ())


def test_a_cross_encoder_is_not_asked_unless_the_setting_says_so() -> None:
    """Off by default, and without a word."""
    reranker = LikingReranker()
    answer = recall(DictStore(ALL, [_words(4.0, 3.0)]), make_query(), reranker)
    assert ([found.memory for found in answer.results], reranker.shown, answer.notices) == ([ONE, TWO], [], ())


def test_a_cross_encoder_is_shown_nothing_sensitive() -> None:
    """A sensitive memory keeps its place, and its text stays here."""
    reranker = LikingReranker()
    secret = replace(ONE, sensitive=True)
    store = DictStore([secret, TWO, THREE], [_words(4.0, 3.0, 2.0)], settings={"rerank": 10})
    answer = recall(store, make_query(), reranker)
    assert [found.memory for found in answer.results] == [secret, THREE, TWO]
    assert reranker.shown == [TWO.content, THREE.content]


def test_a_cross_encoder_that_is_missing_or_fails_is_left_out() -> None:
    """The fused order stands, and the answer says why it is that one."""

    class Failing:
        def score(self, query: str, texts: Sequence[str]) -> list[float]:
            raise ValueError(f"cannot read {query} and {len(texts)} texts")

    store = DictStore(ALL, [_words(4.0, 3.0)], settings={"rerank": 10})
    missing, failing = recall(store, make_query()), recall(store, make_query(), Failing())
    assert missing.notices == ("rerank was left out: no cross-encoder is named (RECOLLECT_RERANKER).",)
    assert failing.notices == ("rerank was left out: cannot read deploys and 2 texts.",)
    for answer in (missing, failing):
        assert [found.memory for found in answer.results] == [ONE, TWO]
        assert [stage.on for stage in answer.trace.stages if stage.name == "rerank"] == [False]
    nothing = recall(DictStore(ALL, [_words()], settings={"rerank": 10}), make_query())
    assert nothing.notices == ()
