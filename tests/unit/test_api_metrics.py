"""The figures of a server: what is counted, under which names, and what never shows in them."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from fastapi import APIRouter, FastAPI, HTTPException
from hypothesis import example, given
from hypothesis import strategies as st
from prometheus_client import REGISTRY, CollectorRegistry, Histogram, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from psycopg_pool import ConnectionPool

from asgi import ask
from fakes import DictStore, FailingLeg, TellingLeg, ToyEmbedder
from making import StandingClock, make_memory, make_query, open_recollect, ref_of, wait_until
from recollect.api.collecting import Histograms, JobCollector
from recollect.api.exchange import Receive, Scope, Send
from recollect.api.metrics import Metrics
from recollect.core.errors import EmbedderBusy, LegError, LegTimeout
from recollect.core.hits import Hit
from recollect.core.ports import Leg
from recollect.core.query import Query
from recollect.core.trace import STAGES
from recollect.service.gate import Gates
from recollect.service.recall import Recall, recall

LEGS = ("lexical", "dense", "exact")


def read(text: bytes) -> dict[tuple[str, tuple[str, ...]], float]:
    """Give what a scrape brings: values by name and label values."""
    return {
        (sample.name, tuple(value for label, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text.decode())
        for sample in family.samples
    }


def scrape(metrics: Metrics) -> dict[tuple[str, tuple[str, ...]], float]:
    return read(metrics.expose()[0])


def make_recall(*legs: Leg, text: str = "deploys") -> Recall:
    legs = legs or tuple(TellingLeg(name, {ref_of(1): 2.0, ref_of(2): 1.0}) for name in LEGS)
    store = DictStore([make_memory(1), make_memory(2)], legs, settings={"leg-timeout-ms": 200})
    return recall(store, make_query(text))


def test_each_leg_and_stage_has_its_time_under_its_own_name() -> None:
    """A recall is seen leg by leg and stage by stage, under the names that the trace has."""
    metrics = Metrics()
    metrics.recall(make_recall(), 0.25)
    figures = scrape(metrics)
    counted = {labels[0] for name, labels in figures if name == "recollect_stage_seconds_count"}
    assert counted == {*LEGS, *STAGES}
    assert figures["recollect_recalls_total", ()] == 1
    assert figures["recollect_recall_seconds_sum", ()] == 0.25


def test_the_time_of_a_stage_is_that_of_the_trace() -> None:
    """What is counted for a stage is what its trace says, in seconds."""
    metrics = Metrics()
    answer = make_recall()
    metrics.recall(answer, 0.25)
    figures = scrape(metrics)
    for stage in answer.trace.stages:
        assert figures["recollect_stage_seconds_sum", (stage.name,)] == pytest.approx(stage.milliseconds / 1000)


def test_hits_are_counted_where_there_are_any_to_pass_on() -> None:
    """Legs and the stages from fusion on are counted by what they bring; before fusion there is no list yet."""
    metrics = Metrics()
    metrics.recall(make_recall(), 0.1)
    figures = scrape(metrics)
    brought = {labels[0]: value for (name, labels), value in figures.items() if name == "recollect_stage_hits_sum"}
    assert brought == dict.fromkeys((*LEGS, "fusion", "spread", "rerank", "prior", "links", "pack"), 2.0)


@dataclass
class _StuckLeg(TellingLeg):
    until: threading.Event = field(default_factory=threading.Event)

    def search(self, query: Query, depth: int, seconds: float) -> Sequence[Hit]:
        self.until.wait(60)
        return super().search(query, depth, seconds)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (LegTimeout("it took longer than 200 ms"), "timeout"),
        (EmbedderBusy("api.example.com did not answer: no answer in 0.2 s."), "timeout"),
        (LegError("the vectors of toy were just dropped"), "failed"),
        (RuntimeError("connection to 10.0.0.3 lost"), "failed"),
    ],
)
def test_a_leg_left_out_is_counted_by_a_few_reasons(error: Exception, reason: str) -> None:
    """Why a leg is missing is one of three words, whatever the leg says."""
    metrics = Metrics()
    metrics.recall(make_recall(TellingLeg("lexical", {ref_of(1): 1.0}), FailingLeg("dense", error=error)), 0.1)
    figures = scrape(metrics)
    assert {key: value for key, value in figures.items() if key[0] == "recollect_leg_left_out_total"} == {
        ("recollect_leg_left_out_total", ("dense", reason)): 1.0
    }
    assert ("recollect_stage_hits_count", ("dense",)) not in figures


def test_a_leg_that_does_not_return_counts_as_late() -> None:
    """A leg that recall stopped waiting for is one that timed out."""
    metrics = Metrics()
    stuck = _StuckLeg("dense")
    try:
        metrics.recall(make_recall(TellingLeg("lexical", {ref_of(1): 1.0}), stuck), 0.1)
    finally:
        stuck.until.set()
    assert scrape(metrics)["recollect_leg_left_out_total", ("dense", "timeout")] == 1


def test_a_store_without_a_model_is_told_from_one_that_fails(tmp_path: Path) -> None:
    """As a real store words it, having no embedding model counts as having none."""
    metrics = Metrics()
    with open_recollect(tmp_path / "memory.db", StandingClock()) as recollect:
        metrics.recall(recollect.recall("deploys"), 0.1)
    assert scrape(metrics)["recollect_leg_left_out_total", ("dense", "no-model")] == 1


def test_no_label_holds_what_people_keep_or_ask() -> None:
    """Neither words, nor spaces, nor ids, nor what a failure says reach the figures."""
    metrics = Metrics()
    failing = FailingLeg("dense", error=RuntimeError("zanzibar is away"))
    metrics.recall(make_recall(TellingLeg("lexical", {ref_of(1): 1.0}), failing, text="zanzibar"), 0.1)
    ask(metrics.middleware(make_app()), "GET", "/v1/spaces/zanzibar/memories/zanzibar?q=zanzibar")
    ask(metrics.middleware(make_app()), "GET", "/zanzibar")
    ask(metrics.middleware(make_app()), "GET", "/mcp/zanzibar")
    text = metrics.expose()[0].decode()
    assert "zanzibar" not in text
    assert "personal" not in text
    assert ref_of(1).id not in text


def test_stored_memories_are_counted() -> None:
    """A store counts one, an import as many as it brought."""
    metrics = Metrics()
    metrics.stored()
    metrics.stored(41)
    assert scrape(metrics)["recollect_memories_stored_total", ()] == 42


def test_each_set_of_figures_is_its_own() -> None:
    """Two servers in one process do not share figures, and none are put where other libraries put theirs."""
    first, second = Metrics(), Metrics()
    first.stored()
    assert scrape(second)["recollect_memories_stored_total", ()] == 0
    assert b"recollect" not in generate_latest(REGISTRY)


def test_nothing_is_lost_when_recalls_are_counted_at_once() -> None:
    """Threads that count the same recall at the same time leave the full number."""
    metrics = Metrics()
    answer = make_recall()

    def count() -> None:
        for _ in range(200):
            metrics.recall(answer, 0.1)

    threads = [threading.Thread(target=count, name=f"counter {number}") for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    figures = scrape(metrics)
    assert figures["recollect_recalls_total", ()] == 800
    assert figures["recollect_stage_seconds_count", ("pack",)] == 800


@given(st.lists(st.floats(0, 10, allow_subnormal=False), max_size=30))
@example([0.0, 0.1, 1.0, 10.0])
def test_our_histograms_are_what_the_library_would_show(values: list[float]) -> None:
    """Buckets, sums and counts are those of the library's own histogram."""
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    mine = Histograms("seconds", "Time.", ("stage",), (0.1, 1.0, 5.0))
    ours.register(mine)
    library = Histogram("seconds", "Time.", ("stage",), buckets=(0.1, 1.0, 5.0), registry=theirs)
    for value in values:
        library.labels("pack").observe(value)
    mine.observe([(("pack",), value) for value in values])
    expected = {key: value for key, value in read(generate_latest(theirs)).items() if key[0] != "seconds_created"}
    assert read(generate_latest(ours)) == pytest.approx(expected)


