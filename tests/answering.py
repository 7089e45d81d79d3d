"""A server that answers as a test says, on the real wire, and keeps the calls."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Answer:
    """What is answered to one call; `document` becomes JSON unless `text` is there."""

    status: int = 200
    document: object = None
    text: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    def body(self) -> bytes:
        """The bytes of it."""
        if self.text is not None:
            return self.text.encode()
        return b"" if self.document is None else json.dumps(self.document).encode()


LOST = Answer(status=0)
"""The call is read whole and its reply never comes."""


@dataclass(frozen=True)
class Asked:
    """One call as it came over the wire."""

    method: str
    path: str
    query: Mapping[str, str]
    body: Any
    headers: Mapping[str, str]


@dataclass
class Calls:
    """Answers in their order, the last one for ever, and keeps the calls.

    Attributes:
        respond: makes the answer of the call instead, if it is there.
    """

    address: str = ""
    respond: Callable[[Asked], Answer] | None = None
    answers: list[Answer] = field(default_factory=list, repr=False)
    asked: list[Asked] = field(default_factory=list, repr=False)

    def answer(self, *answers: Answer) -> None:
        """Say what comes next."""
        self.answers = list(answers)

    def next_answer(self) -> Answer:
        """The answer to the call that came last."""
        if self.respond is not None:
            return self.respond(self.asked[-1])
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def answering(stub: Calls) -> Iterator[None]:
    """Answer on a free port of this machine, which becomes the address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # Head and body leave together, which saves 40 ms a call.

        def handle_any(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            raw = self.rfile.read(length)
            parts = urlsplit(self.path)
            asked = Asked(
                method=self.command,
                path=parts.path,
                query=dict(parse_qsl(parts.query, keep_blank_values=True)),
                body=json.loads(raw) if raw else None,
                headers=dict(self.headers),
            )
            stub.asked.append(asked)
            answer = stub.next_answer()
            if answer is LOST:
                self.close_connection = True
                self.connection.close()
                return
            body = answer.body()
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = do_PATCH = do_DELETE = handle_any  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    stub.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
