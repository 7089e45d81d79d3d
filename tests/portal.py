"""Something before a marketplace that answers some calls in its place."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import httpx

_PASSED_ON = ("content-type", "x-amzn-requestid")


@dataclass(slots=True)
class Portal:
    """What it says, and to which calls; every other one goes to the marketplace."""

    url: str = ""
    operations: tuple[str, ...] = ()
    status: int = 200
    page: bytes = b"<html>We will be back soon."
    kept: int = 0


@contextmanager
def portal_before(marketplace: str) -> Iterator[Portal]:
    """Open a portal; without a marketplace's URL it answers whatever it is asked."""
    portal = Portal()
    with ThreadingHTTPServer(("127.0.0.1", 0), _handler(portal, marketplace)) as server:
        portal.url = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield portal
        server.shutdown()
        thread.join()


def _handler(portal: Portal, marketplace: str) -> Callable[..., BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            operation = self.headers.get("x-amz-target", "").split(".")[-1]
            if not marketplace or operation in portal.operations:
                portal.kept += 1
                self._say(portal.status, portal.page, {"content-type": "text/html"})
                return
            names = [name for name in self.headers if name.lower() != "host"]
            headers = {name: self.headers[name] for name in names}
            reply = httpx.post(marketplace, content=body, headers=headers)
            said = {name: reply.headers[name] for name in _PASSED_ON}
            self._say(reply.status_code, reply.content, said)

        def do_GET(self) -> None:
            self.do_POST()

        def _say(self, status: int, body: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_given: object) -> None:
            """Say nothing."""

    return Handler
