"""Programs that cannot be changed: they ask Amazon's hosts, and are answered here."""

import asyncio
import json
import logging
import os
import socket
import ssl
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from piecework.foundation.server.server import Certificate
from piecework.foundation.server.stand_in import authority, relay
from piecework.foundation.server.stand_in.relay import (
    LARGEST_HEAD_BYTES,
    RunningStandIn,
    connect_target,
)
from piecework.marketplace.http.hosts import AMAZON_HOSTS
from piecework.marketplace.http.server import Marketplace, serve
from piecework.marketplace.requester.signature import machine_time
from piecework.marketplace.state import accounts
from tests.marketplace.certificates import issued, self_signed
from tests.marketplace.live_market import give, opened
from tests.marketplace.market import QUESTION
from tests.marketplace.own_event_loop import run_in_thread

PRODUCTION, SANDBOX = AMAZON_HOSTS

# What a program of ten years ago looks like: no endpoint_url, no thought of us.
OLD_PROGRAM = """
import json, sys
import boto3

client = boto3.client("mturk", region_name="us-east-1")
made = client.create_hit(
    Title="Describe a picture", Description="Say what it shows.", Reward="0.55",
    AssignmentDurationInSeconds=600, LifetimeInSeconds=3600, MaxAssignments=3,
    Question=sys.stdin.read(),
)["HIT"]
read = client.get_hit(HITId=made["HITId"])["HIT"]
print(json.dumps([client.meta.endpoint_url, made["HITId"], read["Title"]]))
"""
OLD_SANDBOX_PROGRAM = """
import json
import boto3

client = boto3.client(
    "mturk", region_name="us-east-1",
    endpoint_url="https://mturk-requester-sandbox.us-east-1.amazonaws.com",
)
print(json.dumps(client.get_account_balance()["AvailableBalance"]))
"""


@dataclass(frozen=True)
class Standing:
    """A marketplace that stands in, and the key of its requester."""

    database: Path
    doors: RunningStandIn
    key: accounts.Key


@contextmanager
def aws_proxy(folder: Path, *, rehearsal: bool = False) -> Iterator[Standing]:
    """The marketplace as `piecework market serve --as-aws` starts it."""
    database = folder / "market.db"
    key = accounts.Key(access_key="anything", secret="anything")  # noqa: S106 - any will do
    if not rehearsal:
        key = give(database)
    aws_proxy = authority.establish(folder / "market-aws", AMAZON_HOSTS, now=machine_time())
    with serve(Marketplace(database, rehearsal=rehearsal, aws_proxy=aws_proxy)) as running:
        assert running.aws_proxy is not None
        yield Standing(database, running.aws_proxy, key)


@pytest.fixture
def standing(tmp_path: Path) -> Iterator[Standing]:
    """A live one."""
    with aws_proxy(tmp_path) as standing:
        yield standing


