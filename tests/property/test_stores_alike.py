"""Whatever is done to a laptop's store and to a server's, both find the same, now and as of any moment."""

import random
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fakes import ToyEmbedder
from making import StandingClock, about, make_query, use_model
from recollect.core.errors import RecollectError
from recollect.core.hits import Hit
from recollect.core.ports import Leg, Store
from recollect.core.spread import TIE_KINDS
from recollect.service.embed import embed_waiting
from recollect.service.extract import Rules, extract_waiting
from recollect.service.gate import Gate, Gates
from recollect.service.recollect import Recollect
from recollect.stores.postgres.database import Database
from recollect.stores.postgres.store import PostgresStore
from recollect.stores.sqlite.store import SqliteStore
from strategies import QUERIES, Deed, deeds

SPACES = count(1)
"""Each example has a space of its own, which is as good as a store of its own."""
ONE_OFF = 1.5e-6
"""One in the last of the six digits that are kept."""


@dataclass(frozen=True)
class Purge:
    which: int

    def do(self, memory: Recollect, ids_so_far: list[str]) -> None:
        """Remove a memory for good; the numbers of those after it move up."""
        with suppress(RecollectError):
            memory.purge(ids_so_far.pop(self.which % max(1, len(ids_so_far))) if ids_so_far else "none")


@pytest.fixture
def server(empty_store_database: str) -> Iterator[PostgresStore]:
    gates = Gates(ToyEmbedder)
    with closing(PostgresStore(Database.open(empty_store_database, size=2), embed_query=gates.embed_query)) as store:
        use_model(store)
        yield store


def _open(store: Store, space: str) -> tuple[Recollect, StandingClock]:
    """Open a store so that times and ids come out the same in each."""
    clock = StandingClock()
    return Recollect(store, clock, random.Random(space).getrandbits, space, None, Gates(ToyEmbedder)), clock


def _live(memory: Recollect, clock: StandingClock, life: list[Deed | Purge]) -> list[datetime]:
    so_far: list[str] = []
    moments = [clock.now]
    for deed in life:
        moments.append(clock.move())
        deed.do(memory, so_far)
        if len(moments) % 3 == 0:
            embed_waiting(memory.store, Gate(ToyEmbedder()), space=memory.space)
            extract_waiting(memory.store, Rules(), space=memory.space)
    return moments


def _hits(leg: Leg, text: str, space: str, as_of: datetime | None) -> list[Hit]:
    return list(leg.search(make_query(text, space, as_of=as_of), 50, 60.0))


def _expected(hits: list[Hit]) -> list[tuple[object, ...]]:
    return [(hit.ref, about(hit.score, ONE_OFF), about(hit.evidence, ONE_OFF)) for hit in hits]


def _recalled(memory: Recollect, text: str, as_of: datetime | None) -> list[object]:
    answer = memory.recall(text, as_of=as_of)
    return [
        *((found.memory, found.instead_of, found.answers, found.pointers) for found in answer.results),
        (answer.notices, dict(answer.left_out), answer.tokens),
    ]


def _compare(laptop: Recollect, server: Recollect, as_of: datetime | None) -> None:
    for text in QUERIES:
        for one, other in zip(laptop.store.legs, server.store.legs, strict=True):
            assert one.name == other.name
            found = _hits(other, text, server.space, as_of)
            expected = _expected(_hits(one, text, laptop.space, as_of))
            assert [(hit.ref, hit.score, hit.evidence) for hit in found] == expected
        assert _recalled(server, text, as_of) == _recalled(laptop, text, as_of)
    refs = list(laptop.store.memories.walk([laptop.space]))
    tied = laptop.store.concepts.ties(refs, TIE_KINDS, as_of)
    assert server.store.concepts.ties(refs, TIE_KINDS, as_of) == tied


@settings(max_examples=15)
@given(st.lists(deeds | st.builds(Purge, st.integers(0, 7)), min_size=1, max_size=14))
@example([Deed("remember", words=("kiwi",)), Deed("edit", words=("melon",)), Purge(0), Deed("undo", words=("figs",))])
@example(
    [
        Deed("remember", which=1, other=1, words=("kiwi", "figs")),
        Deed("remember", which=1, other=2, words=("figs", "melon")),
        Deed("remember", which=1, other=3, words=("kiwi", "plum_pie")),
        Deed("supersedes", 2, 0),
        Deed("forget", 1),
        Deed("undo"),
        Purge(0),
    ]
)
def test_both_stores_find_the_same(server: PostgresStore, life: list[Deed | Purge]) -> None:
    """After the same adding, editing, forgetting, undoing, linking and purging, each leg gives the same hits with the
    same scores, memories share the same with others, and the same are recalled in the same order, at every moment; and
    both are healthy.
    """
    space = f"alike {next(SPACES)}"
    with (
        TemporaryDirectory() as folder,
        closing(SqliteStore(str(Path(folder) / "memory.db"), embed_query=Gates(ToyEmbedder).embed_query)) as file,
    ):
        use_model(file)
        on_laptop, clock = _open(file, space)
        on_server, other_clock = _open(server, space)
        for memory in (on_laptop, on_server):
            memory.store.settings.set("weight.exact", 0.5)
        moments = _live(on_laptop, clock, life)
        assert _live(on_server, other_clock, life) == moments
        _compare(on_laptop, on_server, None)
        for as_of in moments[1::4]:
            _compare(on_laptop, on_server, as_of)
        assert file.examine(lambda _done, _total: None) == []
    assert server.examine(lambda _done, _total: None) == []
