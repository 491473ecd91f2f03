"""Loads a source into a store of the product, once: the next run of the same data finds it there.

The file's name holds a fingerprint of all that shapes its content. A load that was cut short goes on where it stood.
"""

import fcntl
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Final

from recollect.bench.errors import BenchError
from recollect.bench.models import portable
from recollect.bench.names import Names, id_of
from recollect.bench.sources import Document, Source
from recollect.core import analysis, concepts, context
from recollect.core.concepts import Extraction, Relation
from recollect.core.hits import Ref
from recollect.core.memory import Link, Memory, check
from recollect.core.ports import Embedder, Store, Waiting
from recollect.service import gate as gates
from recollect.service.embed import embed_waiting
from recollect.service.extract import Rules, extract_waiting
from recollect.service.gate import Gate
from recollect.stores.sqlite import migrate
from recollect.stores.sqlite.store import SqliteStore

BATCH: Final = 500
LENGTH_LIMIT: Final = 1_000_000
"""Documents are kept whole, as the sets have them."""
BEGINNING: Final = datetime(2026, 1, 1, tzinfo=UTC)
"""When the first document of a set without times was made."""
_KEPT: Final = 4
"""Stores of one set that stay in the cache; a store can always be made again."""

Progress = Callable[[str, int, int | None], None]
"""Told what is being done, how much of it is done, and how much there is if that is known."""


@dataclass(frozen=True, slots=True)
class Loaded:
    store: Store
    names: Names
    memories: int
    octets: int

    def close(self) -> None:
        self.store.close()
        self.names.close()


@dataclass(frozen=True, slots=True)
class Plan:
    """What to load and how. `alone` embeds each memory without what was said before it."""

    corpus: Source
    folder: Path
    embedder: Embedder | None = None
    alone: bool = False
    triples: bool = False
    """Whether the set's triples are imported."""


def load(plan: Plan, progress: Progress = lambda *_: None) -> Loaded:
    """Give the store that holds the source, loading what is missing."""
    path = store_path(plan)
    path.parent.mkdir(parents=True, exist_ok=True)
    names = Names(path.with_suffix(".names"))
    try:
        if not names.complete:
            with _alone_at(path.with_suffix(".lock")):
                if not names.complete:
                    _fill(plan, path, names, progress)
        path.touch()
        _prune(path.parent)
        # Opened anew, since closing it wrote the journal back: its size is that of the data.
        store = _open(plan, path)
    except BaseException:
        names.close()
        raise
    return Loaded(store, names, sum(count.memories for count in store.count()), store.size())


def store_path(plan: Plan) -> Path:
    parts = [plan.corpus.fingerprint(), str(migrate.NEWEST), str(analysis.VERSION)]
    if plan.embedder is not None:
        parts += [portable(plan.embedder.model), _digest_of_reading()]
        if plan.alone and has_sessions(plan.corpus):
            parts.append("alone")
    parts += [f"concepts {concepts.VERSION}", *(["triples"] * plan.triples)]
    fingerprint = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
    return plan.folder / "stores" / plan.corpus.name / f"{fingerprint}.db"


def has_sessions(corpus: Source) -> bool:
    """Whether anything was said after something else, so that reading it together could matter."""
    return any(each.session is not None for each in corpus.documents())


def make_memory(document: Document) -> Memory:
    made = (document.time or BEGINNING) + timedelta(seconds=_seconds(document))
    memory = Memory(
        id_of(document.id),
        document.space,
        document.text,
        made,
        made,
        session=document.session,
        place=document.seq,
    )
    check(memory, LENGTH_LIMIT)
    return memory


def _seconds(document: Document) -> int:
    """Give how long after its time a document was made; what has neither time nor place follows its source's order."""
    if document.seq is not None:
        return document.seq
    return 0 if document.time else document.index


