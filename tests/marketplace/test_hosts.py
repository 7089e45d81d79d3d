"""A marketplace answers to its own names: what was meant for another is refused."""

import socket
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner

from piecework.cli.main import main
from piecework.domain.errors import RefusedForSafety
from piecework.marketplace.http.hosts import UnsafeBindError
from piecework.marketplace.http.server import Marketplace, serve
from tests.marketplace.live_market import give, running
from tests.marketplace.market import START, Market, free_port
from tests.marketplace.signing import send, signed_request


def test_a_free_port_is_kept_for_the_server_of_a_test() -> None:
    """No other program gets it, and a server may take it, and take it again."""
    port = free_port()
    with socket.socket() as other, pytest.raises(OSError, match="in use"):
        other.bind(("127.0.0.1", port))
    for _ in range(2):
        with socket.create_server(("127.0.0.1", port)):
            pass


def test_a_call_that_was_signed_for_another_host_is_not_carried_out(tmp_path: Path) -> None:
    """Whoever got it there could pass it on here, where it pays."""
    database = tmp_path / "live.db"
    with running(database, give(database)) as live:
        meant_for = "http://market.evil.example"
        relayed = signed_request(
            "GetAccountBalance",
            endpoint=meant_for,
            access_key=live.key.access_key,
            secret=live.key.secret,
        )
        reply = send(live.http, live.endpoint, relayed)
        assert reply.status_code == 421
        assert reply.json()["__type"] == "MisdirectedRequest"
        assert live.client().get_account_balance()["AvailableBalance"] == "10.00"


HOSTS = [
    "evil.example",
    "evil.example:{port}",
    "127.0.0.1",
    "127.0.0.1:{port}.evil.example",
    "127.0.0.1:{port}@evil.example",
    "localhost.evil.example:{port}",
    "127.0.0.2:{port}",
    "0.0.0.0:{port}",
    "",
]


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("side", ["site", "frames"])
def test_a_name_that_was_made_to_mean_this_machine_is_refused(
    tmp_path: Path, side: str, host: str
) -> None:
    """In a rehearsal any page could else play with it, by a name of its own."""
    with serve(Marketplace(tmp_path / "m.db", rehearsal=True, start=START)) as running_:
        url = running_.endpoint_url if side == "site" else running_.frames_url
        named = host.replace("{port}", url.rpartition(":")[2])
        for path in ("/rehearsal/clock", "/worker/hits", "/frames/X"):
            reply = httpx.get(
                url + path, headers={"Host": named, "X-Rehearsal-Now": "1800000000000"}
            )
            assert reply.status_code == 421
            assert "answers to" in reply.text
        with closing(Market(running_.endpoint_url, "")) as market:
            assert market.now() == START


def test_the_names_by_which_it_is_reached_are_its_own(tmp_path: Path) -> None:
    """As told, in any letters, with a default port; as bound; on loopback localhost."""
    ports = (free_port(), free_port())
    options = Marketplace(
        tmp_path / "m.db",
        rehearsal=True,
        port=ports[0],
        frames_port=ports[1],
        site_url="https://hits.example.org",
        frames_url="https://*.frames.example.org:8443",
    )
    site, frames = (f"http://127.0.0.1:{port}" for port in ports)
    with serve(options), httpx.Client() as http:
        for url, name, status in (
            (site, "hits.example.org", 200),
            (site, "HITS.Example.org.:443", 200),
            (site, f"127.0.0.1:{ports[0]}", 200),
            (site, f"localhost:{ports[0]}", 200),
            (site, "r1.frames.example.org:8443", 421),
            (frames, "r1.frames.example.org:8443", 404),
            (frames, "r1.frames.example.org", 421),
            (frames, "a.r1.frames.example.org:8443", 421),
            (frames, "frames.example.org:8443", 421),
            (frames, "hits.example.org", 421),
        ):
            reply = http.get(f"{url}/healthz", headers={"Host": name})
            assert reply.status_code == status, name
    with serve(options), socket.create_connection(("127.0.0.1", ports[0])) as line:
        named = b"Host: hits.example.org\r\n"
        line.sendall(b"GET /healthz HTTP/1.1\r\n" + named + named + b"\r\n")
        assert line.recv(65_536).startswith(b"HTTP/1.1 421 ")


def test_forms_are_taken_from_the_site_however_its_address_is_written(tmp_path: Path) -> None:
    """Browsers write a host in small letters, without the port that is usual."""
    port = free_port()
    options = Marketplace(
        tmp_path / "m.db",
        rehearsal=True,
        port=port,
        site_url="HTTPS://Hits.Example.org:443",
        frames_url="https://*.Frames.example.org:443",
    )
    with serve(options) as running_:
        assert running_.endpoint_url == "https://hits.example.org"
        assert running_.frames_url == "https://*.frames.example.org"
        headers = {"Origin": "https://hits.example.org", "Sec-Fetch-Site": "same-origin"}
        with httpx.Client(headers=headers | {"Host": "hits.example.org"}) as http:
            left = http.post(f"http://127.0.0.1:{port}/worker/sign-out")
            assert left.status_code == 200


