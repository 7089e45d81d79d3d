"""Send calls one at a time, and retry only those that are safe to repeat.

Prolific publishes no rate limit; it asks for one call at a time and for growing waits.
Connect says nothing about it. A call that is safe to repeat is retried after a wait;
any other call is made once.
"""

import logging
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from threading import Lock
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import httpx

from piecework.foundation.client.calls import Request, document_of
from piecework.foundation.client.errors import ApiError, Lost, Unreachable, Unusable, sentence
from piecework.foundation.client.token import AccountToken, api_address
from piecework.foundation.hosts import is_loopback
from piecework.foundation.tracing.spans import span

_LOG = logging.getLogger(__name__)
_HEADERS = {
    "Accept": "application/json",
    "User-Agent": "piecework",
    # Prolific asks integrations to name themselves here; others ignore it.
    "Referer": "piecework",
}
_NEVER_LEFT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
    httpx.LocalProtocolError,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How often, and how long apart, a repeatable call is retried.

    Attributes:
        tries: the most times a call is made.
        first_seconds: the first wait; each later wait is twice as long.
        longest_seconds: the longest single wait. If the service asks for a longer one,
            the call fails at once.
    """

    tries: int = 6
    first_seconds: float = 1.0
    longest_seconds: float = 60.0

    def wait_seconds(self, tries: int, asked_for: float | None) -> float | None:
        """Return how long to wait after this many tries; `None` means give up.

        >>> [Patience(tries=4).wait_seconds(tries, None) for tries in (1, 2, 3, 4)]
        [1.0, 2.0, 4.0, None]
        """
        wanted = asked_for or 0.0
        if tries >= self.tries or wanted > self.longest_seconds:
            return None
        growing = self.first_seconds * 2.0 ** (tries - 1)
        return max(wanted, min(growing, self.longest_seconds))


@dataclass(frozen=True, slots=True)
class Answer:
    """The service's answer. Headers may hold secrets, so its `repr` leaves them out."""

    document: object
    headers: Mapping[str, str] = field(repr=False)


class Transport:
    """A connection to the API with one token; close it, or use it in a `with`.

    Args:
        address: the API's address, without a path.
        token: the account's token.
        patience: how repeatable calls are retried.
        sleep: waits for a number of seconds.
        heard: called with each request before it is sent, retries included.

    Raises:
        Unusable: the address is invalid, the token would be sent unencrypted, or a
            proxy set in the environment cannot be used.
    """

    def __init__(
        self,
        address: str,
        token: AccountToken,
        *,
        patience: Patience | None = None,
        sleep: Callable[[float], None] = time.sleep,
        heard: Callable[[Request], None] | None = None,
        timeout_seconds: float = 30.0,
    ) -> None:
        self.address = api_address(address, token.service)
        self._token, self._patience = token, patience or Patience()
        self._sleep, self._heard = sleep, heard
        self._one_at_a_time = Lock()
        try:
            self._http = httpx.Client(
                auth=_TokenAuth(token),
                headers=_HEADERS,
                timeout=timeout_seconds,
                follow_redirects=False,
                # A proxy set in the environment would see a token sent to this machine.
                trust_env=not is_loopback(urlsplit(self.address).hostname or ""),
            )
        except (ImportError, ValueError, httpx.InvalidURL) as fault:
            raise Unusable(
                "a proxy set in the environment cannot be used",
                next_step="check ALL_PROXY and HTTPS_PROXY; SOCKS is not supported",
            ) from fault

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def call(self, request: Request) -> object:
        """Make a call and return the document in the answer; `None` if there is none.

        Raises:
            Refused: the call had no effect.
            Lost: the call may have had an effect.
        """
        return self.answer(request).document

    def answer(self, request: Request) -> Answer:
        """Like `call`, but return the headers too."""
        with self._one_at_a_time:
            tries = 0
            while True:
                try:
                    with span(f"{request.method} {request.template}", kind="client"):
                        return self._once(request)
                except ApiError as fault:
                    tries += 1
                    wait = self._wait(request, fault, tries)
                    if wait is None:
                        raise
                    _LOG.info("%s; again in %.0f s", fault, wait)
                self._sleep(wait)

    def _wait(self, request: Request, fault: ApiError, tries: int) -> float | None:
        if not (request.may_repeat and fault.may_pass):
            return None
        return self._patience.wait_seconds(tries, fault.wait_seconds)

    def _once(self, request: Request) -> Answer:
        if self._heard is not None:
            self._heard(request)
        try:
            reply = self._http.request(
                request.method,
                request.url(self.address),
                content=request.content(),
                headers=_headers(request),
            )
        except _NEVER_LEFT as fault:
            failed: ApiError = Unreachable(
                f"{request.name}: no connection to {self.address}: {_words(fault)}",
                next_step=f"check the network and the address ({self._token.service.url_variable})",
                may_pass=True,
            )
        except (httpx.HTTPError, httpx.InvalidURL) as fault:
            failed = Lost(
                f"{request.name}: the reply was lost: {_words(fault)}",
                next_step=f"check at {self._token.service.name} whether it took effect",
                may_pass=True,
            )
        else:
            document = document_of(reply, request, self._token)
            return Answer(document, reply.headers)
        # Raised outside the `except` block: the frames of httpx's error hold the token.
        raise failed


def _headers(request: Request) -> dict[str, str]:
    kind = {} if request.body is None else {"Content-Type": "application/json"}
    return {**kind, **request.headers}


def _words(fault: Exception) -> str:
    return sentence(f"{type(fault).__name__} {fault}".strip(), at_most=200)


class _TokenAuth(httpx.Auth):
    """Sends the token in a header that httpx hides in its own `repr`."""

    def __init__(self, token: AccountToken) -> None:
        self._token = token

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        request.headers[self._token.service.header] = self._token.header()
        yield request
