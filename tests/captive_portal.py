"""A captive portal before a marketplace: it answers some calls with its own page."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import httpx

_PASSED_ON = ("content-type", "x-amzn-requestid")


@dataclass(slots=True)
class CaptivePortal:
    """What it answers, and to which calls; every other one goes to the marketplace.

    Attributes:
        headers: of its answers.
        intercepted: how many calls it has answered.
        cut: to how many bytes its next answer is cut, for each of these.
    """

    url: str = ""
    operations: tuple[str, ...] = ()
    status: int = 200
    page: bytes = b"<html>We will be back soon."
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "text/html"})
    intercepted: int = 0
    cut: list[int] = field(default_factory=list)


@contextmanager
def captive_portal(marketplace: str) -> Iterator[CaptivePortal]:
    """Open a portal; without a marketplace's URL it answers whatever it is asked."""
    portal = CaptivePortal()
    with ThreadingHTTPServer(("127.0.0.1", 0), _handler(portal, marketplace)) as server:
        portal.url = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield portal
        server.shutdown()
        thread.join()


def _handler(portal: CaptivePortal, marketplace: str) -> Callable[..., BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            operation = self.headers.get("x-amz-target", "").split(".")[-1]
            if not marketplace or operation in portal.operations:
                portal.intercepted += 1
                self._answer(portal.status, portal.page, portal.headers)
                return
            names = [name for name in self.headers if name.lower() != "host"]
            headers = {name: self.headers[name] for name in names}
            reply = httpx.post(marketplace, content=body, headers=headers)
            kept = {name: reply.headers[name] for name in _PASSED_ON}
            self._answer(reply.status_code, reply.content, kept)

        def do_GET(self) -> None:
            self.do_POST()

        def _answer(self, status: int, body: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            if portal.cut:
                body = body[: portal.cut.pop()]
                self.close_connection = True
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    return Handler
