"""Traces: which spans a request leaves, that a collector can read them, and that they quote nothing."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise

import pytest
from fastapi import FastAPI
from opentelemetry import trace
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from asgi import ask
from fakes import DictStore, FailingLeg, TellingLeg
from making import make_memory, make_query, ref_of
from recollect.api.exchange import App, Receive, Scope, Send
from recollect.api.logs import RequestLog
from recollect.api.telemetry import Tracing, start
from recollect.core.errors import LegTimeout
from recollect.core.hits import LegAnswer
from recollect.core.trace import STAGES, StageTrace, Trace
from recollect.service.recall import Recall, recall

WORDS = "zanzibar"
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@contextmanager
def tracing_to(exporter: InMemorySpanExporter) -> Iterator[Tracing]:
    tracing = start("http://127.0.0.1:9", exporter)
    assert tracing is not None
    try:
        yield tracing
    finally:
        tracing.close()


def make_recall() -> Recall:
    legs = [
        TellingLeg("lexical", {ref_of(1): 1.0}),
        FailingLeg("dense", error=LegTimeout(f"{WORDS} took longer than 5 ms")),
    ]
    return recall(DictStore([make_memory(1, WORDS)], legs), make_query(WORDS))


def make_app(tracing: Tracing, answer: Recall) -> App:
    app = FastAPI()

    # Not a coroutine, as the API's own: it runs in another thread than the request came in.
    @app.post("/v1/spaces/{space}/recall")
    def ask_for(space: str) -> str:
        tracing.recall(answer, 0.25)
        return space

    @app.get("/v1/fault")
    def fault() -> None:
        raise RuntimeError(WORDS)

    @app.get("/healthz")
    def healthz() -> str:
        return ""

    return RequestLog(tracing.middleware(app))


def spans_of(method: str, target: str, headers: dict[str, str] | None = None) -> list[ReadableSpan]:
    exporter = InMemorySpanExporter()
    with tracing_to(exporter) as tracing:
        ask(make_app(tracing, make_recall()), method, target, headers)
    return list(exporter.get_finished_spans())


def by_name(spans: list[ReadableSpan]) -> dict[str, ReadableSpan]:
    return {span.name: span for span in spans}


def parent_of(span: ReadableSpan, spans: list[ReadableSpan]) -> str | None:
    names = {other.context.span_id: other.name for other in spans}
    return None if span.parent is None else names.get(span.parent.span_id, "elsewhere")


def test_a_recall_is_a_span_a_stage_under_its_request() -> None:
    """Under the request stands the recall, under it every stage in order, and under `legs` each leg."""
    spans = spans_of("POST", f"/v1/spaces/{WORDS}/recall")
    request = "POST /v1/spaces/{space}/recall"
    assert {span.name: parent_of(span, spans) for span in spans} == {
        request: None,
        "recall": request,
        **dict.fromkeys(STAGES, "recall"),
        "lexical": "legs",
        "dense": "legs",
    }
    named = by_name(spans)
    stages = [named[stage] for stage in STAGES]
    assert all(before.end_time == after.start_time for before, after in pairwise(stages))
    assert stages[-1].end_time == named["recall"].end_time
    assert (named["recall"].end_time or 0) - (named["recall"].start_time or 0) == 250_000_000


def test_the_times_of_stages_are_those_of_the_trace() -> None:
    """A span is as long as its stage was."""
    exporter = InMemorySpanExporter()
    answer = make_recall()
    with tracing_to(exporter) as tracing:
        ask(make_app(tracing, answer), "POST", "/v1/spaces/ada/recall")
    named = by_name(list(exporter.get_finished_spans()))
    for stage in answer.trace.stages:
        span = named[stage.name]
        assert (span.end_time or 0) - (span.start_time or 0) == round(stage.milliseconds * 1_000_000)


@pytest.mark.parametrize(("stage_milliseconds", "second_begins"), [(9.0, 4.0), (6.0, 0.0)])
def test_legs_stand_one_after_the_other_if_their_times_allow(stage_milliseconds: float, second_begins: float) -> None:
    """Legs of 4 and 5 ms within a stage of 9 ms were asked in turn; within one of 6 ms, at once."""
    legs = (LegAnswer("lexical", milliseconds=4.0), LegAnswer("dense", milliseconds=5.0))
    answer = replace(make_recall(), trace=Trace(legs, (StageTrace("legs", (), stage_milliseconds),)))
    exporter = InMemorySpanExporter()
    with tracing_to(exporter) as tracing:
        ask(make_app(tracing, answer), "POST", "/v1/spaces/ada/recall")
    named = by_name(list(exporter.get_finished_spans()))
    begun = named["legs"].start_time or 0
    assert named["lexical"].start_time == begun
    assert (named["dense"].start_time or 0) - begun == second_begins * 1_000_000


def test_spans_say_how_it_went_and_nothing_else() -> None:
    """Routes, statuses, numbers and classes of failure are told; words, spaces and people are not."""
    spans = spans_of(
        "POST", f"/v1/spaces/{WORDS}/recall?q={WORDS}", {"X-Request-Id": "abc", "tracestate": f"a={WORDS}"}
    )
    named = by_name(spans)
    request = named["POST /v1/spaces/{space}/recall"]
    assert request.kind is SpanKind.SERVER
    assert dict(request.attributes or {}) == {
        "http.request.method": "POST",
        "http.route": "/v1/spaces/{space}/recall",
        "http.response.status_code": 200,
        "recollect.request": "abc",
    }
    assert dict(named["dense"].attributes or {}) == {"recollect.hits": 0, "recollect.left_out": "timeout"}
    assert dict(named["fusion"].attributes or {}) == {"recollect.on": True, "recollect.hits": 1}
    assert WORDS not in "".join(span.to_json() for span in spans)


def test_a_client_that_traces_sees_its_request_in_its_own_trace() -> None:
    """A request that names a trace becomes part of it."""
    (span,) = spans_of("GET", "/v1/nowhere", {"traceparent": PARENT})
    assert span.name == "GET unmatched"
    assert f"{span.context.trace_id:032x}" == PARENT.split("-")[1]
    assert span.parent is not None
    assert f"{span.parent.span_id:016x}" == PARENT.split("-")[2]


def test_a_failure_is_marked_without_what_it_says() -> None:
    """A request that fails is an error of a kind; the message is not recorded."""
    exporter = InMemorySpanExporter()
    with tracing_to(exporter) as tracing, pytest.raises(RuntimeError):
        ask(make_app(tracing, make_recall()), "GET", "/v1/fault")
    (span,) = exporter.get_finished_spans()
    assert span.status.status_code is StatusCode.ERROR
    assert (span.attributes or {})["error.type"] == "RuntimeError"
    assert span.events == ()
    assert WORDS not in span.to_json()


def test_probes_and_the_life_of_the_server_leave_no_spans() -> None:
    """What a machine asks every few seconds is not traced, nor is the start of the server."""
    assert spans_of("GET", "/healthz") == []
    seen: list[str] = []

    async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
        seen.append(scope["type"])

    exporter = InMemorySpanExporter()
    with tracing_to(exporter) as tracing:
        run = tracing.middleware(app)({"type": "lifespan"}, None, None)  # type: ignore[arg-type]
        with pytest.raises(StopIteration):
            run.__await__().__next__()
    assert (seen, exporter.get_finished_spans()) == (["lifespan"], ())


def test_a_recall_outside_of_any_request_is_not_traced() -> None:
    """Without a request there is nothing to hang a recall's spans on."""
    exporter = InMemorySpanExporter()
    with tracing_to(exporter) as tracing:
        tracing.recall(make_recall(), 0.1)
    assert exporter.get_finished_spans() == ()


