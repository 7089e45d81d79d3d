"""Check on a sample whether the addresses and files of pictures are pictures.

An items file may come from anyone, and this machine requests its addresses. So it never
requests an address inside its own network, even after a redirect, and a slow server
cannot delay the command for long. A host name is resolved once, and the request goes to
that IP address. So a name that resolves differently a moment later cannot redirect it.
Each redirect is checked likewise.
"""

import ipaddress
import os
import random
import socket
import ssl
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import NamedTuple, TypeVar
from urllib.parse import SplitResult, quote, urljoin, urlsplit

from piecework.domain.campaign import Campaign

_FIRST_BYTES = 512
_MOST_REDIRECTS = 5
_REDIRECT = 3
_OK = 2
_PORTS = {"http": 80, "https": 443}
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_HEADERS = {
    # Some hosts refuse programs that do not begin as browsers do.
    "User-Agent": "Mozilla/5.0 (compatible; piecework)",
    "Accept": "image/*, audio/*, video/*, */*;q=0.5",
    "Range": f"bytes=0-{_FIRST_BYTES - 1}",
}

_T = TypeVar("_T")
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class _NotAskedError(Exception):
    """An address is not a web address, or is inside this machine's network."""


class PictureRequest:
    """A request that another thread may stop.

    Attributes:
        url: the first URL.
        kind: the content type of the answer.
        begins: its first bytes.
        fault: why there is no usable answer; "" if there is one.
        status: the HTTP status of the last answer; 0 without an answer.
    """

    def __init__(self, url: str, *, asks_inside: bool, seconds: float) -> None:
        self.kind, self.begins, self.fault, self.status = "", b"", "", 0
        self.url, self._asks_inside, self._seconds = url, asks_inside, seconds
        self._socket: socket.socket | None = None

    def run(self) -> None:
        """Send the request, follow redirects, and keep the answer."""
        try:
            self.fault = self._ask()
        except _NotAskedError as fault:
            self.fault = str(fault)
        except TimeoutError:
            self.fault = f"does not answer within {self._seconds:g} seconds"
        except (OSError, HTTPException, ValueError) as fault:
            self.fault = f"does not answer ({str(fault) or type(fault).__name__})"

    def stop(self) -> None:
        """Close the connection, so that the thread that waits on it ends."""
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)

    def _ask(self) -> str:
        url, status = self.url, 0
        for _ in range(_MOST_REDIRECTS):
            status, reason, there = self._once(url)
            if status // 100 != _REDIRECT or not there:
                return "" if status // 100 == _OK else f"answers {status} {reason}"
            url = urljoin(url, there)
        return f"answers {status}, and its redirects never end"

    def _once(self, url: str) -> tuple[int, str, str]:
        """Return a reply's status, reason and redirect; keep type and beginning."""
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme, 0)
        if not parts.hostname or parts.scheme not in _PORTS:
            raise _NotAskedError(f"leads to {url!r}, which is not a web address")
        name = parts.hostname.encode("idna").decode()
        host = f"[{name}]" if ":" in name else name
        with closing(HTTPConnection(name, port)) as http:
            http.sock = self._connected(name, port)
            if parts.scheme == "https":
                context = ssl.create_default_context()
                http.sock = context.wrap_socket(http.sock, server_hostname=name)
                self._socket = http.sock
            headers = {"Host": f"{host}:{port}", **_HEADERS}
            http.request("GET", _target(parts), headers=headers)
            with http.getresponse() as reply:
                self.status = reply.status
                self.kind = reply.headers.get_content_type()
                self.begins = reply.read(_FIRST_BYTES)
                return reply.status, reply.reason, reply.headers.get("Location", "")

    def _connected(self, name: str, port: int) -> socket.socket:
        """Connect to the first of the name's addresses that answers."""
        endpoints = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
        for *_, endpoint in endpoints:
            address = ipaddress.ip_address(str(endpoint[0]))
            if not self._asks_inside and not is_public(address):
                raise _NotAskedError(
                    f"leads to {address}, inside this machine's network, so it is not "
                    "tried; people elsewhere cannot load it either. If all workers "
                    "are inside that network: piecework check CAMPAIGN --reach --internal"
                )
        fault: OSError | None = None
        for family, kind, protocol, _, endpoint in endpoints:
            connection = socket.socket(family, kind, protocol)
            connection.settimeout(self._seconds)
            self._socket = connection
            try:
                connection.connect(endpoint)
            except OSError as refusal:
                connection.close()
                fault = refusal
            else:
                return connection
        raise fault or OSError("the host name has no address")


def is_public(address: _Address) -> bool:
    """Whether an address means the same machine everywhere on the internet.

    >>> [is_public(ipaddress.ip_address(a)) for a in ("8.8.8.8", "10.0.0.1", "::1")]
    [True, False, False]
    """
    if isinstance(address, ipaddress.IPv6Address):
        inside = address.ipv4_mapped or address.sixtofour
        if address in _NAT64:
            inside = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inside is not None:
            return is_public(inside)
    return address.is_global and not address.is_multicast


def _target(parts: SplitResult) -> str:
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~")
    return f"{path}?{quote(parts.query, safe='/%:@!$&()*+,;=~?')}" if parts.query else path


SAMPLE = 20
_AT_ONCE = 8
SECONDS = 15.0
"""Time limit for one address with its name, redirects and first bytes. The sample takes
three rounds, so at most three times as long."""

