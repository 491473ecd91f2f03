"""Export and import: nothing lost, safe to repeat, and no file crashes an import."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from making import StandingClock, at, id_of, make_memory, open_recollect
from recollect.core.errors import Refused
from recollect.core.hits import Ref
from recollect.core.record import to_record
from recollect.service.recollect import Recollect
from recollect.service.transfer import Imported, export_lines, import_lines

HEADER = json.dumps({"recollect": "export", "format": 1})
LINK = {
    "type": "link",
    "space": "personal",
    "source": id_of(1),
    "kind": "see-also",
    "target": id_of(2),
    "created_at": "2026-01-01T00:00:00Z",
}


@pytest.fixture
def clock() -> StandingClock:
    return StandingClock()


@pytest.fixture
def memory(tmp_path: Path, clock: StandingClock) -> Iterator[Recollect]:
    with open_recollect(tmp_path / "here.db", clock) as opened:
        yield opened


@pytest.fixture
def other(tmp_path: Path, clock: StandingClock) -> Iterator[Recollect]:
    with open_recollect(tmp_path / "there.db", clock) as opened:
        yield opened


def _line(number: int = 1, **fields: Any) -> str:  # noqa: ANN401
    return json.dumps({"type": "memory", "states": [{**to_record(make_memory(number)), **fields}]})


def test_an_export_says_what_it_is_and_is_one_object_a_line(memory: Recollect) -> None:
    """The first line is the header; text with line ends of any kind stays on its line."""
    memory.remember("two\nlines\r\nand \u2028 more \x85 \x0b \x1c", id=id_of(1))
    memory.remember("other", id=id_of(2))
    memory.link(id_of(1), "see-also", id_of(2))
    lines = list(memory.export_lines())
    assert json.loads(lines[0]) == {"recollect": "export", "format": 1}
    assert not any("\n" in line or "\r" in line for line in lines)
    assert [json.loads(line)["type"] for line in lines[1:]] == ["memory", "memory", "link"]


def test_what_was_exported_is_imported_with_its_past(memory: Recollect, other: Recollect, clock: StandingClock) -> None:
    """Every state and link arrives; a second import changes nothing."""
    memory.remember("one", id=id_of(1))
    memory.remember("two", id=id_of(2))
    memory.link(id_of(1), "part-of", id_of(2))
    clock.move()
    memory.edit(id_of(1), content="one, changed")
    memory.forget(id_of(2))
    lines = list(memory.export_lines())
    outcome = other.import_lines(lines)
    assert (outcome.added, outcome.links, outcome.problems) == (2, 1, [])
    assert list(other.export_lines()) == lines
    assert other.get(id_of(1), as_of=at(0)).content == "one"
    again = other.import_lines(lines)
    assert (again.added, again.updated, again.unchanged, again.links, again.problems) == (0, 0, 2, 0, [])
    assert list(other.export_lines()) == lines


def test_a_dry_run_says_what_would_happen_and_does_nothing(memory: Recollect, other: Recollect) -> None:
    """The counts of a dry run are those of the import that follows."""
    memory.remember("one", id=id_of(1))
    memory.remember("two", id=id_of(2))
    memory.link(id_of(1), "see-also", id_of(2))
    lines = list(memory.export_lines())
    dry = other.import_lines(lines, dry_run=True)
    assert list(other.export_lines()) == [HEADER.replace(" ", "")]
    assert dry == other.import_lines(lines)
    assert other.import_lines(lines, dry_run=True) == other.import_lines(lines)


def test_what_changed_since_the_last_import_is_brought_up_to_date(
    memory: Recollect, other: Recollect, clock: StandingClock
) -> None:
    """Later states are added to the earlier ones, and a store that is ahead stays ahead."""
    memory.remember("one", id=id_of(1))
    early = list(memory.export_lines())
    other.import_lines(early)
    clock.move()
    memory.edit(id_of(1), content="two")
    outcome = other.import_lines(memory.export_lines())
    assert (outcome.updated, other.get(id_of(1)).content) == (1, "two")
    assert other.import_lines(early).unchanged == 1
    assert other.get(id_of(1)).content == "two"


def test_a_link_that_ended_since_the_last_import_ends(
    memory: Recollect, other: Recollect, clock: StandingClock
) -> None:
    """The end of a link is carried over like any other change, and a dry run says the same."""
    one, two = memory.remember("one"), memory.remember("two")
    memory.link(one.id, "see-also", two.id)
    other.import_lines(memory.export_lines())
    clock.move()
    memory.unlink(one.id, "see-also", two.id)
    lines = list(memory.export_lines())
    dry = other.import_lines(lines, dry_run=True)
    assert dry == other.import_lines(lines)
    assert other.links([one]) == []
    assert list(other.export_lines()) == lines


@pytest.mark.parametrize("space", ["team", "two words", "tab\there", "👩\u200d👩\u200d👧", "\u202eodd"])
def test_links_of_any_space_arrive(tmp_path: Path, clock: StandingClock, space: str) -> None:
    """A link is imported in every space that its memories can be in, whatever the space is called."""
    with (
        open_recollect(tmp_path / "a.db", clock, space=space) as here,
        open_recollect(tmp_path / "b.db", clock, space=space) as there,
    ):
        one, two = here.remember("one"), here.remember("two")
        here.link(one.id, "see-also", two.id)
        outcome = there.import_lines(here.export_lines())
        assert (outcome.added, outcome.links, outcome.problems) == (2, 1, [])


def test_another_past_is_a_conflict_that_is_told_and_the_rest_is_taken(memory: Recollect, other: Recollect) -> None:
    """A memory that went two ways is left as it is here; its line and what to do are told."""
    memory.remember("one", id=id_of(1))
    memory.remember("two", id=id_of(2))
    other.remember("something else", id=id_of(1))
    outcome = other.import_lines(memory.export_lines())
    assert (outcome.added, len(outcome.problems)) == (1, 1)
    assert outcome.problems[0].startswith(f"line 2: {id_of(1)} is here already with another past")
    assert other.get(id_of(1)).content == "something else"


def test_imports_larger_than_one_batch(memory: Recollect, other: Recollect) -> None:
    """More memories than go into one transaction arrive, and progress is told for every line."""
    for number in range(450):
        memory.store.memories.add([make_memory(number, f"memory {number}")])
    lines = list(memory.export_lines())
    told: list[int] = []
    assert other.import_lines(lines, progress=told.append) == Imported(added=450)
    assert told == [len(line) for line in lines]
    assert other.store.examine(lambda _done, _total: None) == []


def test_the_length_limit_of_today_does_not_bind_an_import(memory: Recollect) -> None:
    """A memory that was accepted under a larger limit comes back under a smaller one."""
    assert memory.import_lines([HEADER, _line(content="x" * 5000)]).added == 1


@pytest.mark.parametrize(
    ("first", "message"),
    [
        ("", "first line does not say so"),
        ("not json", "first line does not say so"),
        ("[]", "first line does not say so"),
        ('{"recollect": "backup"}', "first line does not say so"),
        ('{"recollect": "export", "format": 2}', "has format 2; this Recollect reads 1. Upgrade"),
    ],
)
def test_what_is_no_export_is_refused(memory: Recollect, first: str, message: str) -> None:
    """A file that does not say it is an export of a known format is not read any further."""
    with pytest.raises(Refused, match=message):
        memory.import_lines([first, _line()])
    assert memory.page(memory.scope(), 10) == []


def test_an_empty_file_is_no_export(memory: Recollect) -> None:
    """A file cut down to nothing is refused rather than imported as no memories."""
    with pytest.raises(Refused, match="not a Recollect export"):
        memory.import_lines([])


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("not json", "not JSON"),
        ("[]", "not a JSON object"),
        ('{"type": "song"}', "neither a memory nor a link but 'song'"),
        ('{"type": "memory"}', "no states"),
        (_line(content=""), "needs some text"),
        (_line(content="\ud800"), "surrogate"),
        (_line(content="x\0"), "null character"),
        (_line(space="\ud800"), "surrogate"),
        (_line(id="x"), "not an id"),
        (_line(importance=10**400), "from 0 to 1"),
        (_line(importance=float("nan")), "from 0 to 1"),
        (_line(created_at=None), "created_at"),
        (_line(updated_at=None), "updated_at"),
        (_line(place=2**70), "place"),
        (_line(version=2), "versions of one memory"),
        ("[" * 100_000, "not JSON"),
        (json.dumps({**LINK, "target": id_of(9)}), "no memory"),
        (json.dumps({**LINK, "source": "\ud800"}), ""),
        (json.dumps({**LINK, "target": "no id"}), ""),
        (json.dumps({**LINK, "space": "\ud800"}), ""),
        (json.dumps({**LINK, "space": "elsewhere"}), "no memory"),
        (json.dumps({**LINK, "kind": "likes"}), "not 'likes'"),
        (json.dumps({**LINK, "kind": 5}), "lacks its"),
        (json.dumps({**LINK, "created_at": None}), "not a time"),
    ],
)
def test_a_bad_line_is_told_by_its_number_and_the_rest_is_taken(memory: Recollect, line: str, problem: str) -> None:
    """Whatever one line holds, the others are imported and the report says which was not, and why."""
    outcome = memory.import_lines([HEADER, _line(1), line, "", _line(2)])
    assert outcome.added == 2
    assert len(outcome.problems) == 1
    assert outcome.problems[0].startswith("line 3: ")
    assert problem in outcome.problems[0]
    outcome.problems[0].encode()


def test_an_export_does_not_carry_what_is_purged_meanwhile(memory: Recollect, other: Recollect) -> None:
    """Others may write while an export runs: what it carries is whole, and imports without a problem."""
    one, two = memory.remember("one"), memory.remember("two")
    memory.link(two.id, "see-also", one.id)
    lines = memory.export_lines()
    head = next(lines)
    memory.purge(one.id)
    outcome = other.import_lines([head, *lines])
    assert (outcome.added, outcome.links, outcome.problems) == (1, 0, [])


def test_an_import_may_go_into_one_space(memory: Recollect, other: Recollect) -> None:
    """Whatever space its records name, with their links; an export may be of one space and tells what it carries."""
    memory.remember("one", id=id_of(1))
    memory.remember("two", id=id_of(2))
    memory.link(id_of(1), "see-also", id_of(2))
    carried: list[Ref] = []
    lines = list(export_lines(memory.store, ["personal"], carried.append))
    assert carried == [Ref("personal", id_of(1)), Ref("personal", id_of(2))]
    assert list(export_lines(memory.store, ["team"])) == [lines[0]]
    assert import_lines(other.store, lines, into="team") == Imported(added=2, links=1)
    assert [count.space for count in other.store.count()] == ["team"]
    assert [line.replace("team", "personal") for line in export_lines(other.store, ["team"])] == lines