def make_app() -> FastAPI:
    app = FastAPI()
    inner = APIRouter(prefix="/spaces/{space}")

    @inner.get("/memories/{memory}")
    def memory(space: str, memory: str) -> str:
        return space + memory

    @inner.delete("/memories/{memory}")
    def refuse(space: str, memory: str) -> None:
        raise HTTPException(409, space + memory)

    outer = APIRouter(prefix="/v1")
    outer.include_router(inner)
    app.include_router(outer)

    @app.get("/fault")
    def fault() -> None:
        raise RuntimeError("zanzibar")

    agents = FastAPI()
    agents.post("/")(lambda: "")
    app.mount("/mcp", agents)
    return app


@pytest.mark.parametrize(
    ("method", "path", "labels"),
    [
        ("GET", "/v1/spaces/ada/memories/1", ("GET", "/v1/spaces/{space}/memories/{memory}", "2xx")),
        ("DELETE", "/v1/spaces/ada/memories/1", ("DELETE", "/v1/spaces/{space}/memories/{memory}", "4xx")),
        ("PUT", "/v1/spaces/ada/memories/1", ("PUT", "/v1/spaces/{space}/memories/{memory}", "4xx")),
        ("BREW", "/v1/spaces/ada/memories/1", ("other", "/v1/spaces/{space}/memories/{memory}", "4xx")),
        ("GET", "/v1/nowhere", ("GET", "unmatched", "4xx")),
        ("GET", "/openapi.json", ("GET", "/openapi.json", "2xx")),
        ("POST", "/mcp/", ("POST", "/mcp", "2xx")),
        ("POST", "/mcp/nowhere", ("POST", "/mcp", "4xx")),
    ],
)
def test_requests_are_counted_by_the_template_of_their_route(
    method: str, path: str, labels: tuple[str, str, str]
) -> None:
    """A request is counted under its route as it is written in the API, its method and the class of its status."""
    metrics = Metrics()
    ask(metrics.middleware(make_app()), method, path)
    figures = scrape(metrics)
    assert figures["recollect_http_requests_total", labels] == 1
    assert figures["recollect_http_request_seconds_count", labels[:2]] == 1
    assert figures["recollect_http_requests_open", ()] == 0


