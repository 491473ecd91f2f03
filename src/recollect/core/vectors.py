"""Vectors as every store keeps them: of unit length, in halves, so that a product of two is their cosine."""

import math
import struct
from collections.abc import Sequence

from recollect.core.errors import TextRefused

Vector = Sequence[float]


def to_unit(vector: Vector) -> list[float]:
    """Bring a vector to length 1; one that has no direction says nothing and is refused."""
    values = [float(value) for value in vector]
    length = math.sqrt(math.fsum(value * value for value in values))
    if not (math.isfinite(length) and length > 0):
        raise TextRefused("The embedding model answered with a vector that has no direction: try another model.")
    return [value / length for value in values]


def mean(vectors: Sequence[Vector]) -> list[float]:
    """Give the direction between vectors of unit length."""
    return to_unit([math.fsum(values) for values in zip(*map(to_unit, vectors), strict=True)])


def cosine(one: Vector, other: Vector) -> float:
    """Give the cosine between vectors of unit length."""
    return sum(a * b for a, b in zip(one, other, strict=True))


def pack(vector: Vector) -> bytes:
    """Lay out a vector as little-endian halves: half the room, and no rank changes."""
    return struct.pack(f"<{len(vector)}e", *vector)


def unpack(octets: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(octets) // 2}e", octets)
