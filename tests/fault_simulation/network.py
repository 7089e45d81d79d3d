"""The network of a simulation: boto3 and httpx call applications of this process.

Below botocore's and httpx's own clients a request goes to the ASGI application of the
address that it names, and to no socket. A request or a reply can be lost on the way,
and a program can be killed before and after its call. Other events may come between.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol
from unittest.mock import patch
from urllib.parse import urlsplit

import botocore.httpsession
import httpx
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.exceptions import ConnectionClosedError, EndpointConnectionError
from starlette.types import ASGIApp, Message, Scope

from tests.fault_simulation.process import Killed, Program

_SPENDING = ("Approve", "Associate", "Create", "Reject", "SendBonus")
Headers = list[tuple[bytes, bytes]]


class NotReached(Exception):  # noqa: N818 - it is a state
    """Nothing has left: the request was lost, or nobody listens."""


class Cut(Exception):  # noqa: N818 - it is a state
    """The connection ended before the reply was here."""


@dataclass(frozen=True, slots=True)
class Call:
    """A request on its way.

    Attributes:
        caller: the program that sends it; "" is somebody outside.
        operation: of the requester API, or the method.
    """

    caller: str
    method: str
    address: str
    operation: str

    @property
    def is_spending(self) -> bool:
        """Whether it changes something at the other side that costs or pays."""
        if self.operation:
            return self.operation.startswith(_SPENDING)
        return self.method != "GET" and "/api/" in self.address

    def __str__(self) -> str:
        """As the trace names it."""
        path = urlsplit(self.address).path
        return self.operation or f"{self.method} {path}"


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back."""

    status: int
    headers: Headers
    body: bytes


class Weather(Protocol):
    """What becomes of calls."""

    def before(self, call: Call) -> None:
        """The call is about to leave.

        Raises:
            NotReached: it is lost.
        """

    def after(self, call: Call) -> None:
        """It was done.

        Raises:
            Cut: the reply is lost.
        """


class _Transport:
    """The connection of one request, as a server's fault can cut it."""

    def __init__(self) -> None:
        self.is_cut = False

    def abort(self) -> None:
        self.is_cut = True


class _Exchange:
    """One request of an ASGI application, and its reply."""

    def __init__(self, request: bytes) -> None:
        self.transport = _Transport()
        self._waiting: list[Message] = [{"type": "http.request", "body": request}]
        self._status, self._headers, self._body = 0, Headers(), b""
        self.is_complete = False

    async def receive(self) -> Message:
        if self._waiting:
            return self._waiting.pop()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._status, self._headers = message["status"], [*message["headers"]]
            return
        self._body += message.get("body", b"")
        self.is_complete = not message.get("more_body", False)

    def reply(self) -> Reply:
        """What was sent.

        Raises:
            Cut: not all of it.
        """
        if self.transport.is_cut or not self.is_complete:
            raise Cut
        return Reply(self._status, self._headers, self._body)


class Server(Protocol):
    """An application that answers at addresses."""

    @property
    def program(self) -> Program | None:
        """Which program it is; `None` is never killed."""

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Let a request be worked on to its end."""

    @property
    def app(self) -> ASGIApp:
        """What answers."""


@dataclass(slots=True)
class InOneGo:
    """An application that waits for nothing, so it needs no event loop."""

    app: ASGIApp
    program: Program | None = None

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Let a request be worked on."""
        try:
            work.send(None)
        except StopIteration:
            return
        work.close()
        raise RuntimeError("it waits for something that never comes")


class OnALoop:
    """An application with an event loop of its own, which may be killed."""

    def __init__(self, app: ASGIApp, program: Program) -> None:
        self.app, self.program = app, program
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(self._failed)
        self._task: asyncio.Task[None] | None = None
        self._fault: BaseException | None = None
        self._loop.set_default_executor(AtOnce())

    @property
    def is_busy(self) -> bool:
        """Whether it works on a request now."""
        return self._loop.is_running()

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        """Let a request be worked on, and what it leaves to be done soon."""
        with self.program.at_work():
            self._task = self._loop.create_task(self._whole(work))
            try:
                self._loop.run_until_complete(self._task)
            except asyncio.CancelledError:
                assert self._fault is not None
                raise self._fault from None

    async def _whole(self, work: Coroutine[Any, Any, None]) -> None:
        await work
        for _ in range(3):  # A commit that was scheduled is made.
            await asyncio.sleep(0)

    def _failed(self, _loop: object, context: Mapping[str, Any]) -> None:
        """A callback of the loop has failed; a request may wait for it in vain."""
        self._fault = context.get("exception") or RuntimeError(context["message"])
        if self._task is not None:
            self._task.cancel()

    def close(self) -> None:
        """Let go of the loop."""
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        try:
            self._loop.run_until_complete(asyncio.sleep(0))
        except Killed:
            pass
        finally:
            self._loop.close()


