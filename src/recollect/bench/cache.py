"""Vectors that were made once are not made again: an embedder around another, with a file for each model.

Everything passes through halves, so that what comes from the file and what was just made are the same numbers.
"""

import hashlib
import re
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

import numpy as np

from recollect.bench.models import portable
from recollect.core.ports import Embedder
from recollect.core.vectors import Vector

_SCHEMA: Final = "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID"
_HALVES: Final = "<f2"
_KEY: Final = 16
_DIGEST: Final = 8
_BUSY_SECONDS: Final = 60.0
_AT_ONCE: Final = 500
"""Keys looked up by one statement."""

Kind = Literal["document", "query"]


def vectors_path(folder: Path, model: str) -> Path:
    """Give the file that keeps a model's vectors: its name for people, with a digest for names that look alike."""
    name = portable(model)
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[-40:].strip("-")
    return folder / "vectors" / f"{slug}-{hashlib.sha256(name.encode()).hexdigest()[:_DIGEST]}.db"


def key_of(kind: Kind, text: str) -> bytes:
    return hashlib.sha256(f"{kind}\0{text}".encode()).digest()[:_KEY]


class CachedEmbedder:
    """An embedder that asks the one inside only for what it was never asked before."""

    def __init__(self, inside: Embedder, folder: Path) -> None:
        self._inside = inside
        self.hits = 0
        self.misses = 0
        path = vectors_path(folder, inside.model)
        path.parent.mkdir(parents=True, exist_ok=True)
        # Legs run in threads of their own; the lock keeps them apart.
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode = WAL").fetchone()
        # A vector that a power cut takes is made again.
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.execute(_SCHEMA)

    @property
    def model(self) -> str:
        return self._inside.model

    @property
    def where(self) -> Literal["local", "remote"]:
        return self._inside.where

    @property
    def dimension(self) -> int | None:
        return self._inside.dimension

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        keys = [key_of("document", text) for text in texts]
        found = self._read(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if missing:
            made = self._inside.embed_documents(list(missing.values()))
            found |= self._write(dict(zip(missing, made, strict=True)))
        self._count(len(texts) - len(missing), len(missing))
        return [_unpack(found[key]) for key in keys]

    def embed_query(self, text: str, seconds: float) -> Vector:
        key = key_of("query", text)
        found = self._read([key])
        if not found:
            found = self._write({key: self._inside.embed_query(text, seconds)})
            self._count(0, 1)
        else:
            self._count(1, 0)
        return _unpack(found[key])

    def embed_live(self, text: str, seconds: float) -> Vector:
        """Embed a query as if it was never asked: for measuring how long that takes."""
        return self._inside.embed_query(text, seconds)

    def close(self) -> None:
        self._connection.close()

    def _count(self, hits: int, misses: int) -> None:
        with self._lock:
            self.hits += hits
            self.misses += misses

    def _read(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        found: dict[bytes, bytes] = {}
        with self._lock:
            for start in range(0, len(keys), _AT_ONCE):
                some = keys[start : start + _AT_ONCE]
                marks = ", ".join("?" * len(some))
                found |= dict(
                    self._connection.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", some).fetchall()
                )
        return found

    def _write(self, made: dict[bytes, Vector]) -> dict[bytes, bytes]:
        packed = {key: np.asarray(vector, dtype=_HALVES).tobytes() for key, vector in made.items()}
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany("INSERT OR IGNORE INTO vectors (key, vector) VALUES (?, ?)", packed.items())
            self._connection.execute("COMMIT")
        return packed


def _unpack(octets: bytes) -> Vector:
    vector: list[float] = np.frombuffer(octets, dtype=_HALVES).astype(np.float64).tolist()
    return vector
