"""What an import from another system does when things changed since the last one, there or here."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from making import StandingClock, at, open_recollect
from recollect.core.foreign import Foreign, Found, Left, Tie, derive_id
from recollect.core.memory import Memory, is_id
from recollect.service.recollect import Recollect
from recollect.service.take_in import AS_FOUND, TakenIn, take_in

ONE = derive_id("notes", "one")


@pytest.fixture
def clock() -> StandingClock:
    return StandingClock(at(100))


@pytest.fixture
def memory(tmp_path: Path, clock: StandingClock) -> Iterator[Recollect]:
    with open_recollect(tmp_path / "here.db", clock) as opened:
        yield opened


def thing(key: str = "one", content: str = "one", **fields: Any) -> Foreign:  # noqa: ANN401
    return Foreign(key, f"place of {key}", content, **fields)


def take(memory: Recollect, *found: Found, **how: Any) -> TakenIn:  # noqa: ANN401
    return take_in(memory.store, memory.clock, "personal", "notes", found, **how)


def parts_of(memory: Recollect, whole: str) -> list[Memory]:
    linked = memory.links([memory.get(whole)])
    return [memory.get(link.source) for link in linked if link.kind == "part-of" and link.target == whole]


def test_an_id_comes_from_where_a_thing_stood() -> None:
    """The same place gives the same id; another system, key or part another one. All are ids."""
    places = [("a", "b", 0), ("a", "b", 1), ("a", "c", 0), ("b", "b", 0)]
    ids = [derive_id(*place) for place in places]
    assert len(set(ids)) == 4
    assert all(map(is_id, ids))
    assert ids == [derive_id(*place) for place in places]
    assert {each[14] for each in ids} == {"8"}


def test_a_text_that_changed_there_is_brought_up_to_date(memory: Recollect, clock: StandingClock) -> None:
    """The memory keeps its id and its past; the change counts from its own time, or from now."""
    take(memory, thing(created_at=at(10)))
    clock.move()
    outcome = take(memory, thing(content="two", updated_at=at(50)))
    assert [(change.what, change.memory.id) for change in outcome.changes] == [("updated", ONE)]
    assert [(each.memory.content, each.memory.updated_at) for each in memory.history(ONE)] == [
        ("one", at(10)),
        ("two", at(50)),
    ]
    assert memory.get(ONE).created_at == at(10)
    assert memory.get(ONE, as_of=at(20)).content == "one"


@pytest.mark.parametrize(
    "change",
    [
        {"category": "people"},
        {"tags": ("a",)},
        {"keywords": ("k",)},
        {"importance": 0.9},
        {"project": "p"},
        {"session": "s"},
    ],
)
def test_any_field_may_have_changed(memory: Recollect, change: dict[str, Any]) -> None:
    """A change of a label is a change."""
    take(memory, thing())
    assert take(memory, thing(**change)).count("updated") == 1
    assert take(memory, thing(**change)).unchanged == 1


def test_a_time_alone_is_no_change(memory: Recollect) -> None:
    """A file that was only touched changes nothing."""
    take(memory, thing(created_at=at(10)))
    assert take(memory, thing(created_at=at(20), updated_at=at(30))).unchanged == 1


def test_what_was_changed_here_stays(memory: Recollect) -> None:
    """As long as the source says what it said, one's own edit is no conflict and is not undone."""
    take(memory, thing())
    memory.edit(ONE, content="mine")
    assert take(memory, thing()).unchanged == 1
    assert memory.get(ONE).content == "mine"


def test_changed_here_and_there_is_a_conflict_that_is_told(memory: Recollect) -> None:
    """The memory stays as its user left it, and the report says which it is and what to do."""
    take(memory, thing())
    memory.edit(ONE, content="mine")
    outcome = take(memory, thing(content="theirs"))
    assert outcome.changes == []
    told = f"place of one: It changed there, and {ONE[-8:]} was changed here: yours was kept. `recollect edit` it, or"
    assert outcome.problems == [f"{told} `recollect forget --purge {ONE[-8:]}` and import again."]
    assert memory.get(ONE).content == "mine"


def test_the_same_change_on_both_sides_is_none(memory: Recollect) -> None:
    """If both say the same in the end, there is nothing to do."""
    take(memory, thing())
    memory.edit(ONE, content="new")
    assert take(memory, thing(content="new")).unchanged == 1


@pytest.mark.parametrize("content", ["one", "two"])
def test_what_was_forgotten_stays_forgotten(memory: Recollect, content: str) -> None:
    """An import brings back nothing that its user forgot, changed there or not."""
    take(memory, thing())
    memory.forget(ONE)
    assert take(memory, thing(content=content)).unchanged == 1
    assert memory.get(ONE).deleted_at is not None


def test_an_update_that_was_undone_stays_undone(memory: Recollect, clock: StandingClock) -> None:
    """Undoing what an import did is one's own change."""
    take(memory, thing())
    clock.move()
    take(memory, thing(content="two"))
    memory.undo(ONE)
    assert take(memory, thing(content="two")).unchanged == 1
    assert memory.get(ONE).content == "one"


def test_a_long_text_becomes_parts_that_are_linked(memory: Recollect) -> None:
    """Every part is a memory within the limit with the labels of the whole, and points to the first."""
    text = "The whole\n\n" + "\n\n".join(f"Paragraph {number}. {'word ' * 60}" for number in range(10))
    outcome = take(memory, thing(content=text, tags=("t",), category="people"))
    parts = parts_of(memory, ONE)
    assert len(parts) == outcome.links == len(outcome.changes) - 1 > 0
    assert {(part.tags, part.category, part.heading) for part in parts} == {(("t",), "people", "The whole")}
    assert all(len(part.content) <= 1400 for part in parts)
    assert take(memory, thing(content=text, tags=("t",), category="people")).changes == []


