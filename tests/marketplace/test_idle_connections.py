"""Clients that connect and say nothing, or half of it: others do not wait for them."""

import contextlib
import logging
import re
import resource
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from piecework.foundation.server.limits import Limits, most_connections, say_once_a_second
from piecework.marketplace.http.server import Marketplace, Running, serve
from piecework.marketplace.requester.wire import TARGET_PREFIX
from tests.marketplace.certificates import self_signed
from tests.marketplace.market import START, Market, post

HALF_A_HEAD = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: "
HALF_A_BODY = b"POST / HTTP/1.1\r\nHost: %b\r\nContent-Length: 9\r\n\r\nhalf"
REFUSED_AT_ONCE = b"PUT /rehearsal/clock HTTP/1.1\r\nOrigin: x"
HURRIED = Limits(
    first_byte_seconds=0.2, head_seconds=0.2, body_seconds=0.2, reply_seconds=0.4, idle_seconds=0.2
)
SCOPE = "20260105/us-east-1/mturk-requester/x"
BALANCE = {
    "X-Amz-Target": f"{TARGET_PREFIX}GetAccountBalance",
    "Authorization": f"AWS4-HMAC-SHA256 Credential=HONEST/{SCOPE}",
}
PATIENT = Limits(
    first_byte_seconds=2.0, head_seconds=2.0, body_seconds=2.0, reply_seconds=2.0, idle_seconds=2.0
)
MOST_SECONDS = 60.0
"""What ends a test that waits in vain; no promise of anybody's."""


def connected(url: str) -> socket.socket:
    """A connection to where a marketplace is."""
    parts = urlsplit(url)
    return socket.create_connection((parts.hostname, parts.port), MOST_SECONDS)


def is_let_go(connection: socket.socket) -> bool:
    """Whether the other side ends it, in a while."""
    with contextlib.suppress(ConnectionError):
        while connection.recv(65_536):
            continue
    return True


@pytest.fixture
def hurried(tmp_path: Path) -> Iterator[Running]:
    """A marketplace with little patience."""
    with serve(
        Marketplace(tmp_path / "m.db", rehearsal=True, start=START, limits=HURRIED)
    ) as running:
        yield running


@pytest.mark.parametrize(
    "sent_bytes",
    [
        b"",
        b"P",
        HALF_A_HEAD,
        HALF_A_BODY,
        b"GET /worker/hits HTTP/1.1\r\nHost: %b\r\n\r\n",
        b"GET /worker/hits HTTP/1.1\r\nHost: %b\r\n\r\n" + HALF_A_HEAD,
        # Refused before its body has ended.
        HALF_A_BODY.replace(b"POST / HTTP/1.1", REFUSED_AT_ONCE),
    ],
)
def test_who_does_not_go_on_is_let_go(hurried: Running, sent_bytes: bytes) -> None:
    """Before the first byte, in a head, in a body, and between two requests."""
    host = urlsplit(hurried.endpoint_url).netloc.encode()
    with connected(hurried.endpoint_url) as connection:
        connection.sendall(sent_bytes.replace(b"%b", host))
        assert is_let_go(connection)


def test_who_sends_a_byte_now_and_then_is_let_go(hurried: Running) -> None:
    """A deadline is for the whole head: it does not begin anew with each byte."""
    ends = time.monotonic() + MOST_SECONDS
    with connected(hurried.endpoint_url) as connection, contextlib.suppress(ConnectionError):
        while True:
            connection.sendall(b"x")
            assert time.monotonic() < ends, "each byte begins a new deadline"
            time.sleep(0.02)


def test_who_does_not_take_a_reply_is_let_go(tmp_path: Path) -> None:
    """A picture of 20 MB that is asked for and not read; it ends unfinished."""
    folder = tmp_path / "pictures"
    folder.mkdir()
    (folder / "large.png").write_bytes(b"x" * 20_000_000)
    received = 0
    with (
        serve(
            Marketplace(tmp_path / "m.db", rehearsal=True, pictures=folder, limits=HURRIED)
        ) as running,
        connected(running.frames_url) as connection,
    ):
        host = urlsplit(running.frames_url).netloc
        request = f"GET /pictures/large.png HTTP/1.1\r\nHost: {host}\r\n\r\n"
        connection.sendall(request.encode())
        connection.recv(1, socket.MSG_PEEK)  # the reply has begun, and now waits
        time.sleep(2 * HURRIED.reply_seconds)
        # Who is answered later finds the server past what was due before.
        httpx.get(f"{running.endpoint_url}/worker/hits", timeout=MOST_SECONDS)
        with contextlib.suppress(ConnectionError):
            while piece := connection.recv(1_000_000):
                received += len(piece)
    assert received < 20_000_000


def test_who_takes_a_reply_in_sips_is_let_go(tmp_path: Path) -> None:
    """Each sip comes in time; all of them together do not."""
    folder = tmp_path / "pictures"
    folder.mkdir()
    (folder / "large.png").write_bytes(b"x" * 60_000_000)
    limits = Limits(whole_reply_seconds=0.5)
    received = 0
    with (
        serve(
            Marketplace(tmp_path / "m.db", rehearsal=True, pictures=folder, limits=limits)
        ) as running,
        connected(running.frames_url) as connection,
    ):
        host = urlsplit(running.frames_url).netloc
        request = f"GET /pictures/large.png HTTP/1.1\r\nHost: {host}\r\n\r\n"
        connection.sendall(request.encode())
        with contextlib.suppress(ConnectionError):
            while piece := connection.recv(500_000):
                received += len(piece)
                time.sleep(0.02)  # how slow the client is
    assert received < 60_000_000


