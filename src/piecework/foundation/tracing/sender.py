"""OpenTelemetry's side of `spans`; only this module imports its libraries.

The provider is a private one, so spans of other libraries, such as Prefect's, are not
sent, and theirs is not changed.
"""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version

from opentelemetry import context as contexts
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

Attributes = Mapping[str, str | int]
_W3C = TraceContextTextMapPropagator()
_HEADER = "traceparent"
_NANOSECONDS = 1_000_000_000


class Sender:
    """Makes spans and sends them in a thread of its own.

    Args:
        service: the name of the program, unless the environment names it.
    """

    def __init__(self, service: str) -> None:
        own_version = version("piecework")
        self._provider = TracerProvider(resource=_resource(service, own_version))
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self._tracer = self._provider.get_tracer("piecework", own_version)
        self._shared: list[Context] = []

    def close(self) -> None:
        """Send what waits, and end; it gives up after OpenTelemetry's own limits."""
        self._provider.shutdown()

    @contextmanager
    def span(
        self, name: str, attributes: Attributes, kind: str, *, is_shared: bool
    ) -> Iterator["UnderWay"]:
        """Make a span of a block, as `spans.span` says."""
        made = self._tracer.start_span(
            name, self._parent(), SpanKind[kind.upper()], attributes=attributes
        )
        within = trace.set_span_in_context(made)
        token = contexts.attach(within)
        if is_shared:
            self._shared.append(within)
        under_way = UnderWay(made)
        try:
            yield under_way
        except BaseException as fault:
            # Its message may hold anything, so only its type is told.
            under_way.fail(type(fault).__name__)
            raise
        finally:
            if is_shared:
                self._shared.remove(within)
            contexts.detach(token)
            made.end()

    def traceparent(self) -> str:
        """Return the W3C header for the present span; "" without a span."""
        carrier: dict[str, str] = {}
        _W3C.inject(carrier)
        return carrier.get(_HEADER, "")

    def record(
        self, name: str, attributes: Attributes, *, seconds: float, parent: str, failed: bool
    ) -> None:
        """Send the span of a request, as `spans.record_request` says."""
        now = time.time_ns()
        made = self._tracer.start_span(
            name,
            _W3C.extract({_HEADER: parent}, Context()) if parent else Context(),
            SpanKind.SERVER,
            attributes=attributes,
            start_time=now - int(seconds * _NANOSECONDS),
        )
        if failed:
            made.set_status(Status(StatusCode.ERROR))
        made.end(now)

    def _parent(self) -> Context | None:
        """Return the context of the span around; in a new thread, a shared one."""
        if trace.get_current_span().get_span_context().is_valid or not self._shared:
            return None
        return self._shared[-1]


class UnderWay:
    """A span that has begun."""

    def __init__(self, made: trace.Span) -> None:
        self._made = made

    def note(self, attributes: Attributes) -> None:
        """Add attributes."""
        self._made.set_attributes(attributes)

    def fail(self, kind: str) -> None:
        """Mark the span as failed, with the kind of the error."""
        self._made.set_attribute("error.type", kind)
        self._made.set_status(Status(StatusCode.ERROR))


def _resource(service: str, own_version: str) -> Resource:
    stated = os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    is_named = "OTEL_SERVICE_NAME" in os.environ or f"{SERVICE_NAME}=" in stated
    named = {} if is_named else {SERVICE_NAME: service}
    return Resource.create({SERVICE_VERSION: own_version, **named})
