"""A hosted model as an `Embedder`: texts in batches that its server takes, vectors checked and in order.

What differs from provider to provider is a `Wire`; how a request is made and made again is `remote/http`.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, Protocol

from recollect.core.errors import EmbedderBusy, EmbedderError, TextRefused
from recollect.core.vectors import Vector
from recollect.embedders.naming import ModelName
from recollect.remote.http import Key, Pace, Purpose, Transport

Side = Literal["document", "query"]

SECONDS_A_BATCH = 180.0
EMBED: Final = Purpose("embed", 60.0, "recalls find words", EmbedderError, EmbedderBusy, TextRefused)


class Wire(Protocol):
    """How one provider is asked and answers."""

    @property
    def path(self) -> str:
        """Where below its address it embeds."""

    @property
    def most_texts(self) -> int:
        """How many texts it takes at once."""

    @property
    def most_characters(self) -> int:
        """How many characters it takes at once, by a safe guess: limits are in tokens, of which each has its own."""

    def ask(self, texts: Sequence[str], side: Side) -> Mapping[str, object]: ...

    def read(self, answer: object) -> Sequence[Sequence[float]]:
        """Give the vectors, in order; what does not have the provider's shape may raise as it will."""


class HostedEmbedder:
    def __init__(self, named: ModelName, wire: Wire, key: Key, pace: Pace) -> None:
        self.model: Final = str(named)
        self.where: Final[Literal["local", "remote"]] = named.where
        if not key.value and not named.url:
            raise EmbedderError(f"{self.model} needs a key: set {key.variable}.")
        self._wire = wire
        self._dimension = named.dimensions
        self._transport = Transport(named.address + wire.path, key, EMBED, local=named.where == "local", pace=pace)

    @property
    def dimension(self) -> int | None:
        return self._dimension

    def embed_documents(self, texts: Sequence[str]) -> list[Vector]:
        return [vector for batch in self._batches(texts) for vector in self._embed(batch, "document", SECONDS_A_BATCH)]

    def embed_query(self, text: str, seconds: float) -> Vector:
        return self._embed([text], "query", seconds)[0]

    def _batches(self, texts: Sequence[str]) -> Iterator[Sequence[str]]:
        start = characters = 0
        for place, text in enumerate(texts):
            full = place - start == self._wire.most_texts or characters + len(text) > self._wire.most_characters
            if full and place > start:
                yield texts[start:place]
                start, characters = place, 0
            characters += len(text)
        if texts:
            yield texts[start:]

    def _embed(self, texts: Sequence[str], side: Side, seconds: float) -> list[Vector]:
        answer = self._transport.post(self._wire.ask(texts, side), seconds)
        try:
            vectors = self._wire.read(answer)
            finite = all(math.isfinite(number) for vector in vectors for number in vector)
            lengths = {len(vector) for vector in vectors}
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            raise EmbedderError(
                f"{self.model} did not answer as {type(self._wire).__name__} does: see whether the server at its "
                "address speaks that way."
            ) from None
        if len(vectors) != len(texts):
            raise EmbedderError(f"{self.model} answered {len(vectors)} vectors for {len(texts)} texts: ask its server.")
        if not finite or 0 in lengths:
            raise EmbedderError(f"{self.model} answered with what is no vector: try another model.")
        self._dimension = self._dimension or max(lengths)
        if lengths != {self._dimension}:
            raise EmbedderError(
                f"{self.model} answered vectors of {max(lengths)} numbers where {self._dimension} were expected: "
                "either the model cannot do that, or it is another one now. Embed anew under another name."
            )
        return list(vectors)


def in_order(rows: Sequence[Mapping[str, object]]) -> list[Sequence[float]]:
    """Order the rows of OpenAI's and Voyage's answers by their index; one that lacks or repeats one has no order."""
    by_index = {row["index"]: row["embedding"] for row in rows}
    return [by_index[index] for index in range(len(rows))]  # type: ignore[misc]
