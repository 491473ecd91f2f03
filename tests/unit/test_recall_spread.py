"""How a recall uses `spread`: when it asks for ties, how much flows, and what becomes of what it brings."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from fakes import DictStore, TellingLeg
from making import about, make_memory, make_query, ref_of
from recollect.core.memory import Memory
from recollect.core.spread import TIE_KINDS, Tie
from recollect.service.recall import Recall, explain_missing, recall

ALL = [make_memory(number, f"memory number {number}") for number in range(1, 6)]
HUYTON = {ref_of(1): [Tie("names", "Huyton", (ref_of(1), ref_of(5)))]}


def _store(memories: Sequence[Memory] = ALL, **settings: float) -> DictStore:
    """Give a store whose words leg finds 1, 2 and 3, and in which 1 and 5 share a name."""
    words = TellingLeg("lexical", {ref_of(1): 3.0, ref_of(2): 1.0, ref_of(3): 0.5})
    named = {name.replace("_", "."): value for name, value in settings.items()}
    return DictStore(memories, [words], settings=named, ties=HUYTON, known={"huyton"})


def _numbers(answer: Recall) -> list[int]:
    return [int(result.memory.id[-4:], 16) for result in answer.results]


def _added(answer: Recall) -> float:
    """Give what `spread` added to the memory that no leg found."""
    rankings = {stage.name: {item.ref: item.score for item in stage.ranking} for stage in answer.trace.stages}
    return rankings["spread"][ref_of(5)] - min(rankings["fusion"].values())


def test_a_memory_that_no_leg_found_is_recalled() -> None:
    """What shares a name with the best is in the answer, before what the legs found further down."""
    answer = recall(_store(), make_query("where is Huyton?"))
    assert _numbers(answer) == [1, 5, 2, 3]
    assert [(way.source, way.name) for way in answer.trace.ways[ref_of(5)]] == [(ref_of(1), "Huyton")]
    assert next(stage for stage in answer.trace.stages if stage.name == "spread").on


@pytest.mark.parametrize("settings", [{"spread": 0.0}, {f"spread_{kind}": 0.0 for kind in TIE_KINDS}])
def test_switched_off_it_asks_nothing_and_changes_nothing(settings: dict[str, float]) -> None:
    """Without strength or weights the store is not asked for ties, and the ranking is the very same object."""
    store = _store(ALL, **settings)
    answer = recall(store, make_query("where is Huyton?"))
    assert _numbers(answer) == [1, 2, 3]
    assert (store.tied.asked, answer.trace.ways) == ([], {})
    fusion, spread = (stage for stage in answer.trace.stages if stage.name in {"fusion", "spread"})
    assert spread.ranking == fusion.ranking
    assert not spread.on


def test_ties_are_asked_of_the_best_two() -> None:
    """However many were found, the store looks for ties of two."""
    store = _store()
    recall(store, make_query("where is Huyton?"))
    assert store.tied.asked == [[ref_of(1), ref_of(2)]]


def test_less_flows_where_the_question_names_nothing_known() -> None:
    """A question without a name that is known gets a part of the flow; `spread.unnamed` says which."""
    named = _added(recall(_store(), make_query("where is Huyton?")))
    unnamed = _added(recall(_store(spread_unnamed=0.5), make_query("where is it?")))
    assert unnamed == about(named / 2)


def test_less_flows_in_a_conversation() -> None:
    """Where the best stands among others of its session, `spread.session` says what is left of the flow."""
    talk = [replace(memory, session="talk", place=place) for place, memory in enumerate(ALL)]
    asked = make_query("where is Huyton?")
    assert recall(_store(talk, spread_session=0.0), asked).trace.ways == {}
    assert recall(_store(talk, spread_session=1.0), asked).trace.ways.keys() == {ref_of(1), ref_of(5)}
    assert recall(_store(ALL, spread_session=0.0), asked).trace.ways.keys() == {ref_of(1), ref_of(5)}


def test_what_it_brings_from_outside_the_scope_is_not_served() -> None:
    """Ties run through the whole space; what a question does not look at, or excludes, stays out of the answer."""
    elsewhere = [*ALL[:4], replace(ALL[4], project="other")]
    assert _numbers(recall(_store(elsewhere), make_query("Huyton", project="here"))) == [1, 2, 3]
    excluded = make_query("Huyton", exclude=frozenset({ALL[4].id}))
    assert _numbers(recall(_store(), excluded)) == [1, 2, 3]


def test_why_not_tells_the_way_as_far_as_it_may() -> None:
    """The owner is told what brought a memory; what a caller may not know is left out of the reason."""
    query = make_query("where is Huyton?")
    assert "it came by 'Huyton' from" in explain_missing(_store(), query, ref_of(5)).reason

    def hide(answer: Recall, _: object) -> Recall:
        return replace(answer, trace=replace(answer.trace, ways={}))

    assert explain_missing(_store(), query, ref_of(5), see=hide).reason == "It was recalled, at rank 2."