_BEGINNINGS = (
    b"\xff\xd8\xff",
    b"\x89PNG",
    b"GIF8",
    b"RIFF",
    b"BM",
    b"<svg",
    b"<?xml",
    b"<!DOCTYPE svg",
)
_AVIF = b"ftypavi"
_SVG = (b"<svg", b"<?xml", b"<!DOCTYPE svg")
"""Beginnings that browsers show as a picture only if the answer says that it is SVG."""

_PAGE = (b"<!doctype html", b"<html")
_SPACE = b"\xef\xbb\xbf \t\r\n"
"""What may precede an SVG: the byte order mark of UTF-8, and white space."""


_WEB = ("http://", "https://")


def sample_of(names: Sequence[_T], most: int, *, seed: str) -> list[_T]:
    """Return the first, the last and some between, the same each time.

    >>> sample_of([1, 2, 3, 4], 2, seed="birds")
    [1, 4]
    """
    if len(names) <= most:
        return [*names]
    draw = random.Random(f"piecework looks at {seed}")  # noqa: S311 - no secret
    between = draw.sample(range(1, len(names) - 1), most - 2)
    return [names[number] for number in (0, *sorted(between), len(names) - 1)]


def sample_of_pictures(campaign: Campaign) -> list[str]:
    """Return at most `SAMPLE` addresses and files of pictures, the same each time.

    Pictures that a rehearsal draws are left out.
    """
    pictures = None if campaign.rehearsal.scenes else campaign.pictures
    names = [item.picture for item in campaign.items]
    there = [name for name in names if name.startswith(_WEB)]
    if pictures is not None:
        own = [pictures.name_of(name) for name in names if not name.startswith(_WEB)]
        there += [
            f"{pictures.address}/{name}"
            for name in own
            if name and _is_inside(name, pictures.folder)
        ]
    return sample_of(there, SAMPLE, seed=campaign.name)


def unreached(
    pictures: Sequence[str],
    *,
    bucket: str = "",
    asks_inside: bool = False,
    seconds: float = SECONDS,
) -> list[str]:
    """Return what is wrong with each address or file that is not a picture.

    Args:
        pictures: addresses and files.
        bucket: the address of the bucket, if some of them are in it.
        asks_inside: also request addresses inside this machine's network.
        seconds: time limit for one address.
    """

    def fault(picture: str) -> str:
        if picture.startswith(_WEB):
            reply = answer(picture, asks_inside=asks_inside, seconds=seconds)
            return reply.fault and f"{picture}: {reply.fault}"
        return _of_file(picture, bucket)

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return [sentence for sentence in pool.map(fault, pictures) if sentence]


def _is_inside(name: str, folder: Path | None) -> bool:
    """Whether a picture is in its folder, also through links."""
    if folder is None:
        return True
    root = os.path.realpath(folder)
    return Path(os.path.realpath(folder / name)).is_relative_to(root)


def _of_file(path: str, bucket: str) -> str:
    try:
        begins = _beginning(path, bucket)
    except OSError as fault:
        return f"{path}: cannot be read ({fault.strerror or fault})"
    return "" if _is_picture(begins) else f"{path}: is not a picture, despite its name"


def _beginning(path: str, bucket: str) -> bytes:
    """Return the first bytes of a file, or of an object in a bucket."""
    if not bucket:
        with Path(path).open("rb") as file:
            return file.read(_FIRST_BYTES)
    # Most campaigns have a folder, and need no pyarrow here.
    from piecework.campaign.exchange.table_source import directory_at  # noqa: PLC0415

    # Only the campaign's own address may have variables; a row's cell may not.
    directory = directory_at(bucket, beside=Path())
    name = path.removeprefix(f"{bucket}/")
    with directory.files.open_input_file(directory.at(name)) as object_file:
        return bytes(object_file.read(_FIRST_BYTES))


def _is_picture(begins: bytes) -> bool:
    return begins.lstrip(_SPACE).startswith(_BEGINNINGS) or _AVIF in begins


class Answer(NamedTuple):
    """What an address answers.

    Attributes:
        fault: why browsers show nothing from there, as a clause; "" if they do.
        status: the HTTP status; 0 if no answer came.
    """

    fault: str
    status: int


def answer(
    url: str, *, kind: str = "picture", asks_inside: bool = False, seconds: float = SECONDS
) -> Answer:
    """Request an address, and return why it gives no picture, within the time limit.

    Args:
        url: the address.
        kind: `picture`, `audio` or `video`.
        asks_inside: also request addresses inside this machine's network.
        seconds: the limit.
    """
    request = PictureRequest(url, asks_inside=asks_inside, seconds=seconds)
    asking = threading.Thread(target=request.run, daemon=True)
    asking.start()
    asking.join(seconds)
    if asking.is_alive():
        request.stop()
        return Answer(f"does not answer within {seconds:g} seconds", 0)
    if request.fault:
        return Answer(request.fault, request.status)
    return Answer(_fault_of_content(request, kind), request.status)


def _fault_of_content(request: PictureRequest, kind: str) -> str:
    begins = request.begins.lstrip(_SPACE)
    is_page = begins.lower().startswith(_PAGE)
    if not begins:
        return "answers with nothing"
    if kind != "picture":
        is_right = not is_page and not request.kind.startswith("text/")
    elif request.kind.startswith("image/"):
        is_right = not is_page
    else:
        is_right = _is_picture(begins) and not begins.startswith(_SVG)
    what = "text/html" if is_page else request.kind
    article = "an" if kind == "audio" else "a"
    return "" if is_right else f"answers with {what}, which is not {article} {kind}"
