"""Writes a small store of this version as SQL, for later versions to open.

    python tests/migration/dump_store.py > tests/migration/store_v3.sql

A dump is made once for each schema and never again: it is what people have on their disks.
"""

import math
import random
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from recollect.core.concepts import Extraction, Relation
from recollect.core.hits import Ref
from recollect.core.vectors import pack
from recollect.service.extract import Rules
from recollect.service.recollect import Recollect
from recollect.stores.sqlite.store import SqliteStore

START = datetime(2026, 1, 1, tzinfo=UTC)


def fill(memory: Recollect, wait: "Iterator[datetime]") -> None:
    """Put down some of everything: several spaces, states, links, a forgotten memory, a sensitive one, a setting."""
    names = ("deploys", "old", "new", "printer", "answer", "gone", "secret", "getUserById")
    texts = (
        "Deploys run from the main branch every Tuesday.",
        "The staging database is at 10.0.0.1.",
        "The staging database moved to db.example.com:5432.",
        "The printer on the second floor jams.",
        "Clean the roller, then restart the printer service.",
        "Lunch is at noon in café Zoë.",
        "The vault's combination is 1234.",
        "getUserById in app.py::users returns None for guests, 東京都 included.",
    )
    kept = {}
    for place, (name, text) in enumerate(zip(names, texts, strict=True)):
        kept[name] = memory.remember(
            text,
            category="decisions" if name == "deploys" else "facts",
            tags=["ops"] if place < 3 else [],
            keywords=["release"] if name == "deploys" else [],
            importance=place / 10,
            project="github.com/owner/name" if place % 2 else None,
            session="session one",
            place=place,
            sensitive=name == "secret",
        ).id
        next(wait)
    memory.edit(kept["deploys"], content="Deploys run from the main branch every Friday.")
    next(wait)
    memory.edit(kept["deploys"], importance=1.0)
    next(wait)
    memory.forget(kept["gone"])
    next(wait)
    memory.link(kept["new"], "supersedes", kept["old"])
    memory.link(kept["printer"], "resolved-by", kept["answer"])
    memory.link(kept["deploys"], "see-also", kept["new"])
    next(wait)
    memory.unlink(kept["deploys"], "see-also", kept["new"])
    memory.set("limit", "5")


def embed(store: SqliteStore) -> None:
    """Embed all but one memory for the model in use, and some for another: each is turned by a degree."""
    for model, some in (("turning", 11), ("unfinished", 3)):
        store.vectors.begin(model)
        waiting = store.vectors.waiting(model, some)
        angles = [math.radians(number) for number in range(len(waiting))]
        made = [pack([math.cos(angle), math.sin(angle)]) for angle in angles]
        store.vectors.keep(model, list(zip(waiting, made, strict=True)))
    store.vectors.switch("turning")


def read(store: SqliteStore) -> None:
    """Read all but one memory by rules, have somebody else read one, and give a concept another name."""
    store.concepts.begin(Rules.name)
    waiting = store.concepts.waiting(Rules.name, 11)
    store.concepts.keep(Rules.name, list(zip(waiting, Rules().extract([each.memory for each in waiting]), strict=True)))
    (printer,) = (each.memory for each in waiting if "jams" in each.memory.content and each.memory.space == "personal")
    said = Extraction((), (Relation("Printer", "stands on", "second floor"),))
    store.concepts.load("by hand", {Ref(printer.space, printer.id): said})
    store.concepts.alias(printer.space, "printer", "the old beast")


def dump() -> Iterator[str]:
    now = START

    def seconds() -> Iterator[datetime]:
        nonlocal now
        while True:
            now += timedelta(seconds=1)
            yield now

    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "memory.db")
        store, chance = SqliteStore(path), random.Random(1)
        for space in ("personal", "team"):
            fill(Recollect(store, lambda: now, chance.getrandbits, space), seconds())
        embed(store)
        read(store)
        store.close()
        connection = sqlite3.connect(path)
        marks = {
            name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
        }
        yield f"-- A store of schema {marks['user_version']}, written by tests/migration/dump_store.py. Never edited."
        yield from connection.iterdump()
        yield from (f"PRAGMA {name} = {value};" for name, value in marks.items())
        connection.close()


if __name__ == "__main__":
    sys.stdout.write("\n".join(dump()) + "\n")