def fill(store: Store, plan: Plan, names: Names, progress: Progress = lambda *_: None) -> None:
    """Put the source into a store, of whatever kind, and its documents' names beside it."""
    store.settings.set("length-limit", LENGTH_LIMIT)
    replaced: list[tuple[Ref, Ref]] = []
    done = 0
    for documents in _batches(plan.corpus.documents()):
        _add(store, [make_memory(each) for each in documents])
        names.keep(each.id for each in documents)
        replaced += [
            (Ref(each.space, id_of(each.superseded_by)), Ref(each.space, id_of(each.id)))
            for each in documents
            if each.superseded_by is not None
        ]
        done += len(documents)
        progress(f"Loading {plan.corpus.name}", done, None)
    _link(store, replaced)
    extract_waiting(store, Rules(), progress=lambda done, total: progress(f"Reading {plan.corpus.name}", done, total))
    if plan.triples:
        _read_triples(store, plan.corpus)
    if plan.embedder is not None:
        _embed(store, plan, progress)


def _fill(plan: Plan, path: Path, names: Names, progress: Progress) -> None:
    store = _open(plan, path)
    try:
        fill(store, plan, names, progress)
    finally:
        store.close()
    names.finish()


def _add(store: Store, memories: Sequence[Memory]) -> None:
    """Add what is not there yet: a load that was killed left whole batches behind."""
    there = store.memories.get([Ref(memory.space, memory.id) for memory in memories])
    missing = [memory for memory in memories if Ref(memory.space, memory.id) not in there]
    if missing:
        store.memories.add(missing)


def _link(store: Store, replaced: Sequence[tuple[Ref, Ref]]) -> None:
    for newer, older in replaced:
        ends = store.memories.get([newer, older])
        # A haystack may hold one of the two only.
        if len(ends) == len({newer, older}):
            store.links.add(Link(newer.space, newer.id, "supersedes", older.id, ends[newer].created_at))


def _read_triples(store: Store, corpus: Source) -> None:
    """Import what a language model read in the documents, where a set brings it along."""
    read: dict[Ref, list[Relation]] = {}
    for document, relation in corpus.triples():
        read.setdefault(Ref(corpus.name, id_of(document)), []).append(relation)
    store.concepts.load("triples", {ref: Extraction((), tuple(relations)) for ref, relations in read.items()})


def _embed(store: Store, plan: Plan, progress: Progress) -> None:
    assert plan.embedder is not None  # noqa: S101 - asked by the caller
    gate = _LoneGate(plan.embedder) if plan.alone else Gate(plan.embedder)
    store.vectors.begin(gate.model)
    embedded = embed_waiting(
        store,
        gate,
        progress=lambda done, total: progress(f"Embedding {plan.corpus.name}", done, total),
        batch=BATCH,
    )
    if embedded.refused:
        (_, identity), reason = embedded.refused[0]
        raise BenchError(
            f"{gate.model} refused {len(embedded.refused):,} documents of {plan.corpus.name}, the first being "
            f"{identity}: {reason} Measure with a model that takes them all."
        )
    store.vectors.switch(gate.model)


class _LoneGate(Gate):
    """Embeds a memory by its own text alone."""

    def embed(self, waiting: Sequence[Waiting]) -> list[list[float]]:
        return super().embed([replace(each, before=()) for each in waiting])


def _open(plan: Plan, path: Path) -> SqliteStore:
    if plan.embedder is None:
        return SqliteStore(str(path))
    gate = Gate(plan.embedder)
    return SqliteStore(str(path), embed_query=lambda _model, text, seconds: gate.embed_query(text, seconds))


def _digest_of_reading() -> str:
    """Tell apart versions of the code that decides what text a vector is made of."""
    files = [module.__file__ for module in (context, gates)]
    return hashlib.sha256(b"\0".join(Path(file).read_bytes() for file in files if file)).hexdigest()


def _batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    each = iter(documents)
    while batch := list(islice(each, BATCH)):
        yield batch


@contextmanager
def _alone_at(path: Path) -> Iterator[None]:
    """Wait until no other process loads the same store."""
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _prune(folder: Path) -> None:
    """Remove the stores of a set that were not used for longest."""
    stores = sorted(folder.glob("*.db"), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in stores[_KEPT:]:
        for path in folder.glob(f"{old.stem}.*"):
            path.unlink(missing_ok=True)
