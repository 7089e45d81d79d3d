"""One rhythm for all calls of a client: as fast as the platform lets them through.

MTurk throttles without a published rate, so the rate is learned. Nothing is held back
until the first throttled call; from then on calls leave one after the other at the rate
that got through lately, which creeps up while nothing is throttled and falls back when
something is. boto3's own adaptive mode was measured first: it reached three quarters of
a steady limit (docs/decisions/pace.md).
"""

import time
from collections import deque
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

THROTTLED = frozenset(
    {"ThrottlingException", "Throttling", "TooManyRequestsException", "SlowDown"}
)
"""Error codes that ask a client to be slower."""

_WINDOW = 1.0
"""Seconds over which it is measured what gets through, if that is enough to tell."""
_OLD = 20.0
"""Seconds after which a call tells nothing any more."""
_SETTLE = 0.25
"""Seconds after a fall in which further throttled calls are of the same crowd."""
_CREEP = 0.05
"""Share by which the rate grows in a second."""
_SEARCH = 0.1
"""Share by which it grows with a call, until enough got through to know a rate."""
_FALL = 0.85
"""How far it falls at most, at once, when it is known."""
_TELLING = 10
"""So many calls that got through tell a rate."""
_ABOVE = 1.03
"""How far above what gets through is aimed: below, a limit would never be met."""
_LEAST = 0.5
"""Calls a second that are tried in any case."""
_PATIENCE = 40
"""Throttled attempts of one call after which it is given up."""


class Pace:
    """A rate that is learned from throttling, shared by all threads of a client.

    Args:
        now: gives a moment in seconds that only grows.
        sleep: waits for so many seconds.
    """

    def __init__(
        self,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
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
        # One waits for its moment, all others for their turn: a rate that changes
        # meanwhile holds for all of them.
        with self._turn:
            early = self._next - self._now()
            if early > 0:
                self._sleep(early)
            with self._lock:
                now = self._now()
                # A rate that nobody waits for has nothing to prove.
                if early > 0:
                    self._grow(now)
                self._grown_at = now
                self._next = now + 1 / self.rate

    def heard(self, *, throttled: bool) -> None:
        """Learn from one answer."""
        with self._lock:
            now = self._now()
            self._forget(now)
            if not throttled:
                self._through.append(now)
            elif now - self._fell_at > _SETTLE:
                self._fall(now)

    def _grow(self, now: float) -> None:
        rate, quiet = self.rate or _LEAST, now - self._fell_at
        # The longer nothing was throttled, the further the limit may have moved.
        calm = min(quiet / _SETTLE, quiet * rate / _TELLING)
        creep = _CREEP * (now - self._grown_at) * max(1.0, calm)
        self.rate = rate * (1 + (_SEARCH if self._is_searching else creep))

    def _fall(self, now: float) -> None:
        since = max(now - self._through[0], _SETTLE) if self._through else _SETTLE
        rate = _ABOVE * len(self._through) / since
        if self.rate is None and len(self._through) < _TELLING:
            # Nothing is known yet: what left at once may do in a second.
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
            calls[0] < now - _OLD
            or (len(calls) > _TELLING and calls[0] < now - _WINDOW)
        ):
            calls.popleft()


def keep_pace(events: Any, pace: Pace) -> None:  # noqa: ANN401 - botocore's emitter
    """Let every attempt of a botocore client, repeated ones too, keep a pace."""

    def wait(**_: object) -> None:
        pace.wait()

    def hear(parsed_response: Mapping[str, Any] | None, **_: object) -> None:
        if parsed_response is not None:
            pace.heard(throttled=_is_throttled(parsed_response))

    def again(
        response: tuple[object, Mapping[str, Any]] | None, attempts: int, **_: object
    ) -> float | None:
        # The pace says when; so the repeat need not wait by itself.
        is_throttled = response is not None and _is_throttled(response[1])
        return 0 if is_throttled and attempts < _PATIENCE else None

    # Before the request is signed: a signature has a moment.
    events.register_first("request-created.mturk", wait)
    events.register("response-received.mturk", hear)
    events.register_first("needs-retry.mturk", again)


def _is_throttled(parsed: Mapping[str, Any]) -> bool:
    return parsed.get("Error", {}).get("Code") in THROTTLED
