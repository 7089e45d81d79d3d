"""Whether the standard variables of OpenTelemetry ask for traces, and how to send them.

Nothing of OpenTelemetry is imported before they do.
"""

import logging
import os
from importlib.util import find_spec

_LOG = logging.getLogger(__name__)
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_SPOKEN = "http/protobuf"
_LIBRARIES = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")


def is_wanted() -> bool:
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