def test_nothing_is_set_up_for_the_whole_process() -> None:
    """Spans that other libraries make, which may quote, do not come along."""
    with tracing_to(InMemorySpanExporter()):
        assert type(trace.get_tracer_provider()).__name__ == "ProxyTracerProvider"


@contextmanager
def collector() -> Iterator[tuple[str, list[tuple[str, str, bytes]]]]:
    """Serve as a collector over HTTP does, and keep what arrives: its path, its type and its body."""
    arrived: list[tuple[str, str, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            arrived.append((self.path, self.headers["content-type"], body))
            self.send_response(200)
            self.send_header("content-type", "application/x-protobuf")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, name="collector")
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", arrived
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_collector_gets_the_spans_as_otlp(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is sent is OTLP over HTTP, to the path of the standard, under the name that the environment gives."""
    monkeypatch.setenv("OTEL_SERVICE_NAME", "memory-of-the-team")
    with collector() as (address, arrived):
        tracing = start(f"{address}/")
        assert tracing is not None
        ask(make_app(tracing, make_recall()), "POST", f"/v1/spaces/{WORDS}/recall")
        tracing.close()
    ((path, content_type, body),) = arrived
    assert (path, content_type) == ("/v1/traces", "application/x-protobuf")
    (resource,) = ExportTraceServiceRequest.FromString(body).resource_spans
    attributes = {pair.key: pair.value.string_value for pair in resource.resource.attributes}
    assert attributes["service.name"] == "memory-of-the-team"
    spans = [span for scope in resource.scope_spans for span in scope.spans]
    assert {span.name for span in spans} >= {"POST /v1/spaces/{space}/recall", "recall", *STAGES}
    assert WORDS.encode() not in body


def test_without_an_address_nothing_is_traced_or_even_imported() -> None:
    """A server that is not asked to trace does not load what tracing needs."""
    program = (
        "import sys; from recollect.api import telemetry; assert telemetry.start('') is None; "
        "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_without_the_extra_a_server_says_so_and_serves(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """An address alone, as some platforms set it everywhere, does not stop a server that cannot trace."""
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    assert start("http://127.0.0.1:9") is None
    assert "pip install 'recollect[telemetry]'" in caplog.text
