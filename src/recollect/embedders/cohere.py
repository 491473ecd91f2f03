"""Cohere's embeddings, version 2 of its API: the sides of a search are told apart, long texts are cut by the server."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recollect.embedders.hosted import HostedEmbedder, Side
from recollect.embedders.naming import ModelName
from recollect.remote.http import Key, Pace


@dataclass(frozen=True, slots=True)
class Cohere:
    """It takes 96 texts at once."""

    model: str
    dimensions: int | None
    most_texts: int = 96
    most_characters: int = 100_000
    path: str = "/embed"

    def ask(self, texts: Sequence[str], side: Side) -> Mapping[str, object]:
        asked: dict[str, object] = {
            "model": self.model,
            "texts": list(texts),
            "input_type": f"search_{side}",
            "embedding_types": ["float"],
        }
        return asked | ({"output_dimension": self.dimensions} if self.dimensions else {})

    def read(self, answer: Any) -> Sequence[Sequence[float]]:  # noqa: ANN401
        vectors: Sequence[Sequence[float]] = answer["embeddings"]["float"]
        return vectors


def open_cohere(named: ModelName, key: Key, pace: Pace | None = None) -> HostedEmbedder:
    return HostedEmbedder(named, Cohere(named.name, named.dimensions), key, pace or Pace())
