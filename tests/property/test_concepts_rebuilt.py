"""Whatever happened to memories, their concepts are those that reading them anew would give.

`RECOLLECT_GRAPH_STEPS` says how many things happen; 2,000 take a minute or two.
"""

import os
import random
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest

from making import StandingClock
from recollect.core.concepts import RULES, Extraction, Relation, fold, names_in
from recollect.core.errors import NotFound, RecollectError
from recollect.core.hits import Ref
from recollect.core.memory import Memory
from recollect.core.ports import Store
from recollect.service.extract import Rules, extract_waiting
from recollect.service.recollect import Recollect
from recollect.stores.postgres.database import Database
from recollect.stores.postgres.store import PostgresStore
from recollect.stores.queueing import as_read
from recollect.stores.sqlite.store import SqliteStore

STEPS: Final = int(os.environ.get("RECOLLECT_GRAPH_STEPS", "200"))
SPACE: Final = "personal"
NAMES: Final = ("Anna", "Annie", "Aunt Anna", "Berta", "Oslo", "OSLO", "O'Hara", "O\u2019Hara", "plum_pie", "Rome")
IMPORT: Final = "import"

_MENTIONS: Final = """
SELECT m.id, c.name, x.name FROM memory_concepts AS r
JOIN memories AS m ON m.space = r.space AND m.key = r.memory
JOIN concepts AS c ON c.space = r.space AND c.key = r.concept JOIN extractors AS x ON x.key = r.extractor
"""
_EDGES: Final = """
SELECT s.name, e.relation, t.name, m.id, x.name FROM concept_edges AS e
JOIN concepts AS s ON s.space = e.space AND s.key = e.source
JOIN concepts AS t ON t.space = e.space AND t.key = e.target
JOIN edge_evidence AS v ON v.space = e.space AND v.edge = e.key AND v.valid_to IS NULL
JOIN memories AS m ON m.space = v.space AND m.key = v.memory JOIN extractors AS x ON x.key = v.extractor
WHERE e.valid_to IS NULL
"""
# Concepts that nothing leads to, or that have no name.
_LONELY: Final = """
SELECT c.name FROM concepts AS c
WHERE NOT EXISTS (SELECT 1 FROM concept_names AS n WHERE n.space = c.space AND n.concept = c.key)
OR NOT EXISTS (SELECT 1 FROM memory_concepts AS m WHERE m.space = c.space AND m.concept = c.key)
AND NOT EXISTS (SELECT 1 FROM concept_edges AS e WHERE e.space = c.space AND c.key IN (e.source, e.target))
AND NOT EXISTS (SELECT 1 FROM concept_names AS n WHERE n.space = c.space AND n.concept = c.key AND n.given)
"""

Ask = Callable[[str], Sequence[Sequence[Any]]]
Graph = tuple[set[tuple[str, str, str]], set[tuple[str, str, str, str, str]]]
"""Who mentions what by whom, and who states what of what by whom."""


class Pairs:
    """Reads that the first two whom a text names know each other."""

    name = "pairs"

    def extract(self, memories: Sequence[Memory]) -> list[Extraction]:
        return [
            Extraction((), (Relation(names[0], "knows", names[1]),) if len(names) > 1 else ())
            for names in (names_in(memory.content) for memory in memories)
        ]


@dataclass
class Aliases:
    """Which names were made to lead to one concept."""

    of: dict[str, str] = field(default_factory=dict)

    def first(self, name: str) -> str:
        folded = fold(name)
        while folded in self.of:
            folded = self.of[folded]
        return folded

    def join(self, name: str, alias: str) -> None:
        if self.first(name) != self.first(alias):
            self.of[self.first(alias)] = self.first(name)


