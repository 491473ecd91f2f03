"""The one gate through which text reaches an embedding model, wherever that model runs.

A sensitive memory does not pass, neither alone nor as what was said before another. Vectors come back checked:
one a text, all of the same length, of unit length.
"""

import threading
from collections.abc import Callable, Sequence
from typing import Final

from recollect.core.context import read_together
from recollect.core.errors import EmbedderError
from recollect.core.ports import Embedder, Waiting
from recollect.core.sensitivity import may_leave
from recollect.core.vectors import Vector, mean, to_unit

MOST_QUERIES: Final = 1000
"""Whose vectors are kept: some megabytes."""


class Gate:
    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._dimension = embedder.dimension

    @property
    def model(self) -> str:
        return self._embedder.model

    def embed(self, waiting: Sequence[Waiting]) -> list[list[float]]:
        """Give the vector of each memory: of its text, or between that and what it says after those before it."""
        if any(not may_leave(each.memory) for each in waiting):
            raise EmbedderError("A sensitive memory was about to be embedded: this is a bug, please report it.")
        texts = [
            [each.memory.content, *read_together(each.memory, [one for one in each.before if may_leave(one)])]
            for each in waiting
        ]
        made = iter(self._check(self._embedder.embed_documents([text for both in texts for text in both]), texts))
        return [mean([next(made) for _ in both]) for both in texts]

    def embed_query(self, text: str, seconds: float) -> list[float]:
        return to_unit(self._check([self._embedder.embed_query(text, seconds)], [[text]])[0])

    def _check(self, vectors: Sequence[Vector], texts: Sequence[Sequence[str]]) -> Sequence[Vector]:
        expected = sum(map(len, texts))
        if len(vectors) != expected:
            raise EmbedderError(
                f"{self.model} answered {len(vectors)} vectors for {expected} texts: try another model."
            )
        lengths = {len(vector) for vector in vectors}
        self._dimension = self._dimension or next(iter(lengths), None)
        if lengths - {self._dimension}:
            raise EmbedderError(
                f"{self.model} gives vectors of {max(lengths - {self._dimension})} numbers where {self._dimension} "
                "were expected: it is not the model that it was. Embed anew under another name."
            )
        return vectors


def _refuse(model: str) -> Embedder:
    raise EmbedderError(f"This process has no way to open {model}.")


class Gates:
    """The gates that were opened, one a model: loading a model takes longer than a hundred recalls."""

    def __init__(self, open_embedder: Callable[[str], Embedder] = _refuse) -> None:
        self._open = open_embedder
        self._gates: dict[str, Gate] = {}
        self._lock = threading.Lock()
        self._asked: dict[tuple[str, str], list[float]] = {}
        """The vectors of the last queries, oldest first: people repeat themselves, and so does `explain`."""
        self._reused = 0
        self._made = 0

    def of(self, model: str) -> Gate:
        with self._lock:
            if model not in self._gates:
                gate = Gate(self._open(model))
                if gate.model != model:
                    raise EmbedderError(f"{model} opened as {gate.model}: its vectors would be another model's.")
                self._gates[model] = gate
            return self._gates[model]

    def open(self, name: str) -> Gate:
        """Open a model by any of its names."""
        return self.add(self._open(name))

    def add(self, embedder: Embedder) -> Gate:
        """Take in an embedder that is open already."""
        with self._lock:
            return self._gates.setdefault(embedder.model, Gate(embedder))

    def recall_query(self, model: str, text: str) -> list[float] | None:
        """Give a query's vector if it was asked for lately."""
        with self._lock:
            vector = self._asked.pop((model, text), None)
            if vector is not None:
                self._asked[model, text] = vector
            return vector

    def embed_query(self, model: str, text: str, seconds: float) -> list[float]:
        vector = self.recall_query(model, text)
        if vector is not None:
            with self._lock:
                self._reused += 1
            return vector
        vector = self.of(model).embed_query(text, seconds)
        with self._lock:
            self._made += 1
            self._asked[model, text] = vector
            if len(self._asked) > MOST_QUERIES:
                del self._asked[next(iter(self._asked))]
        return vector

    def count_queries(self) -> tuple[int, int]:
        """Give how many vectors of queries were at hand, and how many had to be made."""
        return self._reused, self._made
