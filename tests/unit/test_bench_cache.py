"""Vectors are made once, and are the same whether made or read."""

import hashlib
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal

import numpy as np

from recollect.bench.cache import CachedEmbedder, key_of, vectors_path
from recollect.core.vectors import Vector


class Counting:
    """An embedder that counts what it is asked for."""

    model = "folder:/somewhere/on/a/machine/tiny-model#0123456789ab"
    where: Literal["local", "remote"] = "local"
    dimension: int | None = 3

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        self.asked += texts
        return [[0.1, len(text), 1 / 3] for text in texts]

    def embed_query(self, text: str, seconds: float) -> Vector:
        assert seconds > 0
        self.asked.append(text)
        return [0.2, len(text), 1 / 3]


def test_a_text_is_embedded_once(tmp_path: Path) -> None:
    """Repeats, in one call or over two embedders, come from the file; hits and misses are counted."""
    inside = Counting()
    with closing(CachedEmbedder(inside, tmp_path)) as first:
        made = first.embed_documents(["one", "three", "one"])
    assert (first.hits, first.misses) == (1, 2)
    with closing(CachedEmbedder(inside, tmp_path)) as again:
        assert again.embed_documents(["three", "one"]) == [made[1], made[0]]
    assert (again.hits, again.misses) == (2, 0)
    assert inside.asked == ["one", "three"]


def test_a_query_is_kept_apart_from_a_document(tmp_path: Path) -> None:
    """The same text may have another vector as a query."""
    with closing(CachedEmbedder(Counting(), tmp_path)) as cached:
        assert cached.embed_query("one", 1.0) != cached.embed_documents(["one"])[0]
        assert cached.embed_query("one", 1.0) == cached.embed_query("one", 1.0)


def test_what_was_made_is_what_will_be_read(tmp_path: Path) -> None:
    """Both are rounded to halves, so that a first run and a second agree."""
    with closing(CachedEmbedder(Counting(), tmp_path)) as cached:
        made, read = (cached.embed_query("one", 1.0) for _ in range(2))
    assert made == read == np.array([0.2, 3, 1 / 3], "<f2").astype(float).tolist()


def test_a_live_embedding_passes_the_file_by(tmp_path: Path) -> None:
    """It is there to be timed."""
    inside = Counting()
    with closing(CachedEmbedder(inside, tmp_path)) as cached:
        cached.embed_query("one", 1.0)
        cached.embed_live("one", 1.0)
    assert inside.asked == ["one", "one"]


def test_the_file_is_laid_out_as_documented(tmp_path: Path) -> None:
    """Sixteen bytes of a digest of kind and text, and little-endian halves: files made elsewhere can be put in."""
    with closing(CachedEmbedder(Counting(), tmp_path)) as cached:
        cached.embed_query("one", 1.0)
    with closing(sqlite3.connect(vectors_path(tmp_path, Counting.model))) as connection:
        rows = connection.execute("SELECT key, vector FROM vectors").fetchall()
    key = hashlib.sha256(b"query\0one").digest()[:16]
    assert rows == [(key, np.array([0.2, 3, 1 / 3], "<f2").tobytes())]
    assert key_of("query", "one") == key


def test_a_model_in_a_folder_has_the_same_file_wherever_the_folder_is(tmp_path: Path) -> None:
    """Its digest says which model it is; models that only look alike have files of their own."""
    here = vectors_path(tmp_path, Counting.model)
    assert here == vectors_path(tmp_path, "folder:/elsewhere/tiny-model#0123456789ab")
    assert here.name.startswith("tiny-model-0123456789ab-")
    assert vectors_path(tmp_path, "BAAI/bge") != vectors_path(tmp_path, "baai-bge") != here
