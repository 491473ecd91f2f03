"""Voyage's embeddings: the sides of a search are told apart, and long texts are cut by the server."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recollect.embedders.hosted import HostedEmbedder, Side, in_order
from recollect.embedders.naming import ModelName
from recollect.remote.http import Key, Pace


@dataclass(frozen=True, slots=True)
class Voyage:
    """It takes 1,000 texts at once, and of its largest models' tokens 120,000."""

    model: str
    dimensions: int | None
    most_texts: int = 128
    most_characters: int = 100_000
    path: str = "/embeddings"

    def ask(self, texts: Sequence[str], side: Side) -> Mapping[str, object]:
        asked: dict[str, object] = {"model": self.model, "input": list(texts), "input_type": side}
        return asked | ({"output_dimension": self.dimensions} if self.dimensions else {})

    def read(self, answer: Any) -> Sequence[Sequence[float]]:  # noqa: ANN401
        return in_order(answer["data"])


def open_voyage(named: ModelName, key: Key, pace: Pace | None = None) -> HostedEmbedder:
    return HostedEmbedder(named, Voyage(named.name, named.dimensions), key, pace or Pace())