def run(program: str, standing: Standing, **changed: str) -> "subprocess.Popen[str]":
    """An unchanged program in a process whose surroundings are the pasted lines."""
    surroundings = {
        "PATH": os.environ["PATH"],
        "HOME": str(standing.database.parent),
        "AWS_ACCESS_KEY_ID": standing.key.access_key,
        "AWS_SECRET_ACCESS_KEY": standing.key.secret,
        "AWS_MAX_ATTEMPTS": "1",
        **standing.doors.environment(),
        **changed,
    }
    return subprocess.Popen(
        [sys.executable, "-c", program],
        env={name: value for name, value in surroundings.items() if value},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("rehearsal", [False, True], ids=["live", "rehearsal"])
def test_a_program_with_amazons_address_built_in_posts_its_hit_here(
    tmp_path: Path, *, rehearsal: bool
) -> None:
    """Plain boto3, no endpoint_url, only the printed lines: made and read, here."""
    with aws_proxy(tmp_path, rehearsal=rehearsal) as standing:
        out, err = run(OLD_PROGRAM, standing).communicate(QUESTION, timeout=240)
        assert out, err
        endpoint, hit_id, title = json.loads(out)
        assert endpoint == f"https://{PRODUCTION}"
        assert title == "Describe a picture"
    if not rehearsal:
        with opened(standing.database) as backend, backend.transaction() as transaction:
            (row,) = transaction.all("SELECT hit_id, max_assignments FROM hits")
            assert tuple(row) == (hit_id, 3)


def test_the_sandboxs_address_leads_here_too(standing: Standing) -> None:
    """Both hosts are this marketplace, with the same account."""
    out, err = run(OLD_SANDBOX_PROGRAM, standing).communicate(timeout=240)
    assert json.loads(out or "null") == "10.00", err


def test_a_program_is_not_answered_unless_it_signs(standing: Standing) -> None:
    """The proxy opens a way, not an account."""
    process = run(OLD_SANDBOX_PROGRAM, standing, AWS_SECRET_ACCESS_KEY="wrong")  # noqa: S106 - a wrong one
    _, err = process.communicate(timeout=240)
    assert process.returncode == 1
    assert "InvalidSignatureException" in err


def test_without_the_authority_a_program_refuses_the_stand_in(standing: Standing) -> None:
    """Nobody is fooled who was not told; that is what TLS is for."""
    untold = dict.fromkeys(
        [name for name, value in standing.doors.environment().items() if value.endswith(".pem")], ""
    )
    process = run(OLD_SANDBOX_PROGRAM, standing, **untold)
    _, err = process.communicate(timeout=240)
    assert process.returncode == 1
    assert "SSL" in err


def exchange(standing: Standing, sent: bytes) -> bytes:
    """What the proxy answers to these bytes, until it closes."""
    port = urlsplit(standing.doors.proxy_url).port
    received = b""
    with socket.create_connection(("127.0.0.1", port or 0), timeout=20) as connection:
        connection.sendall(sent)
        while piece := connection.recv(65536):
            received += piece
    return received


@pytest.mark.parametrize(
    "first_line",
    [
        "CONNECT example.org:443 HTTP/1.1",
        "CONNECT mechanicalturk.amazonaws.com:443 HTTP/1.1",
        f"CONNECT {PRODUCTION}.example.org:443 HTTP/1.1",
        f"CONNECT x.{PRODUCTION}:443 HTTP/1.1",
        f"CONNECT {PRODUCTION}:80 HTTP/1.1",
        f"CONNECT {PRODUCTION}:22 HTTP/1.1",
        f"CONNECT {PRODUCTION} HTTP/1.1",
        f"CONNECT example.org:443@{PRODUCTION}:443 HTTP/1.1",
        "CONNECT 127.0.0.1:443 HTTP/1.1",
        "CONNECT 169.254.169.254:443 HTTP/1.1",
        f"GET http://{PRODUCTION}/ HTTP/1.1",
        f"POST https://{PRODUCTION}/ HTTP/1.1",
        "GET / HTTP/1.1",
        "nonsense",
    ],
)
def test_everything_else_is_refused_with_a_line_in_the_log(
    standing: Standing, caplog: pytest.LogCaptureFixture, first_line: str
) -> None:
    """403 with a sentence; not looked up, not reached, and somebody can read of it."""
    with caplog.at_level(logging.WARNING, "piecework.foundation.server.stand_in.relay"):
        reply = exchange(standing, f"{first_line}\r\nHost: x\r\n\r\n".encode())
    assert reply.startswith(b"HTTP/1.1 403 Forbidden\r\n")
    assert b"connects only to" in reply
    assert any(first_line in record.getMessage() for record in caplog.records)


def test_a_log_line_stays_one_line(standing: Standing, caplog: pytest.LogCaptureFixture) -> None:
    """Whatever a program sends, it cannot write lines of its own into the log."""
    with caplog.at_level(logging.WARNING, "piecework.foundation.server.stand_in.relay"):
        exchange(standing, b"CONNECT a\nproxy refused\x1b[2J\xff:443 x\r\n\r\n")
    (record,) = caplog.records
    assert record.getMessage().isprintable()
    assert record.getMessage().isascii()


def test_what_is_no_request_is_dropped(standing: Standing) -> None:
    """Nothing is answered, and the proxy goes on."""
    port = urlsplit(standing.doors.proxy_url).port or 0
    too_long = b"x" * (LARGEST_HEAD_BYTES + 1)
    for sent in (b"", b"CONNECT", too_long, b"\x16\x03\x01\x02\x00"):
        with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
            with suppress(ConnectionResetError):  # closed with bytes unread is a reset
                assert connection.recv(100) == b""
    out, err = run(OLD_SANDBOX_PROGRAM, standing).communicate(timeout=240)
    assert json.loads(out or "null") == "10.00", err


@pytest.mark.parametrize(
    ("target", "host"),
    [
        (f"{PRODUCTION}:443", PRODUCTION),
        (f"{SANDBOX.upper()}:443", SANDBOX),
        (f"{PRODUCTION}.:443", PRODUCTION),
        (f"{PRODUCTION}:0443", None),
        (f"{PRODUCTION}..:443", None),
    ],
)
def test_a_host_is_the_same_however_it_is_written(target: str, host: str | None) -> None:
    """Case and the root's dot do not matter; nothing else is forgiven."""
    assert connect_target(f"CONNECT {target} HTTP/1.1\r\n\r\n".encode(), AMAZON_HOSTS) == host


def test_behind_the_proxy_is_the_requester_api_and_nothing_else(standing: Standing) -> None:
    """No worker's page, and no control of a rehearsal, under Amazon's name."""
    context = ssl.create_default_context(cafile=standing.doors.authority)
    with httpx.Client(proxy=standing.doors.proxy_url, verify=context) as http:
        for path in ("/worker/hits", "/rehearsal/books", "/mturk/externalSubmit"):
            assert http.get(f"https://{PRODUCTION}{path}").status_code == 404
        reply = http.post(f"https://{PRODUCTION}/")
        assert reply.json()["__type"] == "UnknownOperationException"


def test_the_lines_can_be_pasted_into_a_shell(tmp_path: Path) -> None:
    """Each is an export; a folder with a space in its name is no trouble."""
    folder = tmp_path / "my own market"
    folder.mkdir()
    with aws_proxy(folder) as standing:
        script = "\n".join([*standing.doors.lines(), 'printf %s "$AWS_CA_BUNDLE"'])
        shown = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
        assert shown.stdout == str(folder / "market-aws" / "authority.pem")


def test_the_keys_are_their_owners_alone(tmp_path: Path) -> None:
    """The folder and everything in it, from the first moment."""
    authority.establish(tmp_path / "aws", AMAZON_HOSTS, now=machine_time())
    assert stat.S_IMODE((tmp_path / "aws").stat().st_mode) == 0o700
    paths = {path.name: path for path in (tmp_path / "aws").iterdir()}
    assert set(paths) == {"authority.pem", "authority.key", "hosts.pem"}
    for path in paths.values():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_authority_stays_and_its_certificates_are_made_anew(tmp_path: Path) -> None:
    """Programs are told of it once; a lost, foreign or ageing one is replaced."""
    now = machine_time()

    def established(*, days: int = 0) -> tuple[bytes, bytes]:
        files = authority.establish(tmp_path, AMAZON_HOSTS, now=now + timedelta(days=days))
        return files.authority.read_bytes(), files.certificate.read_bytes()

    first, again = established(), established()
    assert first[0] == again[0]
    assert first[1] != again[1]
    # Ten years less the 400 days that a certificate of the hosts must still have.
    assert established(days=3650 - 401)[0] == first[0]
    assert established(days=3650 - 399)[0] != first[0]
    before = established()[0]
    for bad in (b"", b"no key"):
        (tmp_path / "authority.key").write_bytes(bad)
        after = established()[0]
        assert after != before
        before = after


def handshake(shown: Certificate | Path, trusted: Path, host: str) -> None:
    """A TLS handshake in memory.

    Raises:
        ssl.SSLError: the client does not believe it.
    """
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if isinstance(shown, Certificate):
        server.load_cert_chain(shown.chain, shown.key)
    else:
        server.load_cert_chain(shown)
    client = ssl.create_default_context(cafile=trusted)
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    here = client.wrap_bio(down, up, server_hostname=host)
    there = server.wrap_bio(up, down, server_side=True)
    for _ in range(3):
        for side in (here, there):
            try:
                side.do_handshake()
            except ssl.SSLWantReadError:
                continue
    assert here.version()


def test_a_stolen_authority_speaks_for_no_other_host(tmp_path: Path) -> None:
    """Its own certificate says for whom it may; a client holds it to that."""
    now = machine_time()
    files = authority.establish(tmp_path / "aws", AMAZON_HOSTS, now=now)
    for host in AMAZON_HOSTS:
        handshake(files.certificate, files.authority, host)
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(files.certificate, files.authority, "example.org")
    forged = issued(
        tmp_path / "forged",
        "example.org",
        authority=files.authority,
        authority_key=tmp_path / "aws" / "authority.key",
        now=now,
    )
    with pytest.raises(ssl.SSLCertVerificationError, match="permitted subtree"):
        handshake(forged, files.authority, "example.org")
    for name in (f"below.{AMAZON_HOSTS[0]}", "127.0.0.1", "::1"):
        forged = issued(
            tmp_path / "forged",
            name,
            authority=files.authority,
            authority_key=tmp_path / "aws" / "authority.key",
            now=now,
        )
        with pytest.raises(ssl.SSLCertVerificationError, match="excluded subtree"):
            handshake(forged, files.authority, name)


def test_an_authority_that_could_speak_for_more_is_founded_anew(tmp_path: Path) -> None:
    """One of an earlier day permits names below its own, and says nothing of IPs."""
    now, folder = machine_time(), tmp_path / "aws"
    files = authority.establish(folder, AMAZON_HOSTS, now=now)
    kept = files.authority.read_bytes()
    assert authority.establish(folder, AMAZON_HOSTS, now=now).authority.read_bytes() == kept
    key = serialization.load_pem_private_key((folder / "authority.key").read_bytes(), None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    certificate = x509.load_pem_x509_certificate(kept)
    builder = x509.CertificateBuilder(
        certificate.issuer,
        certificate.subject,
        key.public_key(),
        certificate.serial_number,
        certificate.not_valid_before_utc,
        certificate.not_valid_after_utc,
    ).add_extension(
        x509.NameConstraints([x509.DNSName(host) for host in AMAZON_HOSTS], None), critical=True
    )
    before = builder.sign(key, hashes.SHA256())
    files.authority.write_bytes(before.public_bytes(serialization.Encoding.PEM))
    fresh = authority.establish(folder, AMAZON_HOSTS, now=now).authority.read_bytes()
    assert fresh not in (kept, before.public_bytes(serialization.Encoding.PEM))


def test_a_site_with_a_certificate_speaks_https(tmp_path: Path) -> None:
    """Site, frames and API, under the addresses that pages name."""
    certificate = self_signed(tmp_path / "own", now=machine_time())
    context = ssl.create_default_context(cafile=certificate.chain)
    with (
        serve(Marketplace(tmp_path / "m.db", rehearsal=True, certificate=certificate)) as running,
        httpx.Client(verify=context) as http,
    ):
        assert running.endpoint_url.startswith("https://127.0.0.1:")
        assert running.frames_url.startswith("https://127.0.0.1:")
        assert http.get(f"{running.endpoint_url}/rehearsal/books").status_code == 200
        assert http.get(f"{running.frames_url}/frames/NONE").status_code == 404


def test_a_bad_certificate_is_said_before_anything_starts(tmp_path: Path) -> None:
    """An error of the caller's, not a thread's."""
    wrong = tmp_path / "wrong.pem"
    wrong.write_text("no certificate")
    with (
        pytest.raises(ssl.SSLError),
        serve(Marketplace(tmp_path / "m.db", certificate=Certificate(chain=wrong, key=wrong))),
    ):
        pass


def test_an_idle_client_does_not_keep_the_marketplace_from_stopping(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Connections kept for later, and ones that said nothing yet, end with it."""
    with (
        caplog.at_level(logging.INFO),
        ExitStack() as idle,  # left last: the marketplace stops before its clients
        aws_proxy(tmp_path) as standing,
    ):
        port = urlsplit(standing.doors.proxy_url).port or 0
        silent = socket.create_connection(("127.0.0.1", port), timeout=20)
        idle.enter_context(silent)
        context = ssl.create_default_context(cafile=standing.doors.authority)
        http = httpx.Client(proxy=standing.doors.proxy_url, verify=context)
        idle.enter_context(http)
        assert http.get(f"https://{PRODUCTION}/worker/hits").status_code == 404
    # If uvicorn waited for them, it would lose its patience and log an error.
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


def test_no_task_that_begins_while_others_are_cancelled_is_left() -> None:
    """A handshake may end then; its connection would hold on after the loop."""
    begun: list[asyncio.Task[None]] = []

    async def handshake() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            begun.append(asyncio.create_task(asyncio.sleep(60)))

    async def ended() -> bool:
        first = asyncio.create_task(handshake())
        await asyncio.sleep(0)
        await relay._cancel_others()
        return first.cancelled() and begun[0].cancelled()

    assert run_in_thread(ended())
