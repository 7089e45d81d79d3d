"""Spans: timed pieces of work that form a trace, across processes.

All functions do nothing until `sending` has begun, so callers need not ask. Attributes
are names of campaigns, steps, operations and templates of routes. They name no worker,
and hold no body, query, path with ids or token. Nothing of OpenTelemetry is imported before
its standard variables ask for traces.
"""

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from piecework.foundation.tracing.sender import Sender

_LOG = logging.getLogger(__name__)
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_SPOKEN = "http/protobuf"
_LIBRARIES = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")

Kind = Literal["internal", "client", "server"]
Attributes = Mapping[str, str | int]

_sender: "Sender | None" = None


class Span(Protocol):
    """A piece of work that is under way."""

    def note(self, attributes: Attributes) -> None:
        """Add attributes."""

    def fail(self, kind: str) -> None:
        """Mark the span as failed, with the kind of the error."""


class _NoSpan:
    def note(self, attributes: Attributes) -> None:
        pass

    def fail(self, kind: str) -> None:
        pass


_NO_SPAN = _NoSpan()


@contextmanager
def sending(service: str) -> Iterator[None]:
    """Send traces while a block lasts, if the environment asks for them.

    Args:
        service: the name of the program, unless the environment names it.
    """
    global _sender  # noqa: PLW0603 - as with logging, a process has one
    if _sender is not None or not _is_wanted():
        yield
        return
    # It takes a third of a second to import.
    from piecework.foundation.tracing.sender import Sender  # noqa: PLC0415

    _sender = Sender(service)
    try:
        yield
    finally:
        sender, _sender = _sender, None
        sender.close()


def is_sending() -> bool:
    """Return whether spans are sent."""
    return _sender is not None


@contextmanager
def span(
    name: str,
    attributes: Attributes | None = None,
    *,
    kind: Kind = "internal",
    is_shared: bool = False,
) -> Iterator[Span]:
    """Time a block as part of the span around it; an exception marks it as failed.

    Args:
        name: one of a few names, without ids.
        attributes: what is known at the beginning.
        kind: whether the block calls another program, or answers one.
        is_shared: spans of threads that the block starts belong to it, too.
    """
    if _sender is None:
        yield _NO_SPAN
        return
    with _sender.span(name, attributes or {}, kind, is_shared=is_shared) as under_way:
        yield under_way


def traceparent() -> str:
    """Return the W3C header for the present span; "" without a span."""
    return "" if _sender is None else _sender.traceparent()


def record_request(
    name: str, attributes: Attributes, *, seconds: float, parent: str, failed: bool
) -> None:
    """Send the span of a request that was just answered.

    Args:
        name: its operation, or its method and the template of its route.
        attributes: what is known of it.
        seconds: how long it took.
        parent: the caller's `traceparent` header, if it is to be believed; else "".
        failed: whether this program failed.
    """
    if _sender is not None:
        _sender.record(name, attributes, seconds=seconds, parent=parent, failed=failed)


def _is_wanted() -> bool:
    """Return whether traces are sent.

    The variables may be meant for other programs, so what piecework cannot do is a
    warning: no work stops because of it.
    """
    if not _is_asked():
        return False
    protocol = _first_set(_PROTOCOLS) or _SPOKEN
    if protocol != _SPOKEN:
        _LOG.warning("no traces are sent: the protocol is %s, not %s", protocol, _SPOKEN)
        return False
    if not all(map(_is_installed, _LIBRARIES)):
        _LOG.warning(
            "no traces are sent: OTEL_ variables ask for them, and the extra is not "
            "installed (pip install 'piecework[otel]')"
        )
        return False
    return True


def _is_asked() -> bool:
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    exporters = os.environ.get("OTEL_TRACES_EXPORTER", "")
    if exporters:
        return "otlp" in {name.strip() for name in exporters.split(",")}
    return bool(_first_set(_ENDPOINTS))


def _first_set(names: tuple[str, ...]) -> str:
    return next(filter(None, map(os.environ.get, names)), None) or ""


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # a package above it is missing
        return False
