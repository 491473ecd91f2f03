"""Makes what tests need: memories with readable ids, a clock that stands still, a Recollect over one file."""

import os
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from recollect.core.hits import Hit, LegAnswer, Ref
from recollect.core.memory import Link, LinkKind, Memory
from recollect.core.ports import Embedder, Leg, Store
from recollect.core.query import Query, Scope
from recollect.service.gate import Gates
from recollect.service.recollect import Recollect
from recollect.stores.sqlite.store import SqliteStore

START = datetime(2026, 1, 1, tzinfo=UTC)


def about(value: float, within: float = 1e-9) -> Any:  # noqa: ANN401
    """Stand for any number this close: what two ways to add up the same terms may differ by."""
    return pytest.approx(value, rel=within, abs=within)


def at(seconds: float) -> datetime:
    """Give the moment so many seconds after the start of the tests' time."""
    return START + timedelta(seconds=seconds)


def id_of(number: int) -> str:
    """Give an id that sorts and reads by its number."""
    return f"01900000-0000-7000-8000-{number:012x}"


def ref_of(number: int, space: str = "personal") -> Ref:
    return Ref(space, id_of(number))


def make_memory(number: int = 1, content: str = "Deploys run on Tuesdays.", **fields: Any) -> Memory:  # noqa: ANN401
    """Give a memory whose id ends in its number and that was made in that second."""
    values: dict[str, Any] = {"space": "personal", "created_at": at(number), "updated_at": at(number), **fields}
    return Memory(id=id_of(number), content=content, **values)


def make_link(source: int, kind: LinkKind, target: int, *, since: float = 0, until: float | None = None) -> Link:
    ended = None if until is None else at(until)
    return Link("personal", id_of(source), kind, id_of(target), at(since), ended)


def make_answer(leg: str, scores: dict[int, float], *, least: float = 0.0, failure: str | None = None) -> LegAnswer:
    """Give a leg's answer from scores by number, in the order given; evidence 1 throughout."""
    hits = tuple(Hit(ref_of(number), score, 1.0) for number, score in scores.items())
    return LegAnswer(leg, hits, least, failure=failure)


def make_query(text: str = "deploys", *spaces: str, **parts: Any) -> Query:  # noqa: ANN401
    """Give a query; parts of a scope may stand beside those of the query."""
    within = {name: parts.pop(name) for name in tuple(parts) if name in Scope.__dataclass_fields__}
    return Query(text, Scope(spaces or ("personal",), **within), **parts)


@dataclass
class StandingClock:
    """Tells the time it was set to; every look at it is the same moment."""

    now: datetime = START

    def __call__(self) -> datetime:
        return self.now

    def move(self, seconds: float = 1.0) -> datetime:
        self.now += timedelta(seconds=seconds)
        return self.now


def change_memory(memory: Memory, seconds: float, **fields: Any) -> Memory:  # noqa: ANN401
    """Give the version after this one, as it is from so many seconds on."""
    return replace(memory, version=memory.version + 1, updated_at=at(seconds), action="edited", **fields)


def forget_memory(memory: Memory, seconds: float) -> Memory:
    return replace(change_memory(memory, seconds), action="forgotten", deleted_at=at(seconds))


def by_words(store: Store) -> list[Leg]:
    """Give the legs that need no embedding model."""
    return [leg for leg in store.legs if leg.name != "dense"]


def use_model(store: Store, model: str = "toy") -> None:
    """Have recalls use a model's vectors; those of memories that are there wait to be made."""
    store.vectors.begin(model)
    store.vectors.switch(model)


def wait_until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait for something that another thread or process does; it failing to is an error."""
    end = time.monotonic() + seconds
    pause = threading.Event()
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        pause.wait(0.005)


def open_recollect(
    path: str | os.PathLike[str],
    clock: StandingClock,
    *,
    space: str = "personal",
    project: str | None = None,
    open_embedder: Callable[[str], Embedder] | None = None,
) -> Recollect:
    """Open a store over a file with a clock of ours, and ids that come out the same every time."""
    generator = random.Random(Path(path).name)
    gates = Gates() if open_embedder is None else Gates(open_embedder)
    store = SqliteStore(os.fspath(path), embed_query=gates.embed_query)
    return Recollect(store, clock, generator.getrandbits, space, project, gates)


def models_folder() -> Path:
    """Give where the models that tests embed with are: `RECOLLECT_MODELS_FOLDER`, or beside the checkout."""
    return Path(os.environ.get("RECOLLECT_MODELS_FOLDER") or Path(__file__).parents[2] / "shared" / "models")