class AtOnce(ThreadPoolExecutor):
    """A pool of threads that does all in the thread of its caller, in order."""

    def __init__(self, *_: object, **__: object) -> None:
        super().__init__(1)

    def submit(self, work: Callable[..., Any], /, *arguments: Any, **named: Any) -> Any:  # noqa: ANN401 - of the pool
        """Do it now; the future that is done."""
        future: Future[Any] = Future()
        try:
            future.set_result(work(*arguments, **named))
        except Killed:
            raise
        except BaseException as fault:  # noqa: BLE001 - as a pool does
            future.set_exception(fault)
        return future


@dataclass(slots=True)
class Network:
    """Who answers at which address.

    Attributes:
        servers: by host and port.
        weather: what becomes of calls.
        calls: how many were made.
    """

    weather: Weather
    servers: dict[str, Server] = field(default_factory=dict)
    calls: int = 0

    def call(self, method: str, address: str, headers: Headers, body: bytes) -> Reply:
        """Send a request; its reply.

        Raises:
            NotReached: nothing has left.
            Cut: it may have been done.
            Killed: the caller was killed.
        """
        caller = Program.current()
        targets = dict(headers).get(b"x-amz-target", b"").decode()
        name = "" if caller is None else caller.name
        call = Call(name, method, address, targets.rpartition(".")[2])
        if caller is not None:
            caller.step(f"before {call}")
        self.weather.before(call)
        reply = self._exchange(method, address, headers, body)
        if caller is not None:
            caller.step(f"after {call}, its reply unread")
        self.weather.after(call)
        return reply

    def _exchange(self, method: str, address: str, headers: Headers, body: bytes) -> Reply:
        parts = urlsplit(address)
        server = self.servers.get(parts.netloc)
        if server is None or (server.program and server.program.is_dead):
            raise NotReached
        self.calls += 1
        exchange = _Exchange(body)
        scope: Scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": parts.scheme,
            "path": parts.path or "/",
            "raw_path": parts.path.encode(),
            "query_string": parts.query.encode(),
            "headers": headers,
            "server": (parts.hostname, parts.port),
            "client": ("127.0.0.1", 1),
            "state": {"transport": exchange.transport},
        }
        try:
            server.run(server.app(scope, exchange.receive, exchange.send))  # type: ignore[arg-type]
        except BaseException:
            if server.program is None or not server.program.is_dead:
                raise
            raise Cut from None  # It died meanwhile.
        if server.program is not None and server.program.is_dead:
            raise Cut
        return exchange.reply()

    @contextmanager
    def installed(self) -> Iterator[None]:
        """All clients of botocore and httpx use this network inside the block."""
        network = self

        def send_aws(_session: object, request: AWSPreparedRequest) -> AWSResponse:
            body: Any = request.body or b""
            headers = _plain(request.headers.items(), request.url)
            raw = body.encode() if isinstance(body, str) else bytes(body)
            try:
                reply = network.call(request.method, request.url, headers, raw)
            except NotReached as fault:
                raise EndpointConnectionError(endpoint_url=request.url, error=fault) from fault
            except Cut as fault:
                raise ConnectionClosedError(
                    endpoint_url=request.url, error=fault, request=request
                ) from fault
            header_texts: Any = _texts(reply.headers)
            return AWSResponse(request.url, reply.status, header_texts, _Whole(reply.body))

        def send_httpx(_transport: object, request: httpx.Request) -> httpx.Response:
            headers = [(name.lower(), value) for name, value in request.headers.raw]
            try:
                reply = network.call(request.method, str(request.url), headers, request.read())
            except NotReached as fault:
                raise httpx.ConnectError("nobody answers", request=request) from fault
            except Cut as fault:
                raise httpx.RemoteProtocolError("cut", request=request) from fault
            return httpx.Response(reply.status, headers=reply.headers, content=reply.body)

        session = botocore.httpsession.URLLib3Session
        with (
            patch.object(session, "send", send_aws),
            patch.object(httpx.HTTPTransport, "handle_request", send_httpx),
        ):
            yield


@dataclass(frozen=True, slots=True)
class _Whole:
    """A body that is there, as botocore reads one."""

    body: bytes

    def stream(self) -> Iterator[bytes]:
        """All of it."""
        yield self.body


def _plain(items: Any, address: str) -> Headers:  # noqa: ANN401 - botocore's
    headers = [
        (str(name).lower().encode(), value if isinstance(value, bytes) else str(value).encode())
        for name, value in items
    ]
    return [*headers, (b"host", urlsplit(address).netloc.encode())]


def _texts(headers: Headers) -> dict[str, str]:
    return {name.decode().lower(): value.decode() for name, value in headers}