@dataclass
class Life:
    """A store to which things happen, by chance."""

    memory: Recollect
    clock: StandingClock
    chance: random.Random
    ids: list[str] = field(default_factory=list)
    aliases: Aliases = field(default_factory=Aliases)
    imported: dict[Ref, Extraction] = field(default_factory=dict)
    """What was imported and is of a text that is still there."""

    def go_on(self, steps: int) -> None:
        deeds = [self._remember] * 6 + [self._edit] * 6 + [self._label, self._flip, self._forget, self._undo] * 3
        deeds += [self._purge, self._alias, self._load, self._load] + [self._read] * 4
        for step in range(steps):
            self.clock.move()
            deed = self.chance.choice(deeds) if self.ids else self._remember
            with suppress(RecollectError):
                deed()
            if step % 97 == 96:
                self._drop()

    def finish(self) -> None:
        for extractor in (Rules(), Pairs()):
            extract_waiting(self.memory.store, extractor)

    def _text(self) -> str:
        some = self.chance.sample(NAMES, 2)
        text = f"We met {some[0]}, then {some[1]} and {self.chance.randrange(30)} others."
        return text.lower() if self.chance.random() < 0.2 else text

    def _one(self) -> Ref:
        return Ref(SPACE, self.chance.choice(self.ids))

    def _remember(self) -> None:
        sensitive = self.chance.random() < 0.1
        self.ids.append(self.memory.remember(self._text(), tags=self._labels(), sensitive=sensitive).id)

    def _labels(self) -> list[str]:
        return self.chance.sample(NAMES, self.chance.choice((0, 0, 1)))

    def _change(self, deed: Callable[[str], object]) -> None:
        ref = self._one()
        before = self.memory.store.memories.get([ref])[ref]
        deed(ref.id)
        if as_read(self.memory.store.memories.get([ref])[ref]) != as_read(before):
            self.imported.pop(ref, None)

    def _edit(self) -> None:
        text = self._text()
        self._change(lambda identity: self.memory.edit(identity, content=text))

    def _label(self) -> None:
        labels, importance = self._labels(), self.chance.random()
        self._change(lambda identity: self.memory.edit(identity, keywords=labels, importance=importance))

    def _flip(self) -> None:
        flag = self.chance.random() < 0.5
        self._change(lambda identity: self.memory.edit(identity, sensitive=flag))

    def _forget(self) -> None:
        self._change(self.memory.forget)

    def _undo(self) -> None:
        self._change(self.memory.undo)

    def _purge(self) -> None:
        ref = self._one()
        self.memory.purge(ref.id)
        self.ids.remove(ref.id)
        self.imported.pop(ref, None)

    def _alias(self) -> None:
        name, alias = self.chance.sample(NAMES, 2)
        self.memory.store.concepts.alias(SPACE, name, alias)
        self.aliases.join(name, alias)

    def _load(self) -> None:
        ref = self._one()
        subject, object_ = self.chance.sample(NAMES, 2)
        read = Extraction((), (Relation(subject, self.chance.choice(("likes", "knows")), object_),))
        if self.memory.store.concepts.load(IMPORT, {ref: read}):
            self.imported[ref] = read

    def _read(self) -> None:
        """Read a few, so that others wait for what happens next."""
        extractor = self.chance.choice((Rules(), Pairs()))
        over = iter((False, True))
        extract_waiting(self.memory.store, extractor, batch=self.chance.randrange(1, 12), stop=lambda: next(over))

    def _drop(self) -> None:
        with suppress(NotFound):
            self.memory.store.concepts.drop(self.chance.choice((RULES, Pairs.name)))


def _graph(ask: Ask, aliases: Aliases) -> Graph:
    def known(name: str) -> str:
        return aliases.first(name)

    mentions = {(_id(memory), known(name), extractor) for memory, name, extractor in ask(_MENTIONS)}
    edges = {
        (known(source), relation, known(target), _id(memory), extractor)
        for source, relation, target, memory, extractor in ask(_EDGES)
    }
    return mentions, edges


def _id(found: object) -> str:
    return found.hex() if isinstance(found, bytes) else str(found).replace("-", "")


def _rebuild(store: Store, memories: Sequence[Memory], imported: Mapping[Ref, Extraction]) -> None:
    store.memories.add([replace(memory, version=1) for memory in memories])
    for extractor in (Rules(), Pairs()):
        extract_waiting(store, extractor)
    store.concepts.load(IMPORT, imported)


def _ask_sqlite(path: Path) -> Ask:
    def ask(statement: str) -> list[Any]:
        with closing(sqlite3.connect(path)) as connection:
            return connection.execute(statement).fetchall()

    return ask


def _ask_postgres(url: str) -> Ask:
    def ask(statement: str) -> list[Any]:
        with psycopg.connect(url) as connection:
            return connection.execute(statement.encode()).fetchall()

    return ask


@pytest.fixture(params=["sqlite", "postgres"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Store, Ask]]:
    """Give a store, and a way to ask it past our own code."""
    if request.param == "sqlite":
        with closing(SqliteStore(str(tmp_path / "memory.db"))) as file:
            yield file, _ask_sqlite(tmp_path / "memory.db")
    else:
        url = request.getfixturevalue("empty_store_database")
        with closing(PostgresStore(Database.open(url, size=2))) as server:
            yield server, _ask_postgres(url)


@pytest.mark.parametrize("seed", range(2))
def test_the_live_graph_is_the_one_that_would_be_built_anew(
    opened: tuple[Store, Ask], tmp_path: Path, seed: int
) -> None:
    """After any remembering, editing, forgetting, bringing back, hiding, purging, naming and importing, read bit by
    bit, the store is healthy, and its mentions and relations are those of a new store that reads what is left.
    """
    store, ask = opened
    clock = StandingClock()
    chance = random.Random(seed)
    life = Life(Recollect(store, clock, chance.getrandbits, SPACE, None), clock, chance)
    life.go_on(STEPS)
    life.finish()
    assert store.examine(lambda _done, _total: None) == []
    assert ask(_LONELY) == []
    live = _graph(ask, life.aliases)

    memories = store.memories.get(list(store.memories.walk())).values()
    anew = tmp_path / "anew.db"
    with closing(SqliteStore(str(anew))) as other:
        _rebuild(other, list(memories), life.imported)
        assert live == _graph(_ask_sqlite(anew), life.aliases)
    mentions, edges = live
    assert len(mentions) > STEPS // 10
    assert {extractor for *_, extractor in edges} == {Pairs.name, IMPORT}
