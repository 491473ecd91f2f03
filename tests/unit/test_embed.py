"""From the queue through a model into the set: what is refused, what stops it, and what it never does."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from fakes import ToyEmbedder
from making import change_memory, forget_memory, make_memory, ref_of, use_model
from recollect.core.errors import EmbedderBusy, EmbedderError, NotFound, TextRefused
from recollect.core.ports import Queued
from recollect.core.vectors import Vector
from recollect.service.embed import Embedded, build, catch_up, embed_waiting
from recollect.service.gate import Gate, Gates
from recollect.stores.sqlite.store import SqliteStore

LONG = 60.0


@dataclass
class TroubledEmbedder(ToyEmbedder):
    """Does something else before it embeds, such as raising an error, and counts how often it is asked."""

    trouble: Callable[[Sequence[str]], object] = lambda _texts: None
    calls: int = 0

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        self.calls += 1
        self.trouble(texts)
        return super().embed_documents(texts)


@dataclass
class StuckEmbedder(ToyEmbedder):
    """Does not come back before it is let go."""

    let_go: threading.Event = field(default_factory=threading.Event)
    began: threading.Event = field(default_factory=threading.Event)

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        self.began.set()
        self.let_go.wait(LONG)
        return super().embed_documents(texts)


def _refuse_bad(texts: Sequence[str]) -> None:
    for text in texts:
        if "bad" in text:
            raise TextRefused(f"{text!r} is more than it takes.")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(str(tmp_path / "memory.db"))
    yield opened
    opened.close()


def _amounts(store: SqliteStore) -> tuple[int, int]:
    (only,) = store.vectors.sets()
    return only.vectors, only.waiting


def test_all_that_waits_is_embedded_and_told(store: SqliteStore) -> None:
    """It goes batch by batch, each memory once, and tells how far it is."""
    store.memories.add([make_memory(n, f"text {n}") for n in range(1, 8)])
    store.vectors.begin("toy")
    toy, told = ToyEmbedder(), list[tuple[int, int]]()
    done = embed_waiting(store, Gate(toy), progress=lambda *now: told.append(now), batch=3)
    assert done == Embedded(7)
    assert told == [(3, 7), (6, 7), (7, 7)]
    assert sorted(toy.shown) == [f"text {n}" for n in range(1, 8)]
    assert _amounts(store) == (7, 0)
    assert embed_waiting(store, Gate(toy)) == Embedded(0)
    assert len(toy.shown) == 7


def test_a_model_without_a_set_is_told(store: SqliteStore) -> None:
    """Nobody embeds for a set that was never begun."""
    with pytest.raises(NotFound, match="recollect embed"):
        embed_waiting(store, Gate(ToyEmbedder()))


def test_what_is_sensitive_or_forgotten_reaches_no_model(store: SqliteStore) -> None:
    """Neither its own text, nor as what was said before another's."""
    turns = [make_memory(n, f"turn {n}", session="s1", place=n) for n in range(1, 5)]
    store.memories.add([*turns, make_memory(9, "secret", session="s1", place=2, sensitive=True)])
    store.memories.change(forget_memory(turns[0], 10))
    store.memories.change(change_memory(turns[2], 10, sensitive=True))
    store.vectors.begin("toy")
    toy = ToyEmbedder()
    assert embed_waiting(store, Gate(toy)) == Embedded(2)
    assert not any(word in text for text in toy.shown for word in ("secret", "turn 1", "turn 3"))


@pytest.mark.parametrize("batch", [1, 2, 3, 64])
def test_a_refused_text_holds_up_nobody_else(store: SqliteStore, batch: int) -> None:
    """Those that the model will not take are named with its reason and stay queued; all others are embedded."""
    bad = (1, 2, 3, 7, 20)
    store.memories.add([make_memory(n, f"{'bad' if n in bad else 'good'} {n}") for n in range(1, 21)])
    store.vectors.begin("toy")
    embedder = TroubledEmbedder(trouble=_refuse_bad)
    done = embed_waiting(store, Gate(embedder), batch=batch)
    assert done.kept == 15
    assert dict(done.refused) == {ref_of(n): f"'bad {n}' is more than it takes." for n in bad}
    assert {each.memory.content for each in store.vectors.waiting("toy", 100)} == {f"bad {n}" for n in bad}
    assert _amounts(store) == (15, 5)


