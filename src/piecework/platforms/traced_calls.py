"""Spans of calls: the marketplace's own spans of them belong to the same trace.

The header is added after the signature, so a proxy may change it, as the standard
allows. The span has the id by which the marketplace's access log names the request.
"""

from contextlib import ExitStack
from typing import Any

from piecework.foundation.tracing import spans

_STACK, _SPAN = "piecework_span_stack", "piecework_span"
_CLIENT_FAULT = 400


def trace_calls(events: Any) -> None:  # noqa: ANN401 - botocore's emitter
    """Make a span of each call of a botocore client, if traces are sent.

    Other handlers must be registered before: they may raise.
    """
    if spans.is_sending():
        events.register_last("before-call.mturk", _begin)
        events.register_last("before-send.mturk", _add_header)
        events.register_first("after-call.mturk", _end)
        events.register("after-call-error.mturk", _fail)


def _begin(model: Any, context: dict[str, Any], **_: object) -> None:  # noqa: ANN401 - botocore's
    stack = ExitStack()
    attributes = {"rpc.system": "aws-api", "rpc.service": "MTurk", "rpc.method": str(model.name)}
    context[_SPAN] = stack.enter_context(
        spans.span(f"call {model.name}", attributes, kind="client")
    )
    context[_STACK] = stack


def _add_header(request: Any, **_: object) -> None:  # noqa: ANN401 - botocore's
    header = spans.traceparent()
    if header:
        request.headers["traceparent"] = header


def _end(parsed: dict[str, Any], context: dict[str, Any], **_: object) -> None:
    if _STACK not in context:
        return
    metadata = parsed.get("ResponseMetadata", {})
    status = int(metadata.get("HTTPStatusCode", 200))
    context[_SPAN].note(
        {
            "http.response.status_code": status,
            "aws.request_id": str(metadata.get("RequestId", "")),
            "http.request.resend_count": int(metadata.get("RetryAttempts", 0)),
        }
    )
    if status >= _CLIENT_FAULT:
        error = parsed.get("Error", {})
        context[_SPAN].fail(str(parsed.get("TurkErrorCode") or error.get("Code", "")))
    context.pop(_STACK).close()


def _fail(exception: BaseException, context: dict[str, Any], **_: object) -> None:
    if _STACK in context:
        context[_SPAN].fail(type(exception).__name__)
        context.pop(_STACK).close()
