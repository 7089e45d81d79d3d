"""Waiting for a marketplace that is away: so long for each outage, not for each call.

A marketplace is restarted, a network breaks for a minute. botocore gives up a call
after six tries, and all calls of a client after some fifty together, which is three
seconds where many are under way. Every call may be made again
(`piecework.store.acting`), so all of them wait together until the marketplace answers
or patience is at its end.
"""

import logging
import time
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

from botocore.exceptions import ConnectionError as NotConnected
from botocore.exceptions import HTTPClientError, SSLError

PATIENCE_SECONDS = 30.0
"""How long an outage is waited for; then a schedule's next pass may find it ended."""
LONG_PATIENCE_SECONDS = 600.0
"""The same where nobody starts another pass."""
FIRST_SECONDS = 3.0
"""How long, if the marketplace was never heard: the address may be wrong."""

_SERVER_FAULT = 500
_FIRST_DELAY, _LONGEST_DELAY = 0.05, 2.0
_SAID_AFTER = 1.0
"""Seconds of an outage after which it is said that it is waited for."""
_CONTEXT = "unheard_since"
_LOG = logging.getLogger(__name__)


class Outage:
    """How long a marketplace has been away; shared by all threads of a client.

    Args:
        endpoint: URL of the marketplace, to be named.
        patience_seconds: how long an outage is waited for; `None`: as usual.
        now: gives a moment in seconds that only grows.
    """

    def __init__(
        self,
        endpoint: str,
        patience_seconds: float | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._endpoint, self._now = endpoint, now
        self._patience = (
            PATIENCE_SECONDS if patience_seconds is None else patience_seconds
        )
        self._lock = Lock()
        self._since: float | None = None
        self._was_heard = self._is_said = False

    def heard(self) -> None:
        """Note that the marketplace has answered."""
        with self._lock:
            if self._is_said and self._since is not None:
                away = self._now() - self._since
                _LOG.warning("%s answers again, after %.0f s", self._endpoint, away)
            self._since, self._was_heard, self._is_said = None, True, False

    def delay(self, context: dict[str, Any], attempts: int) -> float | None:
        """How long a failed call waits before it is made again; `None`: no more.

        Args:
            context: of the call; keeps when it failed first. While other calls are
                answered, one that always fails is given up by that.
            attempts: how often it was made.
        """
        with self._lock:
            now = self._now()
            self._since = now if self._since is None else self._since
            away = now - min(self._since, context.setdefault(_CONTEXT, now))
            most = self._patience if self._was_heard else FIRST_SECONDS
            left = min(most, self._patience) - away
            if left <= 0:
                return None
            if away >= _SAID_AFTER and not self._is_said:
                self._is_said = True
                _LOG.warning(
                    "%s does not answer; waiting for it, %.0f s at most",
                    self._endpoint,
                    left,
                )
        growing = _FIRST_DELAY * 2.0 ** min(attempts, 10)
        return float(min(growing, _LONGEST_DELAY, left))


def is_cut(headers: Mapping[str, str], body: bytes) -> bool:
    """Whether an answer ends before its end: who sent it died meanwhile.

    botocore takes what came for all there was.
    """
    length = headers.get("content-length", "")
    return length.isdecimal() and len(body) < int(length)


def wait_for_the_marketplace(
    events: Any,  # noqa: ANN401 - botocore's emitter
    outage: Outage,
) -> None:
    """Let a botocore client repeat what was not answered for as long as there is hope.

    What is answered, and what is throttled (`piecework.platforms.pace`), is left to
    others.
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
            # False, and not None: nobody else is to try it again.
            return False if delay is None else delay
        if response is not None:
            outage.heard()
        return None

    events.register_first("needs-retry.mturk", again)
