"""What a browser would do for a simulated worker: send requests, and read a HIT's page.

The client of HTTP/1.1 is minimal and fast, since a rehearsal sends several requests per
picture. Requests can be sent before earlier ones are answered. They use one connection, so
the marketplace handles them in order while the crowd prepares the next one.

The crowd fills in the form that the page contains, not one that this code assumes. So a page
that lacks a field shows in the answers. The orders that a page's script would record are
computed without running scripts.
"""

import json
import re
import select
import socket
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from html.parser import HTMLParser
from typing import IO
from urllib.parse import urlsplit

from piecework.domain.hit import Item
from piecework.domain.ids import AssignmentId, ItemId
from piecework.domain.task import Task
from piecework.hit_templates.answers import in_order
from piecework.hit_templates.order import groups_of, item_order, option_order, shuffled
from piecework.hit_templates.own_html.controls import Controls, controls_of
from piecework.hit_templates.own_html.page import items_shown, measures_asked
from piecework.hit_templates.page_compression import decompress

_PORT = 80
_SECONDS_TO_WAIT = 60.0
_LONGEST_LINE_BYTES = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A response.

    Attributes:
        headers: values by lower-case name; the last one if a name repeats.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """Return the body, decoded as UTF-8."""
        return self.body.decode(errors="replace")

    def json(self) -> object:
        """Return the body's JSON value.

        Raises:
            ValueError: it is not JSON.
        """
        return json.loads(self.body)


class Reply:
    """A response that may not have arrived yet."""

    def __init__(self, connection: "Connection", path: str) -> None:
        self._connection = connection
        self._response: Response | None = None
        self.path = path

    def read(self) -> Response:
        """Wait for the response, and those of earlier requests, and return it.

        Raises:
            OSError: the connection broke, or the peer does not speak HTTP.
        """
        while self._response is None:
            self._connection.receive_next()
        return self._response

    def arrive(self, response: Response) -> None:
        """Store the response to this request."""
        self._response = response


class Connection:
    """One keep-alive connection, opened when first needed.

    Args:
        authority: host and port, as in a URL.
    """

    def __init__(self, authority: str) -> None:
        parts = urlsplit(f"//{authority}")
        self._authority = authority
        self._address = (parts.hostname or "", parts.port or _PORT)
        self._socket: socket.socket | None = None
        self._stream: IO[bytes] | None = None
        self._awaited: deque[Reply] = deque()

    def send(self, method: str, path: str, headers: Mapping[str, str], body: bytes = b"") -> Reply:
        """Send a request; its reply can be read at any time later.

        Raises:
            OSError: nothing listens there, or the connection broke.
        """
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self._authority}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        if body or method != "GET":
            lines.append(f"Content-Length: {len(body)}")
        head = "\r\n".join((*lines, "", "")).encode("latin-1")
        self._open().sendall(head + body)
        reply = Reply(self, path)
        self._awaited.append(reply)
        return reply

    def receive_next(self) -> None:
        """Read the response to the oldest unanswered request.

        Raises:
            OSError: the connection broke, or the peer does not speak HTTP.
        """
        if self._stream is None or not self._awaited:
            raise ConnectionError("the connection broke before the answer arrived")
        try:
            response = _read_response(self._stream)
        except (OSError, ValueError) as fault:
            self.close()
            raise ConnectionError(str(fault)) from fault
        self._awaited.popleft().arrive(response)
        if response.headers.get("connection", "").lower() == "close":
            self.close()

    def close(self) -> None:
        """Close the connection; unanswered requests stay unanswered."""
        self._awaited.clear()
        if self._stream is not None:
            self._stream.close()
        if self._socket is not None:
            self._socket.close()
        self._socket = self._stream = None

    def _open(self) -> socket.socket:
        if self._socket is not None and not self._awaited and _has_ended(self._socket):
            self.close()
        if self._socket is None:
            self._socket = socket.create_connection(self._address, timeout=_SECONDS_TO_WAIT)
            # Nagle's delay would hold back a second request until the first is
            # answered.
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._stream = self._socket.makefile("rb")
        return self._socket


def _has_ended(idle: socket.socket) -> bool:
    """Return whether the server closed an idle connection."""
    # `select` refuses the descriptors of a process that has more than a thousand open.
    waiting = select.poll()
    waiting.register(idle, select.POLLIN)
    return bool(waiting.poll(0))


def _read_response(stream: IO[bytes]) -> Response:
    protocol, _, rest = _line(stream).partition(" ")
    if not protocol.startswith("HTTP/1."):
        raise ValueError("the answer is not HTTP")
    status = int(rest[:3])
    headers: dict[str, str] = {}
    while line := _line(stream):
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    # The marketplace always sends the length.
    length = int(headers.get("content-length", "0"))
    body = stream.read(length)
    if len(body) < length:
        raise ConnectionError("the answer was cut off")
    return Response(status=status, headers=headers, body=body)


def _line(stream: IO[bytes]) -> str:
    line = stream.readline(_LONGEST_LINE_BYTES)
    if not line.endswith(b"\n"):
        raise ConnectionError("the connection was closed")
    return line.rstrip(b"\r\n").decode("latin-1")


