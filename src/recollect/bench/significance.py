"""How sure a mean is: the bootstrap over queries, paired where two arms answered the same ones.

Efron and Tibshirani, "An Introduction to the Bootstrap", 1993; for retrieval Sakai, "Evaluating evaluation metrics
based on the bootstrap", SIGIR 2006. The seed is fixed, so the same results have the same intervals.
"""

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

SAMPLES: Final = 10_000
SEED: Final = 20260101
_LOW, _HIGH = 2.5, 97.5
_AT_ONCE: Final = 2_000_000
"""Draws held in memory at a time."""

Table = NDArray[np.float64]
"""A row a query, a column a measure."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean, and where it lies with 95 % confidence."""

    mean: float
    low: float
    high: float

    @property
    def above_zero(self) -> bool:
        return self.low > 0

    @property
    def below_zero(self) -> bool:
        return self.high < 0


@dataclass(frozen=True, slots=True)
class Summary:
    """The intervals of every column, set by set and for the mean over the sets, each set counting alike."""

    sets: Mapping[str, tuple[Interval, ...]]
    mean: tuple[Interval, ...]


def summarise(tables: Mapping[str, Table]) -> Summary:
    """Resample the queries inside each set, then average the sets. For a paired difference, give differences."""
    if not tables:
        return Summary({}, ())
    samples = {name: resample(table, name) for name, table in tables.items()}
    means = {name: table.mean(axis=0) for name, table in tables.items()}
    return Summary(
        {name: _intervals(means[name], samples[name]) for name in tables},
        _intervals(_average(means.values()), _average(samples.values())),
    )


def resample(table: Table, key: str) -> Table:
    """Give the means of so many samples drawn with replacement; the same rows are drawn for every column."""
    rows, columns = table.shape
    if rows == 0:
        raise ValueError(f"{key} has no queries to draw from.")
    generator = np.random.default_rng([SEED, zlib.crc32(key.encode())])
    means = np.empty((SAMPLES, columns))
    step = max(1, _AT_ONCE // rows)
    for start in range(0, SAMPLES, step):
        size = min(step, SAMPLES - start)
        drawn = generator.integers(rows, size=(size, rows), dtype=np.int64)
        drawn += np.arange(size)[:, None] * rows
        counts = np.bincount(drawn.ravel(), minlength=size * rows).reshape(size, rows)
        means[start : start + size] = counts.astype(np.float64) @ table / rows
    return means


def _average(tables: Iterable[Table]) -> Table:
    average: Table = np.mean(list(tables), axis=0)
    return average


def _intervals(means: Table, samples: Table) -> tuple[Interval, ...]:
    low, high = np.percentile(samples, [_LOW, _HIGH], axis=0)
    return tuple(
        Interval(float(mean), float(lowest), float(highest))
        for mean, lowest, highest in zip(means, low, high, strict=True)
    )