def test_a_text_that_became_shorter_loses_its_last_parts(memory: Recollect, clock: StandingClock) -> None:
    """Parts that are no longer in the source are out of recall; if the text grows again, they come back."""
    text = "The whole\n\n" + "\n\n".join(f"Paragraph {number}. {'word ' * 60}" for number in range(10))
    take(memory, thing(content=text))
    parts = parts_of(memory, ONE)
    clock.move()
    shorter = take(memory, thing(content="The whole, in short."))
    assert (shorter.count("updated"), shorter.count("removed")) == (1, len(parts))
    assert {part.deleted_at is None for part in parts_of(memory, ONE)} == {False}
    assert take(memory, thing(content="The whole, in short.")).changes == []
    clock.move()
    assert take(memory, thing(content=text)).count("updated") == len(parts) + 1
    assert {part.deleted_at for part in parts_of(memory, ONE)} == {None}


def test_a_part_that_was_changed_here_is_not_taken_away(memory: Recollect) -> None:
    """One's own text is kept, and told of."""
    text = "The whole\n\n" + "\n\n".join(f"Paragraph {number}. {'word ' * 60}" for number in range(6))
    take(memory, thing(content=text))
    (part,) = parts_of(memory, ONE)
    memory.edit(part.id, content="mine")
    outcome = take(memory, thing(content="short"))
    assert outcome.problems == [
        f"place of one: It became shorter there; {part.short_id} was changed here and was kept."
    ]
    assert memory.get(part.id).content == "mine"


def test_a_secret_makes_a_memory_sensitive(memory: Recollect) -> None:
    """Wherever it stands in a text, all parts of the text are sensitive, and the report gives place and kind only."""
    text = "The whole\n\n" + "\n\n".join(f"Paragraph {number}. {'word ' * 60}" for number in range(6)) + " hunter2"
    outcome = take(memory, thing(content=text), find_secrets=lambda each: ("Password",) * ("hunter2" in each))
    assert outcome.sensitive == ["place of one: Password"]
    assert {change.memory.sensitive for change in outcome.changes} == {True}
    labelled = take(
        memory, thing("two", tags=("hunter2",)), find_secrets=lambda each: ("Password",) * ("hunter2" in each)
    )
    assert labelled.sensitive == ["place of two: Password"]


def test_ties_become_links_once(memory: Recollect) -> None:
    """Both ends must have been taken in; a link that its user ended is not made again."""
    found = (thing(), thing("two"), Tie("one", "see-also", "two", "here"), Tie("one", "see-also", "nine", "there"))
    outcome = take(memory, *found, Tie("one", "see-also", "one", "itself"))
    assert (outcome.links, outcome.problems) == (1, [])
    assert outcome.skipped == ["there: nine was not taken in, so there is no link to it."]
    memory.unlink(ONE, "see-also", derive_id("notes", "two"))
    assert take(memory, *found).links == 0


def test_all_may_be_put_into_a_project_or_into_none(memory: Recollect) -> None:
    """What the importer says overrides what the source knows; a thing without a home needs that."""
    homeless = thing("two", needs_project=True)
    outcome = take(memory, thing(project="theirs"), homeless, project=AS_FOUND)
    assert [change.memory.project for change in outcome.changes] == ["theirs"]
    assert outcome.problems == ["place of two: Its project is not known here: say --project NAME, or --general."]
    outcome = take(memory, thing(project="theirs"), homeless, project="mine")
    assert [(change.what, change.memory.project) for change in outcome.changes] == [
        ("updated", "mine"),
        ("added", "mine"),
    ]
    assert {change.memory.project for change in take(memory, thing(), homeless, project=None).changes} == {None}


def test_what_no_store_can_keep_is_told_and_the_rest_is_taken(memory: Recollect) -> None:
    """Null characters, halves of surrogate pairs, empty text: each is told by its place."""
    odd = [thing(f"odd {number}", text) for number, text in enumerate(("x\0", "\ud800", " ", ""))]
    outcome = take(memory, *odd, Left("a", "why"), Left("b", "why not", wrong=True), thing())
    assert [change.memory.id for change in outcome.changes] == [ONE]
    assert (len(outcome.problems), outcome.skipped) == (5, ["a: why"])


def test_two_things_of_one_name_are_told_apart(memory: Recollect) -> None:
    """The first is taken; the same again is nothing, but another text under its name is a problem."""
    outcome = take(memory, thing(), thing(), Foreign("one", "elsewhere", "other"))
    assert (outcome.count("added"), outcome.problems) == (
        1,
        ["elsewhere: It has the same name as place of one, which was taken."],
    )


def test_times_in_the_future_are_not_believed(memory: Recollect, clock: StandingClock) -> None:
    """What a wrong clock wrote counts from now."""
    take(memory, thing(created_at=at(10_000), updated_at=at(20_000)))
    assert (memory.get(ONE).created_at, memory.get(ONE).updated_at) == (clock(), clock())


def test_more_than_one_batch(memory: Recollect) -> None:
    """More than go into one transaction arrive, and again change nothing."""
    many = [thing(str(number), f"thing {number}") for number in range(450)]
    assert take(memory, *many).count("added") == 450
    assert take(memory, *many).unchanged == 450
    assert memory.store.examine(lambda _done, _total: None) == []