@pytest.mark.parametrize("path", ["/worker/hits/", "/worker/hits//"])
def test_no_slash_leads_elsewhere(standing: Market, path: str) -> None:
    """An address is right or wrong; a redirect could name another host."""
    reply = standing.http.get(path)
    assert reply.status_code == 404
    assert "location" not in reply.headers


@pytest.mark.parametrize(
    ("site", "header"),
    [
        ("https://hits.example.org", "max-age=31536000"),
        ("http://hits.example.org", None),
        ("https://localhost:8443", None),  # what else listens there speaks HTTP
    ],
)
def test_over_tls_browsers_are_told_to_stay_there(
    tmp_path: Path, site: str, header: str | None
) -> None:
    """On every reply of site and frames, refusals too; over plain HTTP on none."""
    frames = site.replace("hits", "frames")
    ports = (free_port(), free_port())
    options = Marketplace(
        tmp_path / "m.db",
        rehearsal=True,
        port=ports[0],
        frames_port=ports[1],
        site_url=site,
        frames_url=frames,
    )
    with serve(options), httpx.Client() as http:
        for origin, port in zip((site, frames), ports, strict=True):
            for path in ("/", "/worker/hits", "/frames/X", "/worker/static/site.css"):
                reply = http.get(
                    f"http://127.0.0.1:{port}{path}", headers={"Host": origin.partition("//")[2]}
                )
                assert reply.headers.get("strict-transport-security") == header


@pytest.mark.parametrize("is_rehearsal", [True, False])
def test_what_needs_no_signature_is_for_this_machine_alone(
    tmp_path: Path, *, is_rehearsal: bool
) -> None:
    """A proxy may show workers the site; clock, calls and controls stay inside."""
    port = free_port()
    options = Marketplace(
        tmp_path / "m.db",
        rehearsal=is_rehearsal,
        trust_local=not is_rehearsal,
        port=port,
        site_url="https://hits.example.org",
        frames_url="https://frames.example.org",
    )
    call = {
        "X-Amz-Target": "MTurkRequesterServiceV20170117.GetAccountBalance",
        "Authorization": "AWS4-HMAC-SHA256 Credential=ANY/20260101/us-east-1/x/y",
    }
    with serve(options), httpx.Client(base_url=f"http://127.0.0.1:{port}") as http:
        for host, is_inside in (
            (f"127.0.0.1:{port}", True),
            (f"localhost:{port}", True),
            ("hits.example.org", False),
        ):
            named = {"Host": host}
            assert http.get("/healthz", headers=named).status_code == 200
            balance = http.post("/", headers=named | call, content=b"{}")
            assert (balance.status_code == 403) is not is_inside
            if not is_inside:
                assert "only programs on this machine" in balance.text
            clock = http.get("/rehearsal/clock", headers=named)
            expected = (200 if is_inside else 403) if is_rehearsal else 404
            assert clock.status_code == expected
            moved = named | {"X-Rehearsal-Now": "1800000000000"}
            if is_rehearsal:
                reply = http.get("/healthz", headers=moved)
                assert (reply.status_code == 403) is not is_inside


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::", ""])  # noqa: S104 - that is the law
def test_a_rehearsal_keeps_to_this_machine(tmp_path: Path, host: str) -> None:
    """Also with pictures and public names, it does not start."""
    options = Marketplace(
        tmp_path / "m.db",
        rehearsal=True,
        host=host,
        pictures=tmp_path,
        site_url="https://hits.example.org",
        frames_url="https://frames.example.org",
    )
    with pytest.raises(UnsafeBindError, match="move its clock"), serve(options):
        pass
    assert not (tmp_path / "m.db").exists()


@pytest.mark.parametrize(
    "url",
    [
        "https://hits.example.org:99999",
        "https://b\N{LATIN SMALL LETTER U WITH DIAERESIS}..org",
        "https://[hits",
    ],
)
@pytest.mark.parametrize("option", ["--site-url", "--frames-url"])
def test_an_address_that_is_none_is_refused_with_a_sentence(
    tmp_path: Path, option: str, url: str
) -> None:
    """Before anything is made."""
    database = tmp_path / "m.db"
    words = ["market", "serve", "--database", str(database), "--port", "0", option, url]
    result = CliRunner().invoke(main, words)
    assert result.exit_code == RefusedForSafety.exit_code
    assert "is not an address that a browser can open" in result.output
    assert not database.exists()
