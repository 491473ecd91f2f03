"""Embedders that die, and models that are switched under load: each vector is kept once, and no answer mixes two."""

import json
import os
import random
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path

from e2e.recaller import make_models
from fakes import ToyEmbedder, expect_vectors
from making import change_memory, forget_memory, id_of, make_memory
from recollect.core.memory import Memory
from recollect.service.embed import BATCH, build
from recollect.service.gate import Gate
from recollect.stores.sqlite.store import SqliteStore

HERE = Path(__file__).parent
MEMORIES, KILLS, TURNS, MODELS = 5000, 20, 10, ("first", "second")
_VECTORS = """
SELECT v.model, m.id, x.vector FROM vectors AS x
JOIN vector_sets AS v ON v.key = x.vector_set JOIN memories AS m ON m.key = x.memory
"""


def _start(script: str, *arguments: str, stdin: int | None = None) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(HERE / script), *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE.parent), os.environ.get("PYTHONPATH", "")])},
        stdin=stdin,
        stdout=subprocess.PIPE,
        text=True,
    )


def _nothing(_done: int, _total: int) -> None:
    pass


def _make(number: int) -> Memory:
    """Give a memory: every other one a turn of a session, which is embedded with those before it."""
    if number % 2:
        return make_memory(number, f"Memory {number} stands for itself.")
    session, place = divmod(number // 2, TURNS)
    return make_memory(number, f"Turn {place}.", session=f"session {session}", place=place)


def _disturb(store: SqliteStore, model: str, memories: dict[int, Memory], chance: random.Random) -> None:
    """Edit, forget and mark some: half of them what the embedder has in hand, the others whatever comes."""
    in_hand = [int(each.memory.id[-12:], 16) for each in store.vectors.waiting(model, BATCH)]
    present = [number for number in memories if memories[number].deleted_at is None]
    for deed in ("edit", "edit", "forget", "mark"):
        for number in (chance.choice(in_hand), chance.choice(present)):
            old = memories[number]
            moment = 10_000 * (1 + old.version)
            edited = change_memory(old, moment, content=f"{old.content} Edited.", sensitive=deed == "mark")
            memories[number] = forget_memory(old, moment) if deed == "forget" else edited
            store.memories.change(memories[number])


def test_a_killed_embedder_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """After 20 SIGKILLs, amid edits, every memory has one vector a model: the one that model makes of its text."""
    path, chance = str(tmp_path / "memory.db"), random.Random(20)
    memories = {number: _make(number) for number in range(1, MEMORIES + 1)}
    store = SqliteStore(path)
    store.memories.add(list(memories.values()))
    for model in MODELS:
        store.vectors.begin(model)
    for model in islice(cycle(MODELS), KILLS):
        embedder = _start("embedder.py", path, model)
        assert embedder.stdout is not None
        for line in range(chance.randrange(1, 500)):
            assert embedder.stdout.readline(), "it ended before it was killed"
            if line % 100 == 50:
                _disturb(store, model, memories, chance)
        embedder.kill()
        embedder.communicate()
    before = {each.model: each.waiting for each in store.vectors.sets()}
    assert all(before.values())
    rivals = [(model, _start("embedder.py", path, model)) for model in (*MODELS, *MODELS)]
    kept = dict.fromkeys(MODELS, 0)
    for model, rival in rivals:
        lines = rival.communicate(timeout=60)[0].split("\n")
        assert rival.returncode == 0
        kept[model] += max((int(line.split()[1]) for line in lines if line.startswith("kept")), default=0)
    # What is reported by those that lived is what waited for them, though two of each had the same work.
    assert kept == before
    assert [each.waiting for each in store.vectors.sets()] == [0, 0]
    assert store.examine(_nothing) == []
    store.close()
    for model in MODELS:
        rows = [(identity, vector) for of, identity, vector in _look(path) if of == model]
        assert len(rows) == len({identity for identity, _ in rows})
        assert dict(rows) == expect_vectors(list(memories.values()), ToyEmbedder(model))


def _look(path: str) -> list[tuple[str, str, bytes]]:
    """Look at the vectors past our own code."""
    connection = sqlite3.connect(path)
    rows = connection.execute(_VECTORS).fetchall()
    connection.close()
    return [(model, str(_identify(blob)), vector) for model, blob, vector in rows]


def _identify(blob: bytes) -> str:
    return id_of(int.from_bytes(blob[-6:], "big"))


def test_models_are_switched_under_load(tmp_path: Path) -> None:
    """While two models are built and switched to, there and back, no recall fails, lacks the leg, or mixes vectors."""
    path, models = str(tmp_path / "memory.db"), make_models({})
    store = SqliteStore(path)
    # Scores as the leg gives them, and no leg left out for want of processor time.
    store.settings.set("context", 0.0)
    store.settings.set("leg-timeout-ms", 60_000)
    store.memories.add([make_memory(number, f"Memory {number}.") for number in range(1, 801)])
    build(store, Gate(models["high"]))
    recallers = [_start("recaller.py", path, stdin=subprocess.PIPE) for _ in range(2)]
    try:
        _wait_for(recallers, "high")
        for step, model in enumerate(["low", "high", "low", "high"]):
            for number in range(1 + step * 40, 41 + step * 40):
                edited = change_memory(make_memory(number), 10_000, content=f"Memory {number}, edited.")
                store.memories.change(edited)
            build(store, Gate(models[model]))
            _wait_for(recallers, model)
        for model in islice(cycle(["low", "high"]), 30):
            store.vectors.switch(model)
            _wait_for(recallers, model)
    finally:
        ends = [json.loads(recaller.communicate(timeout=60)[0].splitlines()[-1]) for recaller in recallers]
        assert [end["wrong"] for end in ends] == [[], []]
    assert [recaller.returncode for recaller in recallers] == [0, 0]
    assert all(end["answers"][model] > 10 for end in ends for model in models)
    assert store.examine(_nothing) == []
    store.close()


def _wait_for(recallers: Sequence[subprocess.Popen[str]], model: str) -> None:
    """Wait until each of them has an answer by this model."""
    for recaller in recallers:
        assert recaller.stdout is not None
        while (line := recaller.stdout.readline().strip()) != model:
            assert line in {"high", "low"}, f"it ended: {line}"
