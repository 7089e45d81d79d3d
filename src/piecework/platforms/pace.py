"""One rate for all calls of a client: as fast as the platform allows.

MTurk throttles without a published rate, so the rate is learned. Calls are not delayed
until the first one is throttled. From then on calls leave one after the other at the
rate that recently succeeded. It slowly grows while no call is throttled and falls when
one is. boto3's own adaptive mode reached only three quarters of a steady limit
(docs/decisions/pace.md).
"""

import time
from collections import deque
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

THROTTLED = frozenset({"ThrottlingException", "Throttling", "TooManyRequestsException", "SlowDown"})
"""Error codes that ask a client to be slower."""

_WINDOW = 1.0
"""Seconds over which successful calls are counted, if there are enough."""
_OLD = 20.0
"""Seconds after which a call is no longer used to estimate the rate."""
_SETTLE = 0.25
"""Seconds after a fall in which further throttled calls count as the same event."""
_CREEP = 0.05
"""Share by which the rate grows per second."""
_SEARCH = 0.1
"""Share by which it grows per call, until enough calls succeeded to know a rate."""
_FALL = 0.85
"""The lowest factor by which a known rate falls at once."""
_TELLING = 10
"""Number of successful calls that determine a rate."""
_ABOVE = 1.03
"""Target factor above the successful rate; below 1, a limit would never be reached."""
_LEAST = 0.5
"""The lowest rate, in calls per second."""
_PATIENCE = 40
"""Throttled attempts of one call after which it is given up."""


class Pace:
    """A rate that is learned from throttling, shared by all threads of a client.

    Args:
        now: returns a monotonic time in seconds.
        sleep: waits for a number of seconds.
    """

    def __init__(
        self, now: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._now, self._sleep = now, sleep
        self._lock, self._turn = Lock(), Lock()
        self._through: deque[float] = deque()
        self._next = 0.0
        self._grown_at = self._fell_at = -_WINDOW
        self._left = 0
        self._is_searching = True
        self.rate: float | None = None

    def wait(self) -> None:
        """Wait until the next call may leave."""
        if self.rate is None:
            self._left += 1
            return
        # One thread waits for its time, all others for their turn, so a changed rate
        # applies to all of them.
        with self._turn:
            early = self._next - self._now()
            if early > 0:
                self._sleep(early)
            with self._lock:
                now = self._now()
                # Only a rate that calls wait for can grow.
                if early > 0:
                    self._grow(now)
                self._grown_at = now
                self._next = now + 1 / self.rate

    def heard(self, *, throttled: bool) -> None:
        """Learn from one reply."""
        with self._lock:
            now = self._now()
            self._forget(now)
            if not throttled:
                self._through.append(now)
            elif now - self._fell_at > _SETTLE:
                self._fall(now)

    def _grow(self, now: float) -> None:
        rate, quiet = self.rate or _LEAST, now - self._fell_at
        # The longer no call was throttled, the further the limit may have moved.
        calm = min(quiet / _SETTLE, quiet * rate / _TELLING)
        creep = _CREEP * (now - self._grown_at) * max(1.0, calm)
        self.rate = rate * (1 + (_SEARCH if self._is_searching else creep))

    def _fall(self, now: float) -> None:
        since = max(now - self._through[0], _SETTLE) if self._through else _SETTLE
        rate = _ABOVE * len(self._through) / since
        if self.rate is None and len(self._through) < _TELLING:
            # No rate is known yet: assume that the calls so far are allowed per second.
            rate = max(rate, self._left)
        if self.rate is not None:
            self._is_searching &= len(self._through) < _TELLING
            least = 0 if self._is_searching else _FALL * self.rate
            rate = min(max(rate, least), self.rate)
        self.rate = max(rate, _LEAST)
        self._fell_at = self._grown_at = now

    def _forget(self, now: float) -> None:
        calls = self._through
        while calls and (
            calls[0] < now - _OLD or (len(calls) > _TELLING and calls[0] < now - _WINDOW)
        ):
            calls.popleft()


def keep_pace(events: Any, pace: Pace) -> None:  # noqa: ANN401 - botocore's emitter
    """Let every attempt of a botocore client, including retries, keep a pace."""

    def wait(**_: object) -> None:
        pace.wait()

    def hear(parsed_response: Mapping[str, Any] | None, **_: object) -> None:
        if parsed_response is not None:
            pace.heard(throttled=_is_throttled(parsed_response))

    def again(
        response: tuple[object, Mapping[str, Any]] | None, attempts: int, **_: object
    ) -> float | None:
        # The pace decides when, so the retry itself has no delay.
        is_throttled = response is not None and _is_throttled(response[1])
        return 0 if is_throttled and attempts < _PATIENCE else None

    # Before the request is signed, because a signature contains the time.
    events.register_first("request-created.mturk", wait)
    events.register("response-received.mturk", hear)
    events.register_first("needs-retry.mturk", again)


def _is_throttled(parsed: Mapping[str, Any]) -> bool:
    return parsed.get("Error", {}).get("Code") in THROTTLED
