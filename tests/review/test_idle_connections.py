"""Clients that say nothing, or half of it: a reviewer does not wait for them."""

import contextlib
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from piecework.foundation.server.limits import Limits
from tests.foundation.server.raw import connected
from tests.review import stores
from tests.review.conftest import served

ROOT = Path(__file__).resolve().parents[2]
HALF_A_HEAD = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: "
HALF_A_BODY = b"POST /decide HTTP/1.1\r\nHost: %b\r\nContent-Length: 9\r\n\r\nhalf"
LONG_HEAD = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Long: " + b"x" * 70_000
HURRIED = Limits(first_byte_seconds=0.2, head_seconds=0.2, body_seconds=0.2)
HALF_HEADS = 400
FILES = 256
TESTED_SECONDS = 2.0


@contextmanager
def command_with_few_files(campaign: Path, log: Path) -> Iterator[tuple[str, str]]:
    """`piecework review` as a process of 256 files; its address and ada's token."""
    run_main = "from piecework.cli.main import main; main()"
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    few_files = partial(resource.setrlimit, resource.RLIMIT_NOFILE, (FILES, hard))
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            [sys.executable, "-c", run_main, "review", str(campaign), "--by", "ada"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            preexec_fn=few_files,  # noqa: PLW1509 - no threads there yet
        ) as process,
    ):
        try:
            assert process.stdout is not None
            link = process.stdout.readline().removeprefix("open ").strip()
            url, _, token = link.partition("/enter#")
            yield url, token
        finally:
            process.terminate()


@pytest.mark.full
def test_half_sent_heads_keep_no_reviewer_waiting(tmp_path: Path) -> None:
    """400 of them at a process of 256 files, then more without end.

    The reviewer opens a new connection each time, as a browser that begins.
    """
    with stores.opened(tmp_path, workers=1, items=2) as run:
        campaign = run.campaign.path
    log = tmp_path / "log"
    is_over = threading.Event()
    waits = []
    with command_with_few_files(campaign, log) as (url, token), ExitStack() as stack:

        def flood() -> None:
            while not is_over.is_set():
                with contextlib.suppress(OSError):
                    stack.enter_context(connected(url)).sendall(HALF_A_HEAD)
                is_over.wait(0.002)

        headers = {"Origin": url}
        entered = httpx.post(f"{url}/enter", data={"token": token}, headers=headers)
        headers["Cookie"] = entered.headers["set-cookie"].partition(";")[0]
        for _ in range(HALF_HEADS):
            stack.enter_context(connected(url)).sendall(HALF_A_HEAD)
        flooding = threading.Thread(target=flood)
        flooding.start()
        try:
            ends = time.monotonic() + TESTED_SECONDS
            while time.monotonic() < ends:
                begun = time.monotonic()
                page = httpx.get(url, headers=headers, timeout=60)
                waits.append(time.monotonic() - begun)
                assert "2 answers wait for a person" in page.text
        finally:
            is_over.set()
            flooding.join()
        # Without keys, the command says first that it asks no marketplace.
        lines = [line for line in log.read_text().splitlines() if "WARNING" in line]
    # How long each waits depends on the machine; that each is answered does not.
    print(f"{max(waits):.3f} s at most, of {len(waits)} pages")  # noqa: T201 - measured
    assert 1 <= len(lines) < 15
    assert all("connections are open, which is the limit" in line for line in lines), lines


@pytest.mark.parametrize(
    "request_bytes",
    [b"", HALF_A_HEAD, HALF_A_BODY, LONG_HEAD],
    ids=["silence", "half a head", "half a body", "a head without end"],
)
def test_a_client_that_does_not_go_on_is_let_go(tmp_path: Path, request_bytes: bytes) -> None:
    """The server ends the connection by itself."""
    with (
        stores.opened(tmp_path, workers=1, items=2) as run,
        served(run, limits=HURRIED) as page,
        connected(page.url) as connection,
    ):
        host = urlsplit(page.url).netloc.encode()
        with contextlib.suppress(ConnectionError):
            connection.sendall(request_bytes.replace(b"%b", host))
            while connection.recv(65_536):
                continue
