"""A long-lived process keeps vectors and concepts complete, whatever happens meanwhile, until it is told to stop."""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from fakes import ToyEmbedder
from making import change_memory, make_memory, use_model, wait_until
from recollect.core.errors import EmbedderBusy, EmbedderError, StoreBusy, TextRefused
from recollect.core.vectors import Vector
from recollect.service import keep_up
from recollect.service.embed import embed_waiting
from recollect.service.extract import extract_waiting
from recollect.service.gate import Gate, Gates
from recollect.service.keep_up import KeepUp
from recollect.stores.sqlite.store import SqliteStore

OFTEN = 0.005
LONG = 60.0


@dataclass
class MoodyEmbedder(ToyEmbedder):
    """Raises the errors that it is given, one a call, before it works."""

    errors: list[Exception] = field(default_factory=list)

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        if self.errors:
            raise self.errors.pop(0)
        return super().embed_documents(texts)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(str(tmp_path / "memory.db"))
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def _all_threads_end() -> Iterator[None]:
    """No test leaves a thread behind that embeds or reads."""
    yield
    wait_until(lambda: not (_running("embedding") or _running("reading")))


def _running(name: str) -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == name]


@contextmanager
def _keeping_up(store: SqliteStore, open_embedder: Callable[[str], ToyEmbedder]) -> Iterator[KeepUp]:
    keeping = KeepUp(store, Gates(open_embedder), OFTEN)
    keeping.start()
    try:
        yield keeping
    finally:
        keeping.stop(LONG)


def _complete(store: SqliteStore, vectors: int) -> bool:
    active = [each for each in store.vectors.sets() if each.active]
    return [(each.vectors, each.waiting) for each in active] == [(vectors, 0)]


def _read(store: SqliteStore, memories: int) -> bool:
    """Whether all is read and that many mention what every memory of these tests does."""
    waiting = [each.waiting for each in store.concepts.readers()]
    concept = store.concepts.find("personal", "Tuesdays")
    return waiting == [0] and concept is not None and len(concept.mentions) == memories


def test_concepts_are_read_without_any_model(store: SqliteStore, tmp_path: Path) -> None:
    """What was there, what this process writes and what another one does is read soon, though nothing is embedded."""
    first = make_memory(1)
    store.memories.add([first])
    with _keeping_up(store, ToyEmbedder):
        wait_until(lambda: _read(store, 1))
        store.memories.add([make_memory(2)])
        wait_until(lambda: _read(store, 2))
        store.memories.change(change_memory(first, 10, content="no day is named"))
        wait_until(lambda: _read(store, 1))
        another = SqliteStore(str(tmp_path / "memory.db"))
        another.memories.add([make_memory(n) for n in range(3, 60)])
        another.close()
        wait_until(lambda: _read(store, 58))


def test_a_model_in_trouble_does_not_hold_up_concepts(store: SqliteStore) -> None:
    """While a model hangs, and while one that failed is left alone, what is written is read."""
    store.memories.add([make_memory(1)])
    use_model(store)
    asked, go_on = threading.Event(), threading.Event()

    class Hanging(ToyEmbedder):
        def embed_documents(self, texts: Sequence[str]) -> list[Vector]:  # noqa: ARG002 - it never gets that far
            asked.set()
            assert go_on.wait(LONG)
            raise EmbedderError("broken")

    with _keeping_up(store, Hanging):
        assert asked.wait(LONG)
        store.memories.add([make_memory(2)])
        wait_until(lambda: _read(store, 2))
        go_on.set()
        store.memories.add([make_memory(3)])
        wait_until(lambda: _read(store, 3))
    assert not _complete(store, 3)