def test_half_a_greeting_of_tls_is_let_go(tmp_path: Path) -> None:
    """What comes before HTTP is part of the first byte's time."""
    now = datetime.now(UTC)  # noqa: TID251 - of certificates
    with (
        serve(
            Marketplace(
                tmp_path / "m.db",
                rehearsal=True,
                certificate=self_signed(tmp_path, now=now),
                limits=HURRIED,
            )
        ) as running,
        connected(running.endpoint_url) as silent,
        connected(running.endpoint_url) as half,
    ):
        half.sendall(b"\x16\x03\x01\x02\x00")
        assert is_let_go(silent)
        assert is_let_go(half)


def test_who_goes_on_is_served_longer_than_patience_lasts(tmp_path: Path) -> None:
    """Requests one after another, each in time, on one connection."""
    with (
        serve(Marketplace(tmp_path / "m.db", rehearsal=True, limits=PATIENT)) as running,
        closing(Market(running.endpoint_url, running.frames_url)) as market,
    ):
        client = market.requester()
        made = post(client)
        begun = time.monotonic()
        while time.monotonic() - begun < 1.5 * PATIENT.idle_seconds:
            time.sleep(PATIENT.idle_seconds / 20)
            assert client.get_hit(HITId=made["HITId"])["HIT"]["HITId"] == made["HITId"]


def test_for_one_connection_more_the_longest_silent_is_let_go(tmp_path: Path) -> None:
    """And not the one that comes; who is being served stays."""
    # Nobody is let go for being late.
    limits = Limits(connections=4, first_byte_seconds=3600, idle_seconds=3600)
    with (
        serve(
            Marketplace(tmp_path / "m.db", rehearsal=True, start=START, limits=limits)
        ) as running,
        ExitStack() as stack,
        closing(Market(running.endpoint_url, running.frames_url)) as market,
    ):
        market.set_faults({"kind": "slow", "seconds": 1.0})
        client = market.requester()
        slow = threading.Thread(target=client.get_account_balance)
        slow.start()
        while not market.http.get("/rehearsal/calls").json():
            time.sleep(0.01)  # it is not under way yet
        silent = [stack.enter_context(connected(running.endpoint_url)) for _ in range(12)]
        for connection in silent[:8]:
            assert is_let_go(connection)
        hits = f"{running.endpoint_url}/worker/hits"
        assert httpx.get(hits, timeout=MOST_SECONDS).status_code == 401
        slow.join(MOST_SECONDS)
        assert not slow.is_alive()


@contextmanager
def with_few_files(database: Path, log: Path) -> Iterator[str]:
    """A marketplace in a process that may have 256 files; its address."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    command = [sys.executable, "-m", "piecework.marketplace", "--rehearsal"]
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            [*command, "--database", str(database)],
            stdout=subprocess.PIPE,
            stderr=errors,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard)),  # noqa: PLW1509 - no threads there yet
        ) as child,
    ):
        try:
            assert child.stdout is not None
            line = child.stdout.readline().decode()
            (site,) = re.findall(r"marketplace at (\S+)", line)
            yield site
        finally:
            child.terminate()


@pytest.mark.full
def test_more_half_heads_than_files_keep_nobody_out(tmp_path: Path) -> None:
    """A process with 256 files and 400 half heads, sent again and again.

    Without a bound it had none left, answered nobody, and wrote four thousand
    tracebacks a second.
    """
    log = tmp_path / "log"
    is_over = threading.Event()
    waits = []
    began = time.monotonic()
    with with_few_files(tmp_path / "m.db", log) as site, ExitStack() as stack:

        def flood() -> None:
            while not is_over.is_set():
                with contextlib.suppress(OSError):
                    half = stack.enter_context(connected(site))
                    half.sendall(HALF_A_HEAD)
                    time.sleep(0.002)

        flooding = threading.Thread(target=flood)
        for _ in range(400):
            stack.enter_context(connected(site)).sendall(HALF_A_HEAD)
        flooding.start()
        ends = time.monotonic() + 1.0
        while time.monotonic() < ends:
            begun = time.monotonic()
            # One more connection each, as a program that has just begun.
            reply = httpx.post(site, content=b"{}", headers=BALANCE, timeout=MOST_SECONDS)
            waits.append(time.monotonic() - begun)
            assert reply.json()["AvailableBalance"] == "10000.00"
        is_over.set()
        flooding.join()
    # How long each waits depends on the machine; that each is answered does not.
    print(f"{max(waits):.3f} s at most, of {len(waits)} calls")  # noqa: T201 - measured
    warned, *notices = log.read_text().splitlines()
    assert warned.startswith("WARNING: site and frames share")
    # A line a second, and those of the first and the last moment.
    assert 1 <= len(notices) <= time.monotonic() - began + 2
    assert all("connections are open, which is the limit" in line for line in notices)


def test_the_limit_of_files_bounds_connections() -> None:
    """Some are left for the database; the proxy needs three for two connections."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    alone, behind = (most_connections(with_proxy=proxy) for proxy in (False, True))
    assert behind <= alone < files


def test_the_same_thing_is_said_once_a_second(caplog: pytest.LogCaptureFixture) -> None:
    """Also where asyncio has put the socket into its message; another thing is said."""
    say_once_a_second("tests.loud")
    loud = logging.getLogger("tests.loud")
    for number in range(50):
        loud.warning(f"Fatal error on transport <fd={number} at 0x7f{number:04x}>")
    loud.warning("Another thing")
    assert [record.msg for record in caplog.records] == [
        "Fatal error on transport <fd=0 at 0x7f0000>",
        "Another thing",
    ]
