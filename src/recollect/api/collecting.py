"""What is read when the metrics are scraped: histograms kept by ourselves, the pool of connections, the queue of work.

The histograms are our own because a recall fills twenty of them: the library's, each behind two locks and a loop over
its bounds, took 34 µs of processor time for that; with one lock and a bisection it takes 13.
"""

import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from recollect.core.ports import Lag

Labels = tuple[str, ...]


class Histograms(Collector):
    """One histogram for each set of label values."""

    def __init__(self, name: str, help_text: str, labels: Sequence[str], bounds: Sequence[float]) -> None:
        self._name = name
        self._help = help_text
        self._labels = tuple(labels)
        self._bounds = tuple(bounds)
        self._rows: dict[Labels, list[float]] = {}
        """How many values fell under each bound and none before it, how many over all, and last their sum."""
        self._lock = threading.Lock()

    def observe(self, values: Iterable[tuple[Labels, float]]) -> None:
        with self._lock:
            for labels, value in values:
                row = self._rows.get(labels)
                if row is None:
                    row = self._rows[labels] = [0.0] * (len(self._bounds) + 2)
                row[bisect_left(self._bounds, value)] += 1
                row[-1] += value

    def collect(self) -> Iterator[Metric]:
        with self._lock:
            rows = {labels: tuple(row) for labels, row in self._rows.items()}
        family = HistogramMetricFamily(self._name, self._help, labels=self._labels)
        for labels, (*counts, total) in rows.items():
            bounds = (*map(str, self._bounds), "+Inf")
            family.add_metric(labels, list(zip(bounds, accumulate(counts), strict=True)), total)
        yield family


PoolStats = Callable[[], Mapping[str, int]]
_POOL_GAUGES: Final = {
    "pool_min": ("recollect_pool_min", "Connections that the pool keeps at least."),
    "pool_max": ("recollect_pool_max", "Connections that the pool opens at most."),
    "pool_size": ("recollect_pool_size", "Connections that the pool has."),
    "pool_available": ("recollect_pool_available", "Connections that nobody uses now."),
    "requests_waiting": ("recollect_pool_waiting", "Who waits for a connection now."),
}
_POOL_COUNTERS: Final = {
    "requests_num": ("recollect_pool_requests", "Connections asked for.", 1),
    "requests_queued": ("recollect_pool_requests_queued", "Connections asked for that had to be waited for.", 1),
    "requests_errors": ("recollect_pool_requests_failed", "Connections asked for and not given in time.", 1),
    "requests_wait_ms": ("recollect_pool_wait_seconds", "Time spent waiting for a connection.", 1000),
    "usage_ms": ("recollect_pool_usage_seconds", "Time that connections were in use.", 1000),
    "connections_num": ("recollect_pool_connections", "Connections opened.", 1),
    "connections_errors": ("recollect_pool_connections_failed", "Connections that could not be opened.", 1),
    "connections_lost": ("recollect_pool_connections_lost", "Connections found broken.", 1),
}


class PoolCollector(Collector):
    """The pool's own figures (psycopg_pool's `get_stats`), which leaves out what is zero."""

    def __init__(self, stats: PoolStats) -> None:
        self._stats = stats

    def collect(self) -> Iterator[Metric]:
        stats = self._stats()
        for key, (name, help_text) in _POOL_GAUGES.items():
            yield GaugeMetricFamily(name, help_text, value=stats.get(key, 0))
        for key, (name, help_text, unit) in _POOL_COUNTERS.items():
            yield CounterMetricFamily(name, help_text, value=stats.get(key, 0) / unit)


_SCRAPE_SECONDS: Final = 2.0
"""Well below Prometheus's own ten: the other figures come although the database does not answer."""
_FRESH_SECONDS: Final = 5.0
"""Several scrapers, or an impatient one, ask the database once."""


class JobCollector(Collector):
    """Asks for the lag at a scrape. No answer in time means no figure: an old one would look healthy."""

    def __init__(
        self,
        job_lag: Callable[[], Lag],
        now: Callable[[], float] = time.monotonic,
        seconds: float = _SCRAPE_SECONDS,
    ) -> None:
        self._ask = job_lag
        self._now = now
        self._seconds = seconds
        self._lock = threading.Lock()
        self._asking: threading.Thread | None = None
        self._known: Lag | None = None
        self._known_at = float("-inf")

    def collect(self) -> Iterator[Metric]:
        lag = self._read()
        yield GaugeMetricFamily("recollect_jobs_known", "Whether the queue answered: 1 or 0.", value=lag is not None)
        if lag is not None:
            yield GaugeMetricFamily("recollect_jobs_waiting", "Jobs that wait for a worker.", value=lag.waiting)
            yield GaugeMetricFamily(
                "recollect_jobs_oldest_seconds", "How long the oldest of them has waited.", value=lag.seconds
            )
            yield GaugeMetricFamily("recollect_jobs_failed", "Jobs given up, until they are retried.", value=lag.failed)

    def _read(self) -> Lag | None:
        with self._lock:
            if self._asking is None and self._now() - self._known_at >= _FRESH_SECONDS:
                self._known = None
                self._asking = threading.Thread(target=self._learn, name="job lag", daemon=True)
                self._asking.start()
            asking = self._asking
        if asking is not None:
            asking.join(self._seconds)
        with self._lock:
            return self._known

    def _learn(self) -> None:
        try:
            lag = self._ask()
        except Exception:  # noqa: BLE001 - whatever is wrong with the queue, the other figures are scraped
            lag = None
        with self._lock:
            self._known = lag
            self._known_at = self._now()
            self._asking = None


CacheStats = Callable[[], tuple[int, int]]


class CacheCollector(Collector):
    """How often a query's vector was there already."""

    def __init__(self, stats: CacheStats) -> None:
        self._stats = stats

    def collect(self) -> Iterator[Metric]:
        hits, misses = self._stats()
        family = CounterMetricFamily(
            "recollect_query_vectors", "Vectors of queries, by whether they were at hand.", labels=("cache",)
        )
        family.add_metric(("hit",), hits)
        family.add_metric(("miss",), misses)
        yield family