def test_a_request_that_fails_counts_as_a_failure_of_the_server() -> None:
    """An exception that nobody answered for is a 5xx."""
    metrics = Metrics()
    with pytest.raises(RuntimeError):
        ask(metrics.middleware(make_app()), "GET", "/fault")
    assert scrape(metrics)["recollect_http_requests_total", ("GET", "/fault", "5xx")] == 1


def test_a_client_that_hangs_up_counts_as_its_own_doing() -> None:
    """A request that ended without an answer and without an error is a 4xx."""

    async def silent(_scope: Scope, _receive: Receive, _send: Send) -> None:
        pass

    metrics = Metrics()
    ask(metrics.middleware(silent), "GET", "/")
    assert scrape(metrics)["recollect_http_requests_total", ("GET", "unmatched", "4xx")] == 1


def test_open_requests_are_seen_while_they_are_open() -> None:
    """A scrape in the middle of a request sees that request."""
    metrics = Metrics()
    app = FastAPI()
    app.get("/metrics")(lambda: scrape(metrics)["recollect_http_requests_open", ()])
    assert ask(metrics.middleware(app), "GET", "/metrics").body == b"1.0"


def test_what_is_no_request_passes_unseen() -> None:
    """The start and stop of a server go through to the application."""
    seen: list[str] = []

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        seen.append(scope["type"])

    metrics = Metrics()
    run = metrics.middleware(app)({"type": "lifespan"}, None, None)  # type: ignore[arg-type]
    with pytest.raises(StopIteration):
        run.__await__().__next__()
    assert seen == ["lifespan"]