def test_a_model_that_takes_nothing_is_not_asked_on(store: SqliteStore) -> None:
    """Where all of a batch are refused and none was ever taken, it is the model: its reason ends the work at once."""
    store.memories.add([make_memory(n, f"bad {n}") for n in range(1, 101)])
    store.vectors.begin("toy")
    embedder, refused = TroubledEmbedder(trouble=_refuse_bad), dict[Queued, str]()
    with pytest.raises(EmbedderError, match="'bad 1' is more than it takes"):
        embed_waiting(store, Gate(embedder), batch=16, refused=refused)
    assert embedder.calls < 32
    assert (refused, _amounts(store)) == ({}, (0, 100))


def test_a_refused_text_is_looked_for_by_halves(store: SqliteStore) -> None:
    """One bad text among 64 costs two questions for each halving, not one for each text."""
    store.memories.add([make_memory(n, "bad" if n == 40 else f"good {n}") for n in range(1, 65)])
    store.vectors.begin("toy")
    embedder = TroubledEmbedder(trouble=_refuse_bad)
    assert embed_waiting(store, Gate(embedder)).kept == 63
    assert embedder.calls <= 1 + 2 * 6


def test_a_memory_that_is_changed_is_refused_no_longer(store: SqliteStore) -> None:
    """What was refused is tried again by the next run, and taken when its text is another."""
    bad = make_memory(1, "bad")
    store.memories.add([bad])
    store.vectors.begin("toy")
    gate = Gate(TroubledEmbedder(trouble=_refuse_bad))
    assert len(embed_waiting(store, gate).refused) == 1
    store.memories.change(change_memory(bad, 10, content="good"))
    assert embed_waiting(store, gate) == Embedded(1)


def test_a_turn_behind_a_refused_one_is_embedded_by_itself(store: SqliteStore) -> None:
    """What the model will not take costs no other memory its vector, not even those that are read together with it."""
    store.memories.add([make_memory(n, "bad" if n == 1 else f"good {n}", session="s1", place=n) for n in (1, 2, 3)])
    store.vectors.begin("toy")
    done = embed_waiting(store, Gate(TroubledEmbedder(trouble=_refuse_bad)))
    assert (done.kept, [ref for ref, _ in done.refused]) == (2, [ref_of(1)])


def test_a_text_without_a_direction_holds_up_nobody_else(store: SqliteStore) -> None:
    """A text of which the model makes nothing but zeros is refused alone; those behind it are embedded."""

    class Zeroing(ToyEmbedder):
        def vector(self, text: str) -> Vector:
            return [0.0] * 16 if text == "..." else super().vector(text)

    store.memories.add([make_memory(1, "..."), make_memory(2, "good")])
    store.vectors.begin("toy")
    done = embed_waiting(store, Gate(Zeroing()))
    assert (done.kept, [ref for ref, _ in done.refused]) == (1, [ref_of(1)])


@pytest.mark.parametrize("error", [EmbedderBusy("try later"), EmbedderError("no such model"), OSError("gone")])
def test_any_other_trouble_stops_it_at_once(store: SqliteStore, error: Exception) -> None:
    """It is not asked again by halves; what was kept before stays, and the rest stays queued."""
    store.memories.add([make_memory(n, f"text {n}") for n in range(1, 7)])
    store.vectors.begin("toy")

    def fail_on_fourth(texts: Sequence[str]) -> None:
        if "text 4" in texts:
            raise error

    embedder = TroubledEmbedder(trouble=fail_on_fourth)
    with pytest.raises(type(error), match=str(error)):
        embed_waiting(store, Gate(embedder), batch=2)
    assert embedder.calls == 2
    assert _amounts(store) == (2, 4)


def test_it_stops_between_batches_when_told(store: SqliteStore) -> None:
    """A batch that was begun is finished, the next is not begun; told before, it asks nothing at all."""
    store.memories.add([make_memory(n, f"text {n}") for n in range(1, 7)])
    store.vectors.begin("toy")
    embedder = TroubledEmbedder()
    assert embed_waiting(store, Gate(embedder), batch=2, stop=lambda: embedder.calls == 2) == Embedded(4)
    assert _amounts(store) == (4, 2)
    assert embed_waiting(store, Gate(embedder), stop=lambda: True) == Embedded(0)
    assert embedder.calls == 2