def test_trouble_with_reading_is_told_and_passes(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever goes wrong while reading is logged; vectors are made meanwhile, concepts as soon as it works again."""
    monkeypatch.setattr(keep_up, "SECONDS_AFTER_TROUBLE", OFTEN)
    failures = [StoreBusy("held by a backup"), RuntimeError("unforeseen")]

    def fail_twice(*given: Any, **more: Any) -> int:  # noqa: ANN401 - as it is called
        if failures:
            raise failures.pop(0)
        return extract_waiting(*given, **more)

    monkeypatch.setattr(keep_up, "extract_waiting", fail_twice)
    store.memories.add([make_memory(1)])
    use_model(store)
    with _keeping_up(store, ToyEmbedder):
        wait_until(lambda: _complete(store, 1) and _read(store, 1))
    assert [record.message for record in caplog.records] == [
        "concepts are not read: held by a backup",
        "concepts are not read: unforeseen",
    ]


def test_what_is_written_while_it_runs_is_embedded(store: SqliteStore, tmp_path: Path) -> None:
    """What this process adds or edits, and what another one writes, has its vector soon."""
    first = make_memory(1)
    store.memories.add([first])
    use_model(store)
    with _keeping_up(store, ToyEmbedder):
        wait_until(lambda: _complete(store, 1))
        store.memories.add([make_memory(2)])
        wait_until(lambda: _complete(store, 2))
        store.memories.change(change_memory(first, 10, content="edited"))
        wait_until(lambda: _complete(store, 2))
        another = SqliteStore(str(tmp_path / "memory.db"))
        another.memories.add([make_memory(n) for n in range(3, 30)])
        another.close()
        wait_until(lambda: _complete(store, 29))


def test_it_follows_the_model_in_use(store: SqliteStore) -> None:
    """Nothing is done without a model; the one that is switched to is kept complete from then on."""
    store.memories.add([make_memory(1)])
    opened: list[str] = []

    def open_embedder(model: str) -> ToyEmbedder:
        opened.append(model)
        return ToyEmbedder(model)

    with _keeping_up(store, open_embedder):
        store.vectors.begin("left alone")
        use_model(store, "one")
        wait_until(lambda: _complete(store, 1))
        use_model(store, "another")
        wait_until(lambda: _complete(store, 1))
        store.memories.add([make_memory(2)])
        wait_until(lambda: _complete(store, 2))
    assert opened == ["one", "another"]
    assert [(each.model, each.waiting) for each in store.vectors.sets()] == [
        ("left alone", 2),
        ("one", 1),
        ("another", 0),
    ]


@pytest.mark.parametrize(
    ("error", "told"),
    [(EmbedderError("model is broken"), logging.WARNING), (EmbedderBusy("limit reached"), logging.INFO)],
)
def test_it_survives_trouble(
    store: SqliteStore,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    error: EmbedderError,
    told: int,
) -> None:
    """A model that fails is logged and asked again later, and then nothing is missing."""
    for pause in ("SECONDS_AFTER_TROUBLE", "BUSY_SECONDS"):
        monkeypatch.setattr(keep_up, pause, OFTEN)
    caplog.set_level(logging.INFO, "recollect.service.keep_up")
    store.memories.add([make_memory(1)])
    use_model(store)
    with _keeping_up(store, lambda model: MoodyEmbedder(model, errors=[error, error])):
        wait_until(lambda: _complete(store, 1))
    assert [(record.levelno, str(error) in record.message) for record in caplog.records] == [(told, True)] * 2


def test_a_model_that_cannot_be_opened_is_asked_for_again(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that comes later, after a download or a repair, is used then."""
    monkeypatch.setattr(keep_up, "SECONDS_AFTER_TROUBLE", OFTEN)
    store.memories.add([make_memory(1)])
    use_model(store)
    tries: list[str] = []

    def open_third_time(model: str) -> ToyEmbedder:
        tries.append(model)
        if len(tries) < 3:
            raise EmbedderError(f"{model} is not here yet.")
        return ToyEmbedder(model)

    with _keeping_up(store, open_third_time):
        wait_until(lambda: _complete(store, 1))
    assert len(tries) == 3


def test_after_trouble_it_waits_before_it_asks_again(store: SqliteStore) -> None:
    """A broken model is not asked all the time, and stopping does not wait for the pause to end."""
    store.memories.add([make_memory(1)])
    use_model(store)
    asked: list[str] = []

    def refuse(model: str) -> ToyEmbedder:
        asked.append(model)
        raise EmbedderError("broken")

    began = time.monotonic()
    with _keeping_up(store, refuse):
        wait_until(lambda: bool(asked))
    assert time.monotonic() - began < LONG
    assert (asked, _running("embedding")) == (["toy"], [])


def test_what_was_refused_is_not_sent_again_at_every_look(store: SqliteStore) -> None:
    """A text that a model will not take, now or later, costs no further questions while nothing about it changes."""
    shown: list[str] = []

    class Refusing(ToyEmbedder):
        def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
            shown.extend(texts)
            if "bad" in texts:
                raise TextRefused("It will not take this.")
            return super().embed_documents(texts)

    store.memories.add([make_memory(1, "bad")])
    use_model(store)
    with _keeping_up(store, Refusing):
        for number in (2, 3, 4, 5):
            store.memories.add([make_memory(number, f"good {number}")])
            wait_until(lambda: store.vectors.sets()[0].waiting == 1)
    assert shown.count("bad") < 4


def test_stopping_ends_it_between_two_batches(store: SqliteStore) -> None:
    """Who stops it gets on at once, whatever the model does; what is not done stays queued for another run."""
    store.memories.add([make_memory(n) for n in range(1, 200)])
    use_model(store)
    asked, go_on = threading.Event(), threading.Event()

    class Slow(ToyEmbedder):
        def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
            asked.set()
            assert go_on.wait(LONG)
            return super().embed_documents(texts)

    keeping = KeepUp(store, Gates(Slow), OFTEN)
    keeping.start()
    assert asked.wait(LONG)
    keeping.stop(0.01)
    assert _running("embedding")
    go_on.set()
    wait_until(lambda: not _running("embedding"))
    (only,) = store.vectors.sets()
    assert (0 < only.vectors < 199, only.vectors + only.waiting) == (True, 199)
    embed_waiting(store, Gate(ToyEmbedder()))
    assert _complete(store, 199)
