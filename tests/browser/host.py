"""A small host that stands for the marketplace: shows a page, remembers what is sent.

The page is under `/page`, opened with the query string that MTurk adds to a frame;
`/around` is a page of a platform with that frame in it.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlencode, urlsplit

PICTURE = """<svg xmlns="http://www.w3.org/2000/svg" width="640" height="420">
<rect width="640" height="420" fill="#bcd7ee"/><rect y="290" width="640" height="130"
fill="#7a9a5b"/><circle cx="540" cy="80" r="42" fill="#f3c64b"/>
<rect x="150" y="170" width="210" height="160" fill="#b5524a"/>
<path d="M130 175L255 80L380 175z" fill="#6b3b35"/>
<rect x="235" y="240" width="50" height="90" fill="#3d2a26"/>
<text x="432" y="270" font-size="34" font-family="sans-serif" fill="#222">POST</text>
<rect x="420" y="230" width="120" height="56" fill="none" stroke="#222"/>
</svg>"""


@dataclass(slots=True)
class Host:
    """What the host serves, and what reached it.

    Attributes:
        page: the HTML document under `/page`.
        has_pictures: whether `/pictures/...` answers with a picture, or with 404.
        pictures: those with a content of their own, by name.
        picture: what every other one shows.
        posted: for each POST its path and its fields, in order.
        asked: the path of every GET.
    """

    url: str = ""
    page: str = ""
    has_pictures: bool = True
    pictures: dict[str, str] = field(default_factory=dict)
    picture: str = PICTURE
    posted: list[tuple[str, list[tuple[str, str]]]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def address(self, assignment_id: str = "ASSIGNMENT1", **more: str) -> str:
        """The page's address as a platform opens it for an assignment."""
        query = {
            "assignmentId": assignment_id,
            "hitId": "HIT1",
            "workerId": "WORKER1",
            "turkSubmitTo": self.url,
        }
        return f"{self.url}/page?{urlencode(query | more)}"

    def preview_address(self) -> str:
        """The page's address as a platform opens it before a worker accepts."""
        query = {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "HIT1"}
        return f"{self.url}/page?{urlencode(query)}"

    def reply(self, path: str) -> tuple[int, str, str]:
        """Status, kind and text for a GET."""
        if path == "/page":
            return 200, "text/html; charset=utf-8", self.page
        if path == "/around":
            source = escape(self.address())
            style = "width: 100%; height: 1200px; border: 0"
            frame = f'<iframe src="{source}" style="{style}"></iframe>'
            return 200, "text/html; charset=utf-8", frame
        if path.startswith("/pictures/") and self.has_pictures:
            name = path.removeprefix("/pictures/")
            return 200, "image/svg+xml", self.pictures.get(name, self.picture)
        return 404, "text/plain", "nothing here"


@contextmanager
def serving() -> Iterator[Host]:
    """A host on a free port of this machine, until the block ends."""
    host = Host()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            host.asked.append(path)
            self.answer(*host.reply(path))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            fields = parse_qsl(body, keep_blank_values=True, strict_parsing=True)
            host.posted.append((self.path, fields))
            self.answer(200, "text/html; charset=utf-8", "<p>Thank you</p>")

        def answer(self, status: int, kind: str, text: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            """Say nothing; what matters is in `host`."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    host.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield host
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
