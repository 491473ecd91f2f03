"""Synthetic vectors that lie as those of a sentence model do: a seed goes in, unit vectors in halves come out.

Every memory belongs to a topic of some hundred and to a subject of some ten within it. The parts were chosen so that
cosines come out much like those that all-MiniLM-L6-v2 gives realmem's 5,072 turns: 0.14 between any two (there 0.16);
0.70, 0.43 and 0.34 between a question and its best, tenth and fiftieth memory (there 0.62, 0.46, 0.36). In how few
directions most of the variance lies follows that model too: else neighbours are harder to find than real ones.
"""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

TOPIC: Final = 100
SUBJECT: Final = 10
_SHARED, _OF_TOPIC, _OF_SUBJECT = 0.14, 0.25, 0.25
_OF_QUESTION: Final = 0.5
"""How much of a question is the memory that it asks for."""
_BEND, _POWER = 12.0, 1.3
"""Half of the variance lies in the first 25 of 384 directions, nine tenths in the first 163; the model's: 29, 163."""

Floats = NDArray[np.float32]
Halves = NDArray[np.float16]


@dataclass(frozen=True, slots=True)
class Cloud:
    """The vectors of one space: always the same for the same seed and dimension, whoever asks and in what order."""

    seed: int
    dimension: int

    def memories(self, count: int) -> Halves:
        source = np.random.default_rng([self.seed, self.dimension, 1])
        topics = self._draw(source, -(-count // TOPIC))
        subjects = self._draw(source, -(-count // SUBJECT))
        own = self._draw(source, count)
        # Topics come in a mixed order, as they do in a life.
        subject_of = source.permutation(count) // SUBJECT
        topic_of = subject_of * SUBJECT // TOPIC
        own *= np.sqrt(1 - _SHARED - _OF_TOPIC - _OF_SUBJECT)
        own += np.sqrt(_OF_TOPIC) * topics[topic_of]
        own += np.sqrt(_OF_SUBJECT) * subjects[subject_of]
        own += np.sqrt(_SHARED) * self._shared()
        return _to_unit(own).astype(np.float16)

    def questions(self, memories: Halves, count: int, seed: int = 0) -> Floats:
        """Give what somebody asks who has one of the memories in mind."""
        source = np.random.default_rng([self.seed, self.dimension, 2, seed])
        meant = memories[source.integers(len(memories), size=count)].astype(np.float32)
        noise = self._draw(source, count)
        return _to_unit(np.sqrt(_OF_QUESTION) * meant + np.sqrt(1 - _OF_QUESTION) * noise)

    def _draw(self, source: np.random.Generator, count: int) -> Floats:
        drawn = source.standard_normal((count, self.dimension), dtype=np.float32)
        scale = (np.arange(self.dimension) + _BEND * self.dimension / 384) ** (-_POWER / 2)
        drawn *= (scale / np.sqrt(np.mean(scale**2))).astype(np.float32)
        drawn /= np.sqrt(np.float32(self.dimension))
        return drawn

    def _shared(self) -> Floats:
        """Give what all texts have in common, in every space the same."""
        return _to_unit(np.random.default_rng(self.dimension).standard_normal((1, self.dimension), dtype=np.float32))


def split(question: Floats) -> tuple[str, str]:
    """Write a vector as the sum of two in halves, so that products with it are as good as in single precision."""
    high = question.astype(np.float16)
    low = (question - high.astype(np.float32)).astype(np.float16)
    return to_text(high), to_text(low)


def to_text(vector: NDArray[Any]) -> str:
    return f"[{','.join(map(str, vector.tolist()))}]"


def to_binary(vectors: Halves) -> list[bytes]:
    """Lay out vectors as pgvector's halfvec travels: length, an unused field, big-endian halves."""
    head = np.array([vectors.shape[1], 0], dtype=">i2").tobytes()
    body = vectors.astype(">f2").tobytes()
    width = vectors.shape[1] * 2
    return [head + body[start : start + width] for start in range(0, len(body), width)]


def _to_unit(vectors: Floats) -> Floats:
    unit: Floats = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit
