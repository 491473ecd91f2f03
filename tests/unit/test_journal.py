"""The journal: what sessions were given, what was used, and a file that may be anything."""

import os
import sqlite3
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from making import START, id_of, ref_of
from recollect.core.errors import Ambiguous, NotFound, StoreError
from recollect.core.review import Pending
from recollect.journal import given
from recollect.journal.candidates import JournalQueue
from recollect.journal.file import Journal

HOUR = 3_600_000_000


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    opened = Journal(str(tmp_path / "folder" / "journal.db"), patience=0.05)
    yield opened
    opened.close()


def _note(journal: Journal, session: str, *memories: int, at: int = HOUR, milliseconds: float = 1.0) -> None:
    refs = [ref_of(number) for number in memories]
    given.note(journal, session, "prompt", at, refs, tokens=10 * len(refs), milliseconds=milliseconds)


def test_a_session_holds_what_it_was_given(journal: Journal) -> None:
    """Each session knows its own, until it is released."""
    _note(journal, "a", 1, 2)
    _note(journal, "b", 3)
    assert given.held(journal, "a").keys() == {ref_of(1).id, ref_of(2).id}
    given.release(journal, "a")
    assert given.held(journal, "a").keys() == frozenset()
    assert given.held(journal, "b").keys() == {ref_of(3).id}
    assert given.given_to(journal, "a") == [ref_of(1), ref_of(2)]


def test_what_was_released_may_be_given_again(journal: Journal) -> None:
    """After a compaction the same memory is held again, and counts twice."""
    _note(journal, "a", 1)
    given.release(journal, "a")
    _note(journal, "a", 1, at=2 * HOUR)
    assert given.held(journal, "a").keys() == {ref_of(1).id}
    assert given.tally(journal, 0).given == 2


def test_use_counts_once_and_for_a_day(journal: Journal) -> None:
    """A memory that is used within a day of being given was given to some use; later it is another story."""
    _note(journal, "a", 1, 2, at=HOUR)
    given.use(journal, [ref_of(1).id], 2 * HOUR)
    given.use(journal, [ref_of(1).id, ref_of(9).id], 3 * HOUR)
    given.use(journal, [ref_of(2).id], 30 * HOUR)
    usage = given.tally(journal, 0)
    assert (usage.given, usage.used) == (2, 1)


def test_the_tally_counts_prompts_silence_tokens_and_time(journal: Journal) -> None:
    """What is reported is what was noted since the time asked."""
    for number in range(100):
        _note(journal, "a", *([1] if number % 4 == 0 else []), at=HOUR + number, milliseconds=number)
    _note(journal, "old", 5, at=1)
    usage = given.tally(journal, HOUR)
    assert (usage.prompts, usage.silent, usage.tokens) == (100, 75, 250)
    assert usage.seconds == sum(range(100)) / 1000
    assert (usage.median_ms, usage.slow_ms) == (50, 99)


def test_an_empty_journal_counts_nothing(journal: Journal) -> None:
    """Before the first prompt all is zero."""
    assert given.tally(journal, 0) == given.Usage(0, 0, 0, 0, 0, 0.0, 0.0, 0.0)


def test_old_lines_are_dropped(journal: Journal) -> None:
    """What is older than what is kept goes; the rest stays."""
    _note(journal, "a", 1, at=0)
    _note(journal, "b", 2, at=91 * 24 * HOUR)
    given.prune(journal, 91 * 24 * HOUR)
    assert given.tally(journal, 0).prompts == 1
    assert given.given_to(journal, "a") == []


def test_a_change_that_fails_is_undone(journal: Journal) -> None:
    """All or nothing: what was written before the failure is not there, and the next change is not held up."""
    _note(journal, "a", 1)

    def fail() -> None:
        with journal.write() as connection:
            connection.execute("DELETE FROM given")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert given.given_to(journal, "a") == [ref_of(1)]
    given.release(journal, "a")


def test_whether_a_hook_has_spoken_is_known_by_session_and_hook(journal: Journal) -> None:
    """A silence, another hook and another session do not count; words without a whole memory do."""
    given.note(journal, "a", "prompt", HOUR, [ref_of(1)], tokens=10, milliseconds=1.0)
    given.note(journal, "a", "session-start", HOUR, [], tokens=0, milliseconds=1.0)
    given.note(journal, "b", "session-start", HOUR, [], tokens=30, milliseconds=1.0)
    assert given.has_spoken(journal, "a", "prompt")
    assert not given.has_spoken(journal, "a", "session-start")
    assert given.has_spoken(journal, "b", "session-start")


def test_a_journal_may_be_closed_twice_and_used_again(journal: Journal) -> None:
    """It is opened when it is needed."""
    _note(journal, "a", 1)
    journal.close()
    journal.close()
    assert given.given_to(journal, "a") == [ref_of(1)]


def test_the_file_is_its_owners_alone(journal: Journal) -> None:
    """Nobody else can read what was given."""
    _note(journal, "a", 1)
    assert stat.S_IMODE(os.stat(journal.path).st_mode) == 0o600


@pytest.mark.parametrize(
    "content", [b"not a database, but long enough to look at" * 50, b"SQLite format 3\0" + b"\xff" * 5000]
)
def test_a_damaged_journal_is_told(tmp_path: Path, content: bytes) -> None:
    """What is no journal is refused with a word on what to do."""
    path = tmp_path / "journal.db"
    path.write_bytes(content)
    with pytest.raises(StoreError, match="may be moved away"):
        given.held(Journal(str(path)), "a")


def test_another_versions_journal_is_refused(tmp_path: Path) -> None:
    """A file of a version to come is left as it is."""
    path = str(tmp_path / "journal.db")
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreError, match="another version"):
        given.held(Journal(path), "a")


def test_many_make_the_file_at_once(tmp_path: Path) -> None:
    """Whoever comes first makes the tables; nobody fails."""
    path = str(tmp_path / "journal.db")
    failed: list[BaseException] = []

    def once(number: int) -> None:
        try:
            mine = Journal(path, patience=30)
            _note(mine, f"session {number}", number)
            mine.close()
        except BaseException as error:  # noqa: BLE001 - told below
            failed.append(error)

    threads = [threading.Thread(target=once, args=(number,)) for number in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    counted = Journal(path)
    assert given.tally(counted, 0).prompts == 8
    counted.close()


def test_what_waits_is_found_by_the_end_of_its_id(journal: Journal) -> None:
    """Four characters are enough where they are one's own; those that fit several, or none, are told."""
    queue = JournalQueue(journal)
    for number in (0xABCDE1111, 0xABCDF1111, 0xABCDE2222):
        queue.add(
            Pending(id_of(number), START, "personal", f"Rule {number}.", "facts", 0.5, "request", None, None, None)
        )
    assert queue.find("personal", " 2222 ").id == id_of(0xABCDE2222)
    assert queue.find("personal", "E1111").id == id_of(0xABCDE1111)
    with pytest.raises(Ambiguous, match="1111 fits several"):
        queue.find("personal", "1111")
    for handle in ("222", "3333"):
        with pytest.raises(NotFound, match=f"has the id {handle}"):
            queue.find("personal", handle)