def test_what_changes_while_the_model_works_is_embedded_as_it_is_then(store: SqliteStore) -> None:
    """The vector of the old text is not kept, and the new text is embedded by the next batch."""
    first = make_memory(1, "old text")
    store.memories.add([first, make_memory(2, "other")])
    store.vectors.begin("toy")

    def edit_meanwhile(texts: Sequence[str]) -> None:
        if "old text" in texts:
            store.memories.change(change_memory(first, 10, content="new text"))

    embedder = TroubledEmbedder(trouble=edit_meanwhile)
    assert embed_waiting(store, Gate(embedder)) == Embedded(2)
    assert embedder.shown == ["old text", "other", "new text"]


def test_building_makes_a_set_and_switches_to_it(store: SqliteStore) -> None:
    """The set in use stays in use until the new one is complete, and stays whole afterwards."""
    store.memories.add([make_memory(n, f"text {n}") for n in (1, 2, 3)])
    assert build(store, Gate(ToyEmbedder("one"))) == Embedded(3)
    in_use: list[str | None] = []
    watching = TroubledEmbedder("another", trouble=lambda _texts: in_use.append(store.vectors.active()))
    build(store, Gate(watching))
    assert (in_use, store.vectors.active()) == (["one"], "another")
    assert [each.vectors for each in store.vectors.sets()] == [3, 3]


def test_a_build_that_fails_switches_to_nothing(store: SqliteStore) -> None:
    """A model that gives up halfway is not used."""
    store.memories.add([make_memory(1, "bad")])
    build(store, Gate(ToyEmbedder("one")))

    def fail(_texts: Sequence[str]) -> None:
        raise EmbedderBusy("try later")

    with pytest.raises(EmbedderBusy):
        build(store, Gate(TroubledEmbedder("another", trouble=fail)))
    assert store.vectors.active() == "one"


def _gates(embedder: ToyEmbedder) -> Gates:
    gates = Gates()
    gates.add(embedder)
    return gates


def test_catching_up_embeds_what_little_waits(store: SqliteStore) -> None:
    """What was just remembered is in the set in use when it returns; without one there is nothing to do."""
    store.memories.add([make_memory(1)])
    catch_up(store, Gates(), LONG)
    use_model(store)
    catch_up(store, _gates(ToyEmbedder()), LONG)
    assert _amounts(store) == (1, 0)


def test_catching_up_returns_in_its_time(store: SqliteStore) -> None:
    """A model that hangs is not waited for; what it was given stays queued until it is done."""
    store.memories.add([make_memory(1)])
    use_model(store)
    stuck = StuckEmbedder()
    began = time.monotonic()
    catch_up(store, _gates(stuck), 0.1)
    assert time.monotonic() - began < LONG / 4
    assert stuck.began.wait(LONG)
    assert _amounts(store) == (0, 1)
    stuck.let_go.set()
    for thread in threading.enumerate():
        if thread.name == "catching up":
            thread.join(LONG)
    assert _amounts(store) == (1, 0)


def test_catching_up_takes_small_steps(store: SqliteStore) -> None:
    """It looks at the clock often: no more than a few texts go to the model at once."""
    store.memories.add([make_memory(n, f"text {n}") for n in range(1, 65)])
    use_model(store)
    sizes: list[int] = []
    catch_up(store, _gates(TroubledEmbedder(trouble=lambda texts: sizes.append(len(texts)))), LONG)
    assert max(sizes) < 16
    assert sum(sizes) == 64


def test_catching_up_says_nothing_of_trouble(store: SqliteStore) -> None:
    """A model that fails or cannot be opened is for the recall to tell: here it is neither raised nor printed."""
    store.memories.add([make_memory(1)])
    use_model(store)

    def fail(_texts: Sequence[str]) -> None:
        raise EmbedderError("no such model")

    catch_up(store, _gates(TroubledEmbedder(trouble=fail)), LONG)
    catch_up(store, Gates(), LONG)
    assert _amounts(store) == (0, 1)
