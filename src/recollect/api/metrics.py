"""The figures of one server process, for Prometheus: each stage of a recall under its own name, requests, pool, jobs.

No label holds a name, an id or a text: the values of every label are few and known beforehand.
"""

from collections.abc import Callable
from typing import Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from recollect.api.collecting import (
    CacheCollector,
    CacheStats,
    Histograms,
    JobCollector,
    Labels,
    PoolCollector,
    PoolStats,
)
from recollect.api.exchange import App, Exchange, Receive, Scope, Send
from recollect.core.ports import Lag
from recollect.service.recall import Recall

_STAGE_BOUNDS: Final = (0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
_HIT_BOUNDS: Final = (0.0, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
_REQUEST_BOUNDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_UNRANKED: Final = frozenset({"legs", "context"})
"""Stages before fusion leave no ranking: what they hold is counted leg by leg."""


class Metrics:
    def __init__(
        self,
        *,
        pool_stats: PoolStats | None = None,
        job_lag: Callable[[], Lag] | None = None,
        query_cache: CacheStats | None = None,
    ) -> None:
        # A second series beside every counter, that nobody reads.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = CollectorRegistry()
        self._stage_seconds = self._histograms(
            "recollect_stage_seconds", "Time of a leg or a stage of a recall.", ("stage",), _STAGE_BOUNDS
        )
        self._stage_hits = self._histograms(
            "recollect_stage_hits", "Memories that a leg or a stage passed on.", ("stage",), _HIT_BOUNDS
        )
        self._recall_seconds = self._histograms(
            "recollect_recall_seconds", "Time of a whole recall, its connection included.", (), _STAGE_BOUNDS
        )
        self._recalls = Counter("recollect_recalls", "Recalls answered.", registry=self._registry)
        self._left_out = Counter(
            "recollect_leg_left_out", "Legs that a recall went without.", ("leg", "reason"), registry=self._registry
        )
        self._stored = Counter("recollect_memories_stored", "Memories stored.", registry=self._registry)
        self._requests = Counter(
            "recollect_http_requests", "Requests answered.", ("route", "method", "status"), registry=self._registry
        )
        self._answers: dict[tuple[str, str, int], Counter] = {}
        """The counters of requests that there are by now: the library takes longer to find one."""
        self._request_seconds = self._histograms(
            "recollect_http_request_seconds", "Time of a request.", ("route", "method"), _REQUEST_BOUNDS
        )
        self._open_requests = Gauge(
            "recollect_http_requests_open", "Requests that are being answered.", registry=self._registry
        )
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self._registry)
        if pool_stats is not None:
            self._registry.register(PoolCollector(pool_stats))
        if job_lag is not None:
            self._registry.register(JobCollector(job_lag))
        if query_cache is not None:
            self._registry.register(CacheCollector(query_cache))

    def recall(self, answer: Recall, seconds: float) -> None:
        """Take note of a recall and of each of its stages."""
        times: list[tuple[Labels, float]] = []
        hits: list[tuple[Labels, float]] = []
        for leg in answer.trace.answers:
            label = (leg.leg,)
            times.append((label, leg.milliseconds / 1000))
            if leg.failure is None:
                hits.append((label, len(leg.hits)))
            else:
                self._left_out.labels(leg.leg, reason_for(leg.failure)).inc()
        for stage in answer.trace.stages:
            label = (stage.name,)
            times.append((label, stage.milliseconds / 1000))
            if stage.name not in _UNRANKED:
                hits.append((label, len(stage.ranking)))
        self._stage_seconds.observe(times)
        self._stage_hits.observe(hits)
        self._recall_seconds.observe((((), seconds),))
        self._recalls.inc()

    def stored(self, number: int = 1) -> None:
        self._stored.inc(number)

    def middleware(self, app: App) -> App:
        """Count and time the requests of an application, each under its route's template."""

        async def measured(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return
            exchange = Exchange(scope)
            self._open_requests.inc()
            try:
                await exchange.run(app, receive, send)
            finally:
                self._open_requests.dec()
                self._answered(exchange)

        return measured

    def expose(self) -> tuple[bytes, str]:
        """Give all figures as Prometheus reads them, and the type of that text."""
        return generate_latest(self._registry), CONTENT_TYPE_LATEST

    def _answered(self, exchange: Exchange) -> None:
        route, method, status = exchange.route, exchange.method, exchange.status // 100
        counter = self._answers.get((route, method, status))
        if counter is None:
            counter = self._answers[route, method, status] = self._requests.labels(route, method, f"{status}xx")
        counter.inc()
        self._request_seconds.observe((((route, method), exchange.seconds),))

    def _histograms(self, name: str, help_text: str, labels: Labels, bounds: tuple[float, ...]) -> Histograms:
        histograms = Histograms(name, help_text, labels, bounds)
        self._registry.register(histograms)
        return histograms


def reason_for(failure: str) -> str:
    """Put why a leg was left out into a class: a leg says it in words that hold models' names and servers' answers."""
    if "longer than" in failure or "no answer in" in failure or "no whole answer in" in failure:
        return "timeout"
    return "no-model" if "no embedding model" in failure else "failed"
