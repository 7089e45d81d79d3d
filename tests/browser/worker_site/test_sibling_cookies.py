"""A sibling host of the same domain cannot sign a worker in as somebody else."""

import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from piecework.foundation.server.server import Certificate
from tests.browser.pages import sign_in
from tests.browser.worker_site.test_session_stealing import scene

pytestmark = pytest.mark.browser

NAME = b"__Host-worker_session"
DISGUISES = {"no-break space": b"\xa0", "next line": b"\x85"}
"""What `str.strip` strips and a browser does not."""
ENOUGH = 200
"""More cookies than a browser keeps for a domain: the oldest, ours, is dropped."""


@contextmanager
def sibling(certificate: Certificate, *names: bytes, value: str) -> Iterator[int]:
    """A host that sets cookies for its whole domain; its port."""

    class Sibling(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            cookies = [b"x%d=%d" % (n, n) for n in range(ENOUGH)]
            if self.path == "/session":
                cookies = [name + b"=" + value.encode() for name in names]
            for cookie in cookies:
                line = cookie + b"; Domain=pw.localhost; Path=/; Secure"
                self.send_header("Set-Cookie", line.decode("latin-1"))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Sibling)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.chain, certificate.key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("disguise", DISGUISES.values(), ids=DISGUISES)
def test_a_disguised_cookie_of_a_sibling_host_signs_nobody_in(
    tmp_path: Path, browser: Browser, disguise: bytes
) -> None:
    """The sibling pushes Ann's cookie out, and sets Mallory's under an odd name.

    The browser itself refuses the plain name, and takes the odd one.
    """
    with scene(tmp_path, browser, "https") as set_up:
        sign_in(set_up.page, set_up.links["ann"])
        assert set_up.who() == "ann"
        certificate = Certificate(chain=tmp_path / "chain.pem", key=tmp_path / "key.pem")
        names = (NAME, disguise + NAME)
        with sibling(certificate, *names, value=set_up.session) as port:
            for path in ("/fill", "/session"):
                set_up.page.goto(f"https://evil.pw.localhost:{port}{path}")
        (kept,) = (
            cookie for cookie in set_up.context.cookies() if NAME.decode() in cookie.get("name", "")
        )
        # Only the odd name may have a domain.
        assert kept.get("domain") == ".pw.localhost"
        assert set_up.who() == ""
