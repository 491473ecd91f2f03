"""Remembering, editing, forgetting, undoing and linking, over a store in a file."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from making import StandingClock, at, id_of, make_memory, open_recollect, ref_of
from recollect.core.errors import Conflict, NotFound, Refused, TooLong
from recollect.core.hits import Ref
from recollect.service.recollect import Recollect
from recollect.service.remember import forget, link, restore, undo


@pytest.fixture
def clock() -> StandingClock:
    return StandingClock()


@pytest.fixture
def memory(tmp_path: Path, clock: StandingClock) -> Iterator[Recollect]:
    with open_recollect(tmp_path / "memory.db", clock) as opened:
        yield opened


def _found(memory: Recollect, text: str) -> list[str]:
    return [found.memory.content for found in memory.recall(text).results]


def test_what_is_remembered_is_there(memory: Recollect) -> None:
    """A memory has all it was given, an id of its time, version 1, and is found by its words."""
    kept = memory.remember(
        "Deploys run on Tuesdays.", category="decisions", tags=["ops"], keywords=["release"], importance=0.9,
        project="site", session="s1", place=3, sensitive=True,
    )  # fmt: skip
    assert memory.get(kept.id) == kept
    assert (kept.version, kept.action, kept.created_at, kept.updated_at) == (1, "remembered", at(0), at(0))
    assert (kept.tags, kept.keywords, kept.place, kept.sensitive) == (("ops",), ("release",), 3, True)
    assert _found(memory, "release") == ["Deploys run on Tuesdays."]


def test_a_memory_may_be_older_than_its_storing(memory: Recollect, clock: StandingClock) -> None:
    """What was learned earlier is stored as of then: its times, its id, and what was believed since."""
    clock.move(100)
    kept = memory.remember("learned long ago", at=at(50))
    assert (kept.created_at, kept.updated_at) == (at(50), at(50))
    assert kept.id < memory.remember("learned now").id
    assert sorted(_found(memory, "learned")) == ["learned long ago", "learned now"]
    assert [found.memory for found in memory.recall("learned", as_of=at(60)).results] == [kept]
    with pytest.raises(Refused, match="in UTC"):
        memory.remember("when?", at=datetime(2026, 1, 1))  # noqa: DTZ001


def test_the_same_id_and_body_again_gives_what_is_there(memory: Recollect, clock: StandingClock) -> None:
    """Remembering is safe to repeat: the second attempt changes nothing, even after an edit."""
    first = memory.remember("once", id=id_of(1))
    clock.move()
    assert memory.remember("once", id=id_of(1)) == first
    edited = memory.edit(first.id, content="changed")
    assert memory.remember("once", id=id_of(1)) == edited
    assert len(memory.history(first.id)) == 2


def test_the_same_id_with_another_body_is_a_conflict(memory: Recollect) -> None:
    """An id is never given to a second memory."""
    memory.remember("once", id=id_of(1))
    with pytest.raises(Conflict, match="already"):
        memory.remember("twice", id=id_of(1))
    assert memory.get(id_of(1)).content == "once"


def test_the_same_id_and_body_after_forgetting_is_a_conflict(memory: Recollect) -> None:
    """What was forgotten is not brought back by chance: the message says how to do it on purpose."""
    first = memory.remember("once", id=id_of(1))
    memory.forget(first.id)
    with pytest.raises(Conflict, match=f"forgotten since: `recollect undo {first.short_id}`"):
        memory.remember("once", id=id_of(1))


def test_the_length_limit_is_a_setting(memory: Recollect) -> None:
    """A limit that was raised lets a longer memory in; the default does not."""
    with pytest.raises(TooLong):
        memory.remember("x" * 1500)
    memory.set("length-limit", "2000")
    assert len(memory.remember("x" * 1500).content) == 1500
    memory.set("length-limit", None)
    with pytest.raises(TooLong):
        memory.remember("y" * 1500)


def test_an_edit_is_a_new_version_and_the_old_one_stays(memory: Recollect, clock: StandingClock) -> None:
    """What was changed is found by its new words only; the history holds both states."""
    first = memory.remember("Deploys run on Tuesdays.")
    clock.move()
    edited = memory.edit(first.id, content="Deploys run on Fridays.", importance=1.0)
    assert (edited.version, edited.action, edited.created_at, edited.updated_at) == (2, "edited", at(0), at(1))
    assert [revision.memory for revision in memory.history(first.id)] == [first, edited]
    assert [revision.until for revision in memory.history(first.id)] == [at(1), None]
    assert _found(memory, "tuesdays") == []
    assert _found(memory, "fridays") == ["Deploys run on Fridays."]
    assert memory.get(first.id, as_of=at(0)) == first


def test_an_edit_that_changes_nothing_is_none(memory: Recollect) -> None:
    """Setting a field to what it is leaves the version alone."""
    first = memory.remember("same", tags=["a"])
    assert memory.edit(first.id, content="same", tags=("a",)) == first


def test_labels_may_be_edited_by_any_list(memory: Recollect) -> None:
    """Tags and keywords are edited by the lists that `remember` takes, and kept as it keeps them."""
    first = memory.remember("same", tags=["a"])
    assert memory.edit(first.id, tags=["a"]).version == 1
    edited = memory.edit(first.id, tags=["a", "b"], keywords=["k"])
    assert (edited.tags, edited.keywords) == (("a", "b"), ("k",))
    assert memory.get(first.id) == edited


def test_an_edit_can_move_a_memory_to_the_project_one_stands_in(tmp_path: Path) -> None:
    """`.` means the same project in an edit as in remembering and recalling."""
    with open_recollect(tmp_path / "memory.db", StandingClock(), project="site") as memory:
        kept = memory.remember("anywhere", project=None)
        assert memory.edit(kept.id, project=".").project == "site"


def test_an_edit_of_a_version_that_is_gone_is_a_conflict(memory: Recollect) -> None:
    """Whoever names the version they saw does not overwrite a newer one."""
    first = memory.remember("one")
    memory.edit(first.id, version=1, content="two")
    with pytest.raises(Conflict, match="at version 2 and you changed version 1"):
        memory.edit(first.id, version=1, content="three")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"id": "x", "colour": "red"}, "colour, id cannot be edited; content, category"),
        ({"content": ""}, "needs some text"),
        ({"importance": 2.0}, "from 0 to 1"),
    ],
)
def test_a_bad_edit_is_refused_and_changes_nothing(memory: Recollect, changes: dict[str, Any], message: str) -> None:
    """An edit is checked like a new memory."""
    first = memory.remember("one")
    with pytest.raises(Refused, match=message):
        memory.edit(first.id, **changes)
    assert memory.get(first.id) == first


def test_time_never_runs_backwards_for_a_memory(memory: Recollect, clock: StandingClock) -> None:
    """When the clock went back, a change still comes after the one before it, by a microsecond."""
    first = memory.remember("one")
    clock.move(-3600)
    second = memory.edit(first.id, content="two")
    third = memory.edit(first.id, content="three")
    assert first.updated_at < second.updated_at < third.updated_at
    assert (third.updated_at - first.updated_at).total_seconds() < 1
    assert memory.store.examine(lambda _done, _total: None) == []


def test_what_is_forgotten_is_not_recalled_and_can_be_brought_back(memory: Recollect, clock: StandingClock) -> None:
    """Forgetting takes a memory out of every answer; undoing it restores it as it was."""
    first = memory.remember("Deploys run on Tuesdays.")
    clock.move()
    gone = memory.forget(first.id)
    assert (gone.action, gone.deleted_at, gone.version) == ("forgotten", at(1), 2)
    assert _found(memory, "tuesdays") == []
    with pytest.raises(NotFound, match=f"was forgotten: `recollect undo {first.short_id}`"):
        memory.forget(first.id)
    with pytest.raises(NotFound, match="was forgotten"):
        memory.edit(first.id, content="x")
    clock.move()
    back = memory.undo(first.id)
    assert (back.content, back.deleted_at, back.action, back.version) == (first.content, None, "restored", 3)
    assert _found(memory, "tuesdays") == [first.content]


def test_undo_takes_back_the_last_change_and_then_itself(memory: Recollect) -> None:
    """Undoing an edit brings the state before; undoing again brings the edit back."""
    first = memory.remember("one", tags=["a"])
    memory.edit(first.id, content="two", tags=("b",))
    assert (memory.undo(first.id).content, memory.get(first.id).tags) == ("one", ("a",))
    assert (memory.undo(first.id).content, memory.get(first.id).tags) == ("two", ("b",))
    assert memory.get(first.id).version == 4


def test_undo_of_a_new_memory_forgets_it(memory: Recollect) -> None:
    """Of a memory that was only just remembered, undoing leaves nothing to recall."""
    first = memory.remember("one")
    assert memory.undo(first.id).action == "forgotten"
    assert _found(memory, "one") == []
    assert memory.undo(first.id).deleted_at is None


def test_only_what_is_forgotten_is_restored(memory: Recollect) -> None:
    """A forgotten memory comes back as it last was; one that is there, or never was, is not touched."""
    first = memory.remember("one", id=id_of(1))
    memory.edit(first.id, content="two")
    with pytest.raises(Conflict, match="is not forgotten"):
        memory.restore(first.id)
    memory.forget(first.id)
    back = memory.restore(first.id)
    assert (back.content, back.action, back.deleted_at, back.version) == ("two", "restored", None, 4)
    assert _found(memory, "two") == ["two"]
    with pytest.raises(NotFound, match="There is no memory"):
        restore(memory.store, memory.clock, ref_of(2))


def test_what_was_forgotten_all_along_is_not_restored(memory: Recollect) -> None:
    """An import may hold a memory that never was there: it has no state to come back to."""
    gone = make_memory(1, action="forgotten", deleted_at=at(1))
    memory.store.memories.load([[gone]])
    with pytest.raises(Conflict, match="in all of its past"):
        memory.restore(gone.id)


def test_keeping_says_whether_it_is_new(memory: Recollect) -> None:
    """The first time it is, the second time it is not."""
    assert memory.keep(make_memory(1)) == (make_memory(1), True)
    assert memory.keep(make_memory(1)) == (make_memory(1), False)


def test_what_was_sensitive_is_redacted_in_its_past(memory: Recollect, clock: StandingClock) -> None:
    """Now it is shown if it is harmless now; looking back, only if it was so at all times."""
    kept = memory.remember("swordfish", id=id_of(1))
    for content, sensitive in (("hidden", True), ("harmless", False)):
        clock.move()
        memory.edit(kept.id, content=content, sensitive=sensitive)
    assert memory.redact(memory.get(kept.id)).content == "harmless"
    assert "swordfish" not in memory.redact(memory.get(kept.id, at(0)), at(0)).content
    other = memory.remember("plain", id=id_of(2), at=at(0))
    assert memory.redact(memory.get(other.id, at(0)), at(0)).content == "plain"


def test_undo_without_an_id_takes_back_the_last_change_of_all(memory: Recollect) -> None:
    """The last change counts, not the last memory made; with nothing there, there is nothing to undo."""
    with pytest.raises(NotFound, match="nothing to undo"):
        memory.undo_last()
    first = memory.remember("one")
    memory.remember("other")
    memory.edit(first.id, content="two")
    memory.undo_last()
    assert memory.get(first.id).content == "one"


def test_purge_leaves_nothing(memory: Recollect) -> None:
    """A purged memory is gone with its history, and its id is free again."""
    first = memory.remember("one", id=id_of(1))
    memory.edit(first.id, content="two")
    memory.purge(first.id)
    with pytest.raises(NotFound, match="There is no memory"):
        memory.get(first.id)
    assert memory.remember("afresh", id=id_of(1)).version == 1


def test_links_hold_until_ended(memory: Recollect, clock: StandingClock) -> None:
    """Linking twice is linking once; an ended link is gone now and was there before."""
    one, two = memory.remember("one"), memory.remember("two")
    link = memory.link(one.id, "see-also", two.id)
    clock.move()
    assert memory.link(one.id, "see-also", two.id) == link
    assert memory.links([one]) == [link]
    clock.move()
    ended = memory.unlink(one.id, "see-also", two.id)
    assert (ended.created_at, ended.ended_at) == (at(0), at(2))
    assert memory.links([one]) == []
    assert [(each.source, each.ended_at) for each in memory.links([one], as_of=at(1))] == [(one.id, at(2))]
    with pytest.raises(NotFound, match="no link"):
        memory.unlink(one.id, "see-also", two.id)


def test_links_that_make_no_sense_are_refused(memory: Recollect) -> None:
    """A link has a known kind, two different ends, and both of them are there."""
    one, two = memory.remember("one"), memory.remember("two")
    with pytest.raises(Refused, match="linked to itself"):
        memory.link(one.id, "see-also", one.id)
    with pytest.raises(Refused, match="one of supersedes, resolved-by, part-of, see-also, not 'likes'"):
        memory.link(one.id, "likes", two.id)
    memory.forget(two.id)
    with pytest.raises(NotFound, match="was forgotten"):
        memory.link(one.id, "see-also", two.id)
    assert memory.links([one]) == []


def test_what_is_not_there_can_be_neither_changed_nor_linked(memory: Recollect) -> None:
    """The deeds of the service themselves say what is missing, and keep spaces apart."""
    one = memory.remember("one")
    here, nowhere = Ref("personal", one.id), ref_of(99)
    with pytest.raises(NotFound, match=r"no memory .* to undo"):
        undo(memory.store, memory.clock, nowhere)
    with pytest.raises(NotFound, match="`recollect list`"):
        forget(memory.store, memory.clock, nowhere)
    with pytest.raises(Refused, match="belong to one space"):
        link(memory.store, memory.clock, here, "see-also", Ref("ours", one.id))


def test_an_outdated_answer_is_replaced_by_the_one_that_superseded_it(memory: Recollect) -> None:
    """A symptom brings the present answer, though the query has no word of either."""
    symptom = memory.remember("The printer jams.")
    old, new = memory.remember("Oil its roller."), memory.remember("Replace that feeder.")
    memory.link(symptom.id, "resolved-by", old.id)
    memory.link(new.id, "supersedes", old.id)
    (found,) = memory.recall("printer jams").results
    assert [answer.content for answer in found.answers] == ["Replace that feeder."]


def test_a_memory_forgotten_by_another_process_meanwhile_is_left_out(tmp_path: Path, clock: StandingClock) -> None:
    """A recall that overlaps a forgetting answers without the memory."""
    with open_recollect(tmp_path / "memory.db", clock) as memory:
        gone, stays = memory.remember("alpha one"), memory.remember("alpha two")
        search = memory.store.legs[0].search

        def search_then_forget(*arguments: Any) -> object:  # noqa: ANN401
            hits = search(*arguments)
            memory.forget(gone.id)
            return hits

        memory.store.legs[0].search = search_then_forget  # type: ignore[assignment, method-assign]
        assert [found.memory for found in memory.recall("alpha").results] == [stays]


def test_handles(memory: Recollect) -> None:
    """A memory is found by its id in any case, by its last characters, and not by too few or several's."""
    one = memory.remember("one", id="01900000-0000-7000-8000-0000000abcde")
    memory.remember("two", id="01900000-0000-7000-8000-0000000bbcde")
    assert memory.get(one.id.upper()).content == "one"
    assert memory.get(" abcde ").content == "one"
    for handle, message in (("cde", "too short"), ("ffff", "no memory ffff"), ("zzzz", "no memory"), ("%%%%", "no")):
        with pytest.raises(NotFound, match=message):
            memory.get(handle)


def test_undo_takes_back_a_link(memory: Recollect, clock: StandingClock) -> None:
    """What changed last may be a link: undoing ends it, undoing again makes it anew; no memory is touched."""
    old = memory.remember("old kiwi")
    clock.move()
    new = memory.remember("new kiwi")
    memory.link(new.id, "supersedes", old.id)
    clock.move()
    memory.undo_last()
    assert [found.memory for found in memory.recall("kiwi").results] == [new, old]
    clock.move()
    memory.undo_last()
    assert [found.memory for found in memory.recall("kiwi").results] == [new]
