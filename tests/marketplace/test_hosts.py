"""A marketplace answers to its own names: what was meant for another is refused."""

import socket
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from piecework.marketplace.http.server import Marketplace, serve
from tests.marketplace.live_market import give, running
from tests.marketplace.market import START, Market, free_port
from tests.marketplace.signing import send, signed_request


def test_a_call_that_was_signed_for_another_host_is_not_carried_out(
    tmp_path: Path,
) -> None:
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
    with serve(tmp_path / "m.db", rehearsal=True, start=START) as running_:
        url = running_.endpoint_url if side == "site" else running_.frames_url
        named = host.replace("{port}", url.rpartition(":")[2])
        for path in ("/rehearsal/clock", "/worker/hits", "/frames/X"):
            reply = httpx.get(
                url + path,
                headers={"Host": named, "X-Rehearsal-Now": "1800000000000"},
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
            reply = http.get(f"{url}/rehearsal/clock", headers={"Host": name})
            assert reply.status_code == status, name
    with serve(options), socket.create_connection(("127.0.0.1", ports[0])) as line:
        named = b"Host: hits.example.org\r\n"
        line.sendall(b"GET /rehearsal/clock HTTP/1.1\r\n" + named + named + b"\r\n")
        assert line.recv(65_536).startswith(b"HTTP/1.1 421 ")


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
                    f"http://127.0.0.1:{port}{path}",
                    headers={"Host": origin.partition("//")[2]},
                )
                assert reply.headers.get("strict-transport-security") == header
