"""Memories that wait are read for their concepts: each once, by whoever is the one to read, while there is time."""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from making import change_memory, make_memory, wait_until
from recollect.core.concepts import Extraction, Mention
from recollect.core.memory import Memory
from recollect.service import extract
from recollect.service.extract import Rules, catch_up, extract_waiting
from recollect.stores.sqlite.store import SqliteStore

LONG = 60.0


@dataclass
class Watcher:
    """Reads the same in every memory, and keeps what it was given."""

    name: str = "watcher"
    shown: list[str] = field(default_factory=list)

    def extract(self, memories: Sequence[Memory]) -> list[Extraction]:
        self.shown += [memory.content for memory in memories]
        return [Extraction((Mention(self.name),)) for _ in memories]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(str(tmp_path / "memory.db"))
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def _all_threads_end() -> Iterator[None]:
    """No test leaves a thread behind that reads."""
    yield
    wait_until(lambda: not _reading())


def _reading() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "reading"]


def _waiting(store: SqliteStore) -> dict[str, int]:
    return {reader.name: reader.waiting for reader in store.concepts.readers()}


def _mentioned(store: SqliteStore, name: str) -> int:
    concept = store.concepts.find("personal", name)
    return 0 if concept is None else len(concept.mentions)


def test_each_is_read_once(store: SqliteStore) -> None:
    """All that waits is read in batches with its progress told; what was read waits no more, until it changes."""
    store.memories.add([make_memory(number, f"note {number}") for number in range(1, 8)])
    watcher, told = Watcher(), list[tuple[int, int]]()
    assert extract_waiting(store, watcher, batch=3, progress=lambda done, total: told.append((done, total))) == 7
    assert told == [(3, 7), (6, 7), (7, 7)]
    assert extract_waiting(store, watcher) == 0
    store.memories.change(change_memory(make_memory(2, "note 2"), 100, content="note 2, edited"))
    assert extract_waiting(store, watcher) == 1
    assert sorted(watcher.shown) == sorted([*(f"note {number}" for number in range(1, 8)), "note 2, edited"])


def test_a_sensitive_memory_is_given_to_nobody(store: SqliteStore) -> None:
    """What is sensitive from the start, or becomes so before it is read, reaches no extractor, rules included."""
    store.memories.add([make_memory(1, "open"), make_memory(2, "secret", sensitive=True), make_memory(3, "hidden")])
    watcher = Watcher()
    store.concepts.begin(watcher.name)
    store.memories.change(change_memory(make_memory(3, "hidden"), 100, sensitive=True))
    assert extract_waiting(store, watcher) == 1
    assert watcher.shown == ["open"]
    assert _waiting(store) == {"watcher": 0}


def test_it_can_be_stopped_between_two_batches(store: SqliteStore) -> None:
    """Whoever stops it loses nothing: the rest waits for the next time."""
    store.memories.add([make_memory(number) for number in range(1, 8)])
    watcher = Watcher()
    assert extract_waiting(store, watcher, batch=2, stop=lambda: len(watcher.shown) >= 4) == 4
    assert _waiting(store) == {"watcher": 3}
    assert extract_waiting(store, watcher) == 3


def test_only_one_space_is_read_if_one_is_named(store: SqliteStore) -> None:
    """The queues of other spaces are left to whoever reads those."""
    store.memories.add([make_memory(1), make_memory(2, space="team")])
    assert extract_waiting(store, Watcher(), space="team") == 1
    assert _waiting(store) == {"watcher": 1}


def test_newer_rules_replace_older_ones(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the rules change, all is read anew and nothing is left of what the older ones read."""
    store.memories.add([make_memory(1, "It was Rex Harrison.")])
    old = Watcher("rules 0")
    extract_waiting(store, old)
    extract_waiting(store, Watcher("musique 0"))
    assert _mentioned(store, "rules 0") == 1
    assert extract_waiting(store, Rules()) == 1
    assert (_mentioned(store, "rules 0"), _mentioned(store, "Rex Harrison")) == (0, 1)
    assert _waiting(store) == {"musique 0": 0, Rules.name: 0}
    monkeypatch.setattr(Rules, "name", "rules 999")
    assert extract_waiting(store, Rules()) == 1
    assert _waiting(store) == {"musique 0": 0, "rules 999": 0}


def test_older_rules_leave_the_reading_to_newer_ones(store: SqliteStore) -> None:
    """A process that was running before an upgrade does not undo what the newer one reads."""
    store.memories.add([make_memory(1)])
    newer = Watcher("rules 999")
    store.concepts.begin(newer.name)
    assert extract_waiting(store, Rules()) == 0
    assert _waiting(store) == {"rules 999": 1}
    assert extract_waiting(store, newer) == 1


def test_catching_up_reads_what_waits(store: SqliteStore) -> None:
    """Before a recall, what was just remembered is read; the first time of all, everything is."""
    store.memories.add([make_memory(1, "It was Rex Harrison.")])
    catch_up(store, LONG)
    assert _mentioned(store, "rex harrison") == 1
    store.memories.add([make_memory(2, "Kay Kendall met Rex Harrison.")])
    catch_up(store, LONG)
    assert _mentioned(store, "rex harrison") == 2


def test_catching_up_costs_nothing_if_nothing_waits(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as all is read, no thread is started and nothing is written."""
    catch_up(store, LONG)
    monkeypatch.setattr(extract, "work_for", None)
    catch_up(store, LONG)


def test_catching_up_waits_no_longer_than_it_may(store: SqliteStore) -> None:
    """While another process writes for long, a recall gets on without what waits, which stays queued."""
    store.memories.add([make_memory(1)])
    store.concepts.begin(Rules.name)
    with store._database.write():  # noqa: SLF001 - as another process would hold it
        catch_up(store, 0.05)
        assert _reading()
    wait_until(lambda: not _reading())
    catch_up(store, LONG)
    assert _waiting(store) == {Rules.name: 0}


def test_catching_up_stops_in_time(store: SqliteStore) -> None:
    """With more waiting than the time is good for, what was read is kept and the rest waits."""
    store.memories.add([make_memory(number) for number in range(1, 200)])
    store.concepts.begin(Rules.name)
    catch_up(store, 0.0)
    wait_until(lambda: not _reading())
    assert _waiting(store)[Rules.name] > 0
