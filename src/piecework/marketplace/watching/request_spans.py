"""Spans of requests: the operation or the template of a route, and the request's id."""

from piecework.marketplace.watching.request_facts import AnsweredRequest
from piecework.tracing import spans

_ASKED_ALWAYS = {"/healthz", "/readyz"}
"""Routes that a supervisor asks every few seconds."""
_BROKEN = 500


def observe_request(answered: AnsweredRequest) -> None:
    """Send the span of a request.

    It belongs to the caller's trace only if the caller is an admitted requester: a
    stranger could otherwise write into any trace, and decide that it is kept.
    """
    if answered.route in _ASKED_ALWAYS:
        return
    facts = answered.facts
    attributes: dict[str, str | int] = {
        "http.request.method": answered.method,
        "http.response.status_code": answered.status,
        "aws.request_id": facts.request_id,
    }
    if answered.route:
        attributes["http.route"] = answered.route
    name = f"{answered.method} {answered.route}".rstrip()
    if answered.is_call and facts.operation:
        name = f"answer {facts.operation}"
        attributes["rpc.method"] = facts.operation
    if facts.error:
        attributes["error.type"] = facts.error
    spans.record_request(
        name,
        attributes,
        seconds=answered.seconds,
        parent=facts.traceparent if facts.requester else "",
        failed=not answered.status or answered.status >= _BROKEN,
    )