def test_who_waits_for_a_connection_is_seen(postgres_url: str) -> None:
    """The pool's figures are those of a real pool: who waits now, and how long was waited."""
    with ConnectionPool(postgres_url, min_size=1, max_size=1, open=True) as pool:
        pool.wait()
        metrics = Metrics(pool_stats=pool.get_stats)

        def borrow() -> None:
            with pool.connection():
                pass

        with pool.connection():
            waiting = threading.Thread(target=borrow, name="waiting")
            waiting.start()
            wait_until(lambda: scrape(metrics)["recollect_pool_waiting", ()] == 1)
            assert scrape(metrics)["recollect_pool_available", ()] == 0
        waiting.join()
        figures = scrape(metrics)
    assert figures["recollect_pool_waiting", ()] == 0
    assert figures["recollect_pool_max", ()] == 1
    assert figures["recollect_pool_requests_total", ()] == 2
    assert figures["recollect_pool_requests_queued_total", ()] == 1
    assert figures["recollect_pool_wait_seconds_total", ()] > 0
    assert figures["recollect_pool_connections_failed_total", ()] == 0


@dataclass(frozen=True)
class _Lag:
    waiting: int = 7
    seconds: float = 12.5
    failed: int = 2


def test_the_lag_of_the_workers_is_asked_for_at_a_scrape() -> None:
    """Jobs that wait, the age of the oldest and those given up are read from the queue."""
    figures = scrape(Metrics(job_lag=_Lag))
    assert {name: value for (name, _), value in figures.items() if name.startswith("recollect_jobs")} == {
        "recollect_jobs_known": 1,
        "recollect_jobs_waiting": 7,
        "recollect_jobs_oldest_seconds": 12.5,
        "recollect_jobs_failed": 2,
    }


def test_an_unreachable_queue_does_not_stop_the_scrape() -> None:
    """When the queue cannot be asked, the figures say that it is unknown, and the rest is there."""

    def fail() -> _Lag:
        raise LegError("away")

    figures = scrape(Metrics(job_lag=fail))
    assert figures["recollect_jobs_known", ()] == 0
    assert ("recollect_jobs_waiting", ()) not in figures
    assert ("recollect_recalls_total", ()) in figures


def test_a_queue_that_hangs_is_not_waited_for_and_asked_only_once() -> None:
    """A scrape goes on without an answer, the next one does not ask a second time, and one that came late counts."""
    asked: list[int] = []
    answer_now = threading.Event()

    def hang() -> _Lag:
        asked.append(1)
        answer_now.wait(60)
        return _Lag()

    registry = CollectorRegistry()
    collector = JobCollector(hang, seconds=0.01)
    registry.register(collector)
    for _ in range(2):
        assert read(generate_latest(registry))["recollect_jobs_known", ()] == 0
    answer_now.set()
    wait_until(lambda: read(generate_latest(registry))["recollect_jobs_known", ()] == 1)
    assert len(asked) == 1


def test_the_queue_is_asked_again_only_after_a_while() -> None:
    """Scrapes that follow closely share one answer."""
    now = [100.0]
    asked: list[int] = []

    def count() -> _Lag:
        asked.append(1)
        return _Lag(waiting=len(asked))

    registry = CollectorRegistry()
    registry.register(JobCollector(count, lambda: now[0]))
    seen = []
    for moment in (100.0, 104.9, 105.0):
        now[0] = moment
        seen.append(read(generate_latest(registry))["recollect_jobs_waiting", ()])
    assert seen == [1, 1, 2]


def test_vectors_of_queries_are_counted_by_whether_they_were_at_hand() -> None:
    """A query that was asked before is a hit, a new one a miss."""
    gates = Gates(ToyEmbedder)
    for text in ("deploys", "deploys", "backups"):
        gates.embed_query("toy", text, 1.0)
    figures = scrape(Metrics(query_cache=gates.count_queries))
    assert figures["recollect_query_vectors_total", ("hit",)] == 1
    assert figures["recollect_query_vectors_total", ("miss",)] == 2
