"""The outermost application: gives each request an id, and reports each reply.

What is known of a request is collected in its scope while it is answered. Nothing there
names a worker, and nothing is taken from a path or a query: both contain ids and tokens. A
span has the operation or the template of a route, and the request's id.
"""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from piecework.foundation.tracing import spans

_SCOPE_KEY = "piecework.request_facts"
_ACCESS_KEY = re.compile(r"[A-Za-z0-9_.-]{1,128}")


@dataclass(slots=True)
class RequestFacts:
    """What the parts that answer a request have learned about it.

    Attributes:
        request_id: the id in the reply's `x-request-id`; a call's reply has it in
            `x-amzn-RequestId` too.
        operation: a call's operation, once it is known to exist; else "".
        requester: the access key of an admitted caller, which is not secret; else "".
        error: the code of a refusal; else "".
        traceparent: the W3C header of the caller's span, unchecked; "" without one.
        is_cut: whether a rehearsal cut the connection before the reply.
    """

    request_id: str
    operation: str = ""
    requester: str = ""
    error: str = ""
    traceparent: str = ""
    is_cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredRequest:
    """A request after its reply was sent.

    Attributes:
        facts: what was learned about it.
        method: its HTTP method.
        route: the template of its route, without ids; "" if no route has the path.
        is_call: whether it is a call of the requester API.
        status: the reply's status; 0 if the connection ended before a reply.
        size: the bytes of the reply's body.
        seconds: from the request's head to the reply's end.
    """

    facts: RequestFacts
    method: str
    route: str
    is_call: bool
    status: int
    size: int
    seconds: float


def begin_facts(scope: Scope, request_id: str) -> RequestFacts:
    """Begin to collect what is known of a request."""
    headers = scope.get("headers", ())
    sent = (value for name, value in headers if name == b"traceparent")
    facts = RequestFacts(request_id, traceparent=next(sent, b"").decode("latin-1"))
    scope[_SCOPE_KEY] = facts
    return facts


def facts_of(scope: Scope) -> RequestFacts:
    """Return what is known of a request so far."""
    facts: RequestFacts = scope[_SCOPE_KEY]
    return facts


def shown_key(access_key: str) -> str:
    """Return an access key, or "?" if it has signs that no issued key has."""
    return access_key if _ACCESS_KEY.fullmatch(access_key) else "?"


REQUEST_ID_HEADER = b"x-request-id"

Observer = Callable[[AnsweredRequest], None]


class WatchedRequests:
    """An application whose requests have ids and are reported.

    A request is reported just before the last bytes of its reply are sent. So a client
    that has its reply finds it in the metrics.

    Args:
        app: the application that answers.
        new_request_id: makes an id.
        observers: learn of each request; they must not raise, and must not wait.
    """

    def __init__(
        self, app: ASGIApp, new_request_id: Callable[[], str], observers: Sequence[Observer]
    ) -> None:
        self._app = app
        self._new_request_id = new_request_id
        self._observers = tuple(observers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request, and report it."""
        facts = begin_facts(scope, self._new_request_id())
        began = time.perf_counter()
        status = size = 0
        is_reported = False

        def report() -> None:
            nonlocal is_reported
            is_reported = True
            route = getattr(scope.get("route"), "path", "")
            answered = AnsweredRequest(
                facts=facts,
                method=scope["method"],
                route=route,
                is_call=route == "/" and scope["method"] == "POST",
                status=0 if facts.is_cut else status,
                size=0 if scope["method"] == "HEAD" else size,
                seconds=time.perf_counter() - began,
            )
            for observe in self._observers:
                observe(answered)

        async def send_watched(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [
                    *message.get("headers", ()),
                    (REQUEST_ID_HEADER, facts.request_id.encode()),
                ]
            else:
                size += len(message.get("body", b""))
                if not message.get("more_body", False):
                    report()
            await send(message)

        try:
            await self._app(scope, receive, send_watched)
        finally:
            if not is_reported:
                report()


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
