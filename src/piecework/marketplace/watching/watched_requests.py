"""The outermost application: gives each request an id, and reports each reply."""

import time
from collections.abc import Callable, Sequence

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from piecework.marketplace.watching.request_facts import AnsweredRequest, begin

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
        facts = begin(scope, self._new_request_id())
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
