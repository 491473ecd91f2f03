"""What legs bring and stages pass on: memories by reference, with scores."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from recollect.values import field, value


class Ref(NamedTuple):
    """Which memory: an id means nothing without its space."""

    space: str
    id: str


@value
class Hit:
    """A memory that a leg found, with the leg's raw score.

    `evidence` is how much speaks for it on a scale of 0 to 1 that does not depend on the other hits: the share
    of the query's idf that matched, a cosine. The relevance floor reads it, since fused scores are relative.
    """

    ref: Ref
    score: float
    evidence: float


@value
class Evidence:
    """Why a leg scores one memory as it does: a sentence, and what each part of the query adds."""

    summary: str
    parts: tuple[tuple[str, float], ...] = ()


@value
class LegAnswer:
    """One leg's hits, best first, or why it has none to give.

    `least` is the lowest score the leg could give at all: 0 for BM25, -1 for a cosine. `cut` says that it was asked
    for no more: what it lacks may score as much as its last hit.
    """

    leg: str
    hits: tuple[Hit, ...] = ()
    least: float = 0.0
    milliseconds: float = 0.0
    failure: str | None = None
    cut: bool = False


@value
class Surroundings:
    """Where hits stand in their sessions."""

    near: dict[Ref, list[tuple[Ref, int]]] = field(default_factory=dict)
    """What stands next to each memory that was asked about, and how many places away."""
    counts: dict[Ref, tuple[int, ...]] = field(default_factory=dict)
    """How many stand one place away, two places away and so on, from each of those and of what stands next to them."""


@value
class Scored:
    ref: Ref
    score: float


def merge_hits(lists: Iterable[Sequence[Hit]], depth: int) -> list[Hit]:
    """Merge the hits that one leg found in several spaces by raw score, ties by reference."""
    merged = [hit for hits in lists for hit in hits]
    merged.sort(key=lambda hit: (-hit.score, hit.ref.id, hit.ref.space))
    return merged[:depth]


def scale(value: float, least: float, most: float) -> float:
    """Where a value stands between two others, 0 to 1; where they coincide, everything is at the top."""
    span = most - least
    if span <= 0 or not math.isfinite(span):
        return 1.0 if value >= most else 0.0
    return min(1.0, max(0.0, (value - least) / span))
