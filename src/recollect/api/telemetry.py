"""Traces for a collector that speaks OTLP: a span for each request, and under it one for each stage of its recall.

Off unless an address is set, and then nothing of it is imported. Spans tell of routes, times and numbers of hits; what
people keep or ask, and who they are, stays here.
"""

import logging
import time
from typing import TYPE_CHECKING, Final

from recollect import __version__
from recollect.api.exchange import QUIET, App, Exchange, Receive, Scope, Send
from recollect.api.logs import log_event, name_error
from recollect.api.metrics import reason_for
from recollect.service.recall import Recall

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span
    from opentelemetry.util.types import AttributeValue

_ERROR_STATUS: Final = 500


def start(endpoint: str, exporter: "SpanExporter | None" = None) -> "Tracing | None":
    """Trace to the collector at an address (OTEL_EXPORTER_OTLP_ENDPOINT); without one, not at all.

    A server that cannot trace still serves, and says so once. For all else, as headers and sampling, the SDK reads
    its own variables.
    """
    if not endpoint:
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import OTELResourceDetector, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        log_event("no traces: `pip install 'recollect[telemetry]'` brings what they need", logging.WARNING)
        return None
    service = Resource.create({"service.name": "recollect", "service.version": __version__})
    # What the environment calls this service goes before what we call it.
    provider = TracerProvider(resource=service.merge(OTELResourceDetector().detect()))
    exporter = exporter or OTLPSpanExporter(f"{endpoint.rstrip('/')}/v1/traces")
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return Tracing(provider)


class Tracing:
    """Made by `start`. Nothing is set up globally: no other library's spans, which may quote, come along."""

    def __init__(self, provider: "TracerProvider") -> None:
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self._provider = provider
        self._tracer = provider.get_tracer("recollect", __version__)
        self._propagator = TraceContextTextMapPropagator()

    def middleware(self, app: App) -> App:
        """Trace the requests of an application, as part of the client's own trace if it names one."""
        from opentelemetry.trace import SpanKind, use_span

        async def traced(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http" or scope["path"] in QUIET:
                await app(scope, receive, send)
                return
            exchange = Exchange(scope)
            span = self._tracer.start_span(exchange.method, self._parent(scope), SpanKind.SERVER)
            # Exceptions are not recorded: their messages may quote.
            with use_span(span, end_on_exit=True, record_exception=False, set_status_on_exception=False):
                try:
                    await exchange.run(app, receive, send)
                finally:
                    _describe(span, exchange)

        return traced

    def recall(self, answer: Recall, seconds: float) -> None:
        """Add a recall that just ended to the request at hand: a span a stage, and a span a leg under `legs`."""
        from opentelemetry.trace import get_current_span, set_span_in_context

        if not get_current_span().is_recording():
            return
        end = time.time_ns()
        whole = self._tracer.start_span("recall", start_time=end - _nanoseconds(seconds * 1000))
        whole.set_attributes({"recollect.results": len(answer.results), "recollect.tokens": answer.tokens})
        within = set_span_in_context(whole)
        # The trace has lengths only. Stages follow one another, and the last one ended now.
        begin = end - sum(_nanoseconds(stage.milliseconds) for stage in answer.trace.stages)
        for stage in answer.trace.stages:
            length = _nanoseconds(stage.milliseconds)
            span = self._tracer.start_span(stage.name, within, start_time=begin)
            span.set_attribute("recollect.on", stage.on)
            if stage.name == "legs":
                self._add_legs(answer, set_span_in_context(span), begin, length)
            else:
                span.set_attribute("recollect.hits", len(stage.ranking))
            begin += length
            span.end(begin)
        whole.end(end)

    def close(self) -> None:
        """Send what is left."""
        self._provider.shutdown()

    def _add_legs(self, answer: Recall, within: "Context", begin: int, length: int) -> None:
        # Where a store asks its legs one after the other, their times fit into the stage's; otherwise they overlap.
        in_turn = sum(_nanoseconds(leg.milliseconds) for leg in answer.trace.answers) <= length
        for leg in answer.trace.answers:
            end = begin + _nanoseconds(leg.milliseconds)
            span = self._tracer.start_span(leg.leg, within, start_time=begin)
            span.set_attribute("recollect.hits", len(leg.hits))
            if leg.failure is not None:
                span.set_attribute("recollect.left_out", reason_for(leg.failure))
            span.end(end)
            begin = end if in_turn else begin

    def _parent(self, scope: Scope) -> "Context":
        # Only the ids: whatever else a client sends would go on to the collector.
        named = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        return self._propagator.extract({name: named[name] for name in ("traceparent",) if name in named})


def _describe(span: "Span", exchange: Exchange) -> None:
    from opentelemetry.trace import StatusCode

    span.update_name(f"{exchange.method} {exchange.route}")
    attributes: dict[str, AttributeValue] = {
        "http.request.method": exchange.method,
        "http.route": exchange.route,
        "http.response.status_code": exchange.status,
    }
    if (request_id := exchange.state.get("request_id")) is not None:
        attributes["recollect.request"] = request_id
    if exchange.error is not None:
        attributes["error.type"] = name_error(exchange.error)
    span.set_attributes(attributes)
    if exchange.status >= _ERROR_STATUS:
        span.set_status(StatusCode.ERROR)


def _nanoseconds(milliseconds: float) -> int:
    return round(milliseconds * 1_000_000)
