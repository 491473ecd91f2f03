"""Export and import of whatever happened to a store."""

import tempfile
from datetime import datetime
from pathlib import Path

from hypothesis import example, given, settings

from making import StandingClock, open_recollect
from recollect.core.hits import Ref
from recollect.core.memory import Link, Revision
from recollect.service.recollect import Recollect
from strategies import Deed, live, lives, recalls


def _everything(memory: Recollect) -> tuple[dict[Ref, list[Revision]], dict[Ref, list[Link]], object]:
    refs = list(memory.store.memories.walk())
    return (
        {ref: memory.store.memories.history(ref) for ref in refs},
        {ref: memory.store.links.all_of(ref) for ref in refs},
        memory.store.count(),
    )


def _answers(memory: Recollect, moments: list[datetime]) -> list[object]:
    return [recalls(memory, moment) for moment in (None, *moments[::5])]


@settings(max_examples=25)
@given(lives)
def test_an_import_into_an_empty_store_is_the_same_store(life: list[Deed]) -> None:
    """Rows, past states, links, counts and every recall, now and then, are those of the store exported; importing
    again changes nothing.
    """
    with tempfile.TemporaryDirectory() as folder:
        clock = StandingClock()
        with (
            open_recollect(Path(folder) / "here.db", clock) as here,
            open_recollect(Path(folder) / "there.db", clock) as there,
        ):
            for memory in (here, there):
                memory.set("weight.exact", "1")
            moments = live(here, clock, life)
            lines = list(here.export_lines())
            outcome = there.import_lines(lines)
            assert outcome.problems == []
            assert outcome.added == len(list(here.store.memories.walk()))
            assert _everything(there) == _everything(here)
            assert _answers(there, moments) == _answers(here, moments)
            assert list(there.export_lines()) == lines
            again = there.import_lines(lines)
            assert (again.added, again.updated, again.links, again.problems) == (0, 0, 0, [])
            assert _everything(there) == _everything(here)
            assert there.store.examine(lambda _done, _total: None) == []


@settings(max_examples=25)
@given(lives, lives)
@example(
    [Deed("remember", words=("kiwi",)), Deed("remember", words=("melon",)), Deed("see-also", 0, 1)],
    [Deed("unlink", 0, 1, label="see-also")],
)
def test_an_import_of_what_came_since_brings_a_store_up_to_date(before: list[Deed], since: list[Deed]) -> None:
    """A store that was imported once is, after the next import, what it would be from importing everything at once."""
    with tempfile.TemporaryDirectory() as folder:
        clock = StandingClock()
        with (
            open_recollect(Path(folder) / "here.db", clock) as here,
            open_recollect(Path(folder) / "there.db", clock) as there,
        ):
            live(here, clock, before)
            there.import_lines(here.export_lines())
            live(here, clock, since)
            lines = list(here.export_lines())
            assert there.import_lines(lines).problems == []
            assert list(there.export_lines()) == lines
            assert recalls(there) == recalls(here)
