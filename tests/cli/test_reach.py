"""`check --reach`: which addresses are asked at all, and how long they may take."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import fsspec
import pytest
from click.testing import CliRunner

from piecework.campaign.assembling import load_campaign
from piecework.campaign.reachable_pictures import sample_of_pictures, unreached
from piecework.cli.main import main
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.domain.pictures import PictureLocation
from tests.campaign.test_own_page import written
from tests.for_each import for_each

PUBLIC = "93.184.215.14"


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Paths)
        self.asked: list[str] = []
        self.is_over = threading.Event()

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class _Paths(BaseHTTPRequestHandler):
    server: _Server

    def do_GET(self) -> None:
        """`/slow` sends a head without end; `/to?URL` leads there."""
        self.server.asked.append(f"{self.headers['Host']}{self.path}")
        if self.path == "/slow":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
            with suppress(OSError):
                while not self.server.is_over.wait(0.05):
                    self.wfile.write(b"x")
        elif self.path.startswith("/to?"):
            self.send_response(302)
            self.send_header("Location", self.path.removeprefix("/to?"))
            self.end_headers()
        else:
            self.send_response(200)
            self.send_header("Content-Type", "image/png")
            self.end_headers()
            self.wfile.write(b"\x89PNG")

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def served() -> Iterator[_Server]:
    """A server on this machine that remembers what it was asked."""
    server = _Server()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.is_over.set()
        server.shutdown()
        server.server_close()


@pytest.fixture
def on_the_internet(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name `pictures.example` has a public address, which leads to this machine."""
    look_up, connect = socket.getaddrinfo, socket.socket.connect

    def public_address(host: str, port: int, **named: int) -> list[object]:
        address = PUBLIC if host == "pictures.example" else host
        return [*look_up(address, port, **named)]

    def connected(self: socket.socket, place: tuple[str, int]) -> None:
        connect(self, ("127.0.0.1", place[1]) if place[0] == PUBLIC else place)

    monkeypatch.setattr(socket, "getaddrinfo", public_address)
    monkeypatch.setattr(socket.socket, "connect", connected)


@for_each(
    "host",
    [
        *("127.0.0.1", "localhost", "127.1", "2130706433", "0x7f000001", "0"),
        *("[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "[fe80::1]", "[::]"),
        *("10.0.0.1", "172.16.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1"),
        *("224.0.0.1", "[fd00::1]", "[2002:7f00:1::]"),
    ],
)
def test_no_address_inside_the_network_is_asked(host: str) -> None:
    """However it is written; the sentence says how to ask it all the same."""
    with served() as server:
        (fault,) = unreached([f"http://{host}:{server.port}/a.png"])
        assert server.asked == []
    assert "inside this machine's network" in fault
    assert "--internal" in fault


@pytest.mark.usefixtures("on_the_internet")
def test_a_redirect_leads_to_no_address_inside() -> None:
    """Nor to a file; a public one is followed."""
    with served() as server:
        base = f"http://pictures.example:{server.port}"
        inside = f"http://127.0.0.1:{server.port}/secret"
        wanted = [
            f"{base}/a.png",
            f"{base}/to?{base}/b.png",
            f"{base}/to?{inside}",
            f"{base}/to?{base}/to?{inside}",
            f"{base}/to?file:///etc/hosts",
        ]
        faults = unreached(wanted)
        assert inside.removeprefix("http://") not in server.asked
    assert [fault.split(": ")[0] for fault in faults] == wanted[2:]
    assert "inside this machine's network" in faults[0]
    assert "inside this machine's network" in faults[1]
    assert "'file:///etc/hosts', which is not a web address" in faults[2]


def test_an_address_inside_is_asked_if_a_person_says_so() -> None:
    """Where all workers are in the same network."""
    with served() as server:
        url = f"http://127.0.0.1:{server.port}/a b.png?c=d e".replace(" ", "%20")
        assert unreached([url], asks_inside=True) == []
        assert server.asked == [f"127.0.0.1:{server.port}/a%20b.png?c=d%20e"]


def test_a_server_that_never_ends_its_head_is_given_up() -> None:
    """Each byte comes in time, and the whole never."""
    with served() as server:
        url = f"http://127.0.0.1:{server.port}/slow"
        # Without a limit for the whole it would not return: the head has no end.
        faults = unreached([url] * 9, asks_inside=True, seconds=1)
    assert faults == [f"{url}: does not answer within 1 seconds"] * 9


def test_asking_inside_is_a_part_of_asking() -> None:
    """The option alone does nothing, and says so."""
    refused = CliRunner().invoke(main, ["check", "x.toml", "--internal"])
    assert refused.exit_code == 2
    assert "--reach" in refused.output


HIDDEN = "geheim"


def test_a_cell_is_no_address_and_has_no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the campaign file's own addresses may have `${VARIABLES}`."""
    monkeypatch.setenv("PW_SECRET", HIDDEN)
    fsspec.filesystem("memory").pipe_file("/photos/a.png", b"\x89PNG")
    faults = unreached(
        [
            f"memory://photos/{name}"
            for name in ("a.png", "${PW_SECRET}.png", "../${PW_SECRET}.png")
        ],
        bucket="memory://photos",
    )
    assert len(faults) == 2
    assert HIDDEN not in "".join(faults)


def test_a_sample_has_no_file_outside_the_folder(tmp_path: Path) -> None:
    """Whatever a cell that no page shows has, or a link in the folder."""
    photos = tmp_path / "photos"
    photos.mkdir()
    (photos / "a.png").write_bytes(b"\x89PNG")
    (tmp_path / "b.png").write_bytes(b"\x89PNG")
    (photos / "c.png").symlink_to("../b.png")
    cells = ["a.png", "../b.png", f"{tmp_path}/b.png", "c.png", "x/../../b.png"]
    campaign = load_campaign(written(tmp_path))
    items = [
        Item(item_id=ItemId(str(number)), columns={"note": cell})
        for number, cell in enumerate(cells)
    ]
    campaign = replace(campaign, items=tuple(items), pictures=PictureLocation(str(photos)))
    assert sample_of_pictures(campaign) == [f"{photos}/a.png"]
