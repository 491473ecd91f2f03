"""OpenAI's embeddings, and those of every server that speaks as it does: Ollama, vLLM, TEI, llama.cpp."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recollect.embedders.hosted import HostedEmbedder, Side, in_order
from recollect.embedders.naming import ModelName
from recollect.remote.http import Key, Pace


@dataclass(frozen=True, slots=True)
class OpenAI:
    """It takes 2,048 texts and 300,000 tokens at once. TEI takes 32 texts unless it is told otherwise."""

    model: str
    dimensions: int | None
    most_texts: int
    most_characters: int = 200_000
    path: str = "/embeddings"

    def ask(self, texts: Sequence[str], side: Side) -> Mapping[str, object]:  # noqa: ARG002
        """Make a request; the sides of a search are embedded alike."""
        asked: dict[str, object] = {"model": self.model, "input": list(texts), "encoding_format": "float"}
        return asked | ({"dimensions": self.dimensions} if self.dimensions else {})

    def read(self, answer: Any) -> Sequence[Sequence[float]]:  # noqa: ANN401
        return in_order(answer["data"])


def open_openai(named: ModelName, key: Key, pace: Pace | None = None) -> HostedEmbedder:
    wire = OpenAI(named.name, named.dimensions, most_texts=32 if named.url else 256)
    return HostedEmbedder(named, wire, key, pace or Pace())