_UNREAD = re.compile(r"(?is)<!--.*?-->|<(script|style)\b.*?</\1\s*>")
_FORM_TAGS = re.compile(r"""(?i)</?(?:form|input|textarea)\b(?:[^>"']|"[^"]*"|'[^']*')*>""")


@dataclass(kw_only=True)
class Page:
    """The form of a HIT's page.

    Attributes:
        fixed: hidden fields with the values that the page sets.
        texts: names of text boxes, which are empty on the page.
        options: for radio buttons and checkboxes, the values by name, in order.
        names: all names in document order, which is the order sent; the values are
            unused.
        pastes: whether texts can be pasted; an experiment's page may refuse them.
        controls: what can be filled in on a requester's own page; `None` for a page of
            piecework's.
    """

    fixed: dict[str, str] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    options: dict[str, list[str]] = field(default_factory=dict)
    names: dict[str, None] = field(default_factory=dict)
    pastes: bool = True
    controls: Controls | None = None

    @cached_property
    def item_ids(self) -> tuple[ItemId, ...]:
        """Return the items in the order shown."""
        numbered = {
            int(position): value
            for name, value in self.fixed.items()
            for prefix, _, position in [name.partition(".")]
            if prefix == "item" and position.isdecimal()
        }
        return tuple(ItemId(numbered[n]) for n in sorted(numbered))

    def has(self, name: str) -> bool:
        """Return whether the form has a field of this name."""
        return name in self.names


def read_page(html: str) -> Page:
    """Return the form of an HTML document; empty if it has none."""
    if item_ids := items_shown(html):
        return _own_page(html, item_ids, measures_asked(html))
    page, is_in_form = Page(), False
    # The parser is slow, and nine tags in ten do not belong to a form.
    for text in _FORM_TAGS.findall(_UNREAD.sub("", decompress(html))):
        tag = _read_tag(text)
        if tag.name == "form":
            is_in_form = not tag.is_end
            page.pastes &= tag.attributes.get("data-paste") != "blocked"
        elif is_in_form and not tag.is_end:
            _add_field(page, tag)
    return page


def _own_page(html: str, item_ids: Sequence[str], measures: Sequence[str]) -> Page:
    controls = controls_of(html)
    ours: dict[str, str] = {}
    for n, item_id in enumerate(item_ids, start=1):
        ours |= {f"item.{n}": item_id} | {f"{name}.{n}": "0" for name in measures}
    fixed = controls.hidden_values | ours
    return Page(fixed=fixed, names=dict.fromkeys(fixed), controls=controls)


def played_in(shown_ms: int, task: Task) -> int:
    """Return how much of a sound is played, per mille, if it takes half of the time of an item."""
    return min(1000, round(2 * shown_ms / task.seconds_per_item))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tag:
    name: str
    is_end: bool
    attributes: Mapping[str, str]


@lru_cache(maxsize=4096)
def _read_tag(text: str) -> _Tag:
    """Read one tag; the HITs of a campaign share most of their tags."""
    reader = _TagReader()
    reader.feed(text)
    reader.close()
    return reader.tag


class _TagReader(HTMLParser):
    tag = _Tag(name="", is_end=False, attributes={})

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.tag = _Tag(name=tag, is_end=False, attributes=attributes)

    handle_startendtag = handle_starttag

    def handle_endtag(self, tag: str) -> None:
        self.tag = _Tag(name=tag, is_end=True, attributes={})


def _add_field(page: Page, tag: _Tag) -> None:
    name = tag.attributes.get("name", "")
    if tag.name not in {"textarea", "input"} or not name or "disabled" in tag.attributes:
        return
    page.names[name] = None
    kind = tag.attributes.get("type", "text").lower()
    if tag.name == "textarea" or kind == "text":
        page.texts.append(name)
    elif kind == "hidden":
        page.fixed[name] = tag.attributes.get("value", "")
    elif kind in {"radio", "checkbox"}:
        page.options.setdefault(name, []).append(tag.attributes.get("value", "on"))
    # Only a range's name is stored: it has no value until it is touched.


def orders_sent(
    page: Page, task: Task, assignment_id: AssignmentId, items: Mapping[ItemId, Item]
) -> dict[str, list[str]]:
    """Return the values of the hidden fields `order....` when the page is sent."""
    sent: dict[str, list[str]] = {}
    shown = [items[item_id] for item_id in page.item_ids if item_id in items]
    if page.has("order.items"):
        positions = item_order(task, assignment_id, page.item_ids, groups_of(task, shown))
        sent["order.items"] = ["|".join(map(str, positions))]
    for n, item in enumerate(shown, start=1):
        for asked in task.item_fields:
            order = option_order(asked, assignment_id, item.item_id, in_order(asked, item.columns))
            sent[f"order.{asked.name}.{n}"] = ["|".join(order)]
        for arrangement in task.arrangements:
            name = arrangement.name
            columns = shuffled(assignment_id, f"{name}.{item.item_id}", arrangement.columns)
            sent[f"order.{name}.{n}"] = ["|".join(columns)]
    return {name: value for name, value in sent.items() if page.has(name)}
