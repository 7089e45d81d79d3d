"""Wait for an unreachable marketplace, with a time limit per outage, not per call.

A marketplace restarts, or a network fails for a minute. botocore gives up a call after
six tries, and all calls of a client after about fifty in total, which takes three
seconds if many are under way. Every call may be repeated (`piecework.store.acting`), so
all of them wait together until the marketplace answers or the time limit ends.
"""

import logging
import time
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

from botocore.exceptions import ConnectionError as NotConnected
from botocore.exceptions import HTTPClientError, SSLError

PATIENCE_SECONDS = 30.0
"""How long to wait during an outage; after that, a schedule's next pass tries again."""
LONG_PATIENCE_SECONDS = 600.0
"""The same if no schedule starts another pass."""
FIRST_SECONDS = 3.0
"""The same if the marketplace has never answered: the address may be wrong."""

_SERVER_FAULT = 500
_FIRST_DELAY, _LONGEST_DELAY = 0.05, 2.0
_WARN_AFTER = 1.0
"""Seconds of an outage after which it is logged."""
_CONTEXT = "unheard_since"
_LOG = logging.getLogger(__name__)


class Outage:
    """How long a marketplace has been unreachable, shared by all threads of a client.

    Args:
        endpoint: URL of the marketplace, for messages.
        patience_seconds: how long to wait during an outage; `None`: the default.
        now: returns a monotonic time in seconds.
    """

    def __init__(
        self,
        endpoint: str,
        patience_seconds: float | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._endpoint, self._now = endpoint, now
        self._patience = PATIENCE_SECONDS if patience_seconds is None else patience_seconds
        self._lock = Lock()
        self._since: float | None = None
        self._was_heard = self._is_announced = False

    def heard(self) -> None:
        """Record that the marketplace has answered."""
        with self._lock:
            if self._is_announced and self._since is not None:
                away = self._now() - self._since
                _LOG.warning("%s answers again, after %.0f s", self._endpoint, away)
            self._since, self._was_heard, self._is_announced = None, True, False

    def delay(self, context: dict[str, Any], attempts: int) -> float | None:
        """Return how long a failed call waits before the next try; `None`: give up.

        Args:
            context: the call's context, which keeps when it failed first. So a call
                that always fails is given up even while other calls succeed.
            attempts: how often it was tried.
        """
        with self._lock:
            now = self._now()
            self._since = now if self._since is None else self._since
            away = now - min(self._since, context.setdefault(_CONTEXT, now))
            most = self._patience if self._was_heard else FIRST_SECONDS
            left = min(most, self._patience) - away
            if left <= 0:
                return None
            if away >= _WARN_AFTER and not self._is_announced:
                self._is_announced = True
                _LOG.warning("%s does not answer; waiting for at most %.0f s", self._endpoint, left)
        growing = _FIRST_DELAY * 2.0 ** min(attempts, 10)
        return float(min(growing, _LONGEST_DELAY, left))


def is_cut(headers: Mapping[str, str], body: bytes) -> bool:
    """Whether a reply is incomplete because its sender died meanwhile.

    botocore treats the part as the whole.
    """
    length = headers.get("content-length", "")
    return length.isdecimal() and len(body) < int(length)


def wait_for_the_marketplace(
    events: Any,  # noqa: ANN401 - botocore's emitter
    outage: Outage,
) -> None:
    """Let a botocore client repeat unanswered calls until the time limit.

    Answered calls are left to botocore, throttled ones to `piecework.platforms.pace`.
    """

    def again(
        response: tuple[Any, Mapping[str, Any]] | None,
        caught_exception: Exception | None,
        request_dict: dict[str, Any],
        attempts: int,
        **_: object,
    ) -> float | bool | None:
        is_away = isinstance(caught_exception, NotConnected | HTTPClientError)
        is_away &= not isinstance(caught_exception, SSLError)
        if response is not None:
            answer = response[0]
            is_away = answer.status_code >= _SERVER_FAULT
            is_away |= is_cut(answer.headers, answer.content)
        if is_away:
            delay = outage.delay(request_dict["context"], attempts)
            # False, not None: no other handler may retry it.
            return False if delay is None else delay
        if response is not None:
            outage.heard()
        return None

    events.register_first("needs-retry.mturk", again)
