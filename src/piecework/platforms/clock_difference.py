"""Compare this machine's clock with a marketplace's, as its replies show it.

Signatures contain a time, and a marketplace refuses those that are 15 minutes off. Its
own words for that are times in UTC without punctuation, and nothing is said of a clock
that is off by less. But deadlines and the times in a store come from both clocks.
"""

import logging
from collections.abc import Mapping
from datetime import UTC, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from piecework.domain.clock import Clock, SystemClock
from piecework.domain.errors import PlatformRefused

WARNED = timedelta(minutes=2)
"""Two clocks that are kept in time differ by much less, even with a slow reply."""
_BAD_SIGNATURE = "InvalidSignatureException"
_LOG = logging.getLogger(__name__)


def watch_clock(
    events: Any,  # noqa: ANN401 - botocore's emitter
    endpoint: str,
    clock: Clock | None = None,
) -> None:
    """Let a botocore client say once that the clocks differ by two minutes or more.

    A refused signature then raises a `PlatformRefused` that names both clocks.

    Args:
        events: of the client.
        endpoint: URL of the marketplace.
        clock: this machine's; `SystemClock` by default.
    """
    machine, warned = clock or SystemClock(), False

    def check(parsed: Mapping[str, Any], **_: object) -> None:
        nonlocal warned
        headers = parsed.get("ResponseMetadata", {}).get("HTTPHeaders", {})
        ahead = _ahead(machine, str(headers.get("date", "")))
        if abs(ahead) < WARNED:
            return
        words = f"this machine's clock is {_spoken(ahead)} {endpoint}'s"
        if parsed.get("Error", {}).get("Code") == _BAD_SIGNATURE:
            raise PlatformRefused(
                f"{words}, so it refuses this machine's calls",
                code=_BAD_SIGNATURE,
                next_step="set the clock that is wrong (`date -u` shows it), then run "
                "the same command again; nothing was changed",
            )
        if not warned:
            warned = True
            _LOG.warning(
                "%s; set the clock that is wrong (`date -u` shows it): from 15 minutes "
                "on, calls are refused",
                words,
            )

    events.register_first("after-call.mturk", check)


def _ahead(clock: Clock, date: str) -> timedelta:
    """Return by how much a clock is ahead of the header `Date`; zero without one."""
    try:
        theirs = parsedate_to_datetime(date)
    except ValueError:
        return timedelta(0)
    return clock.now() - theirs.replace(tzinfo=theirs.tzinfo or UTC)


def _spoken(ahead: timedelta) -> str:
    """Return a difference in words.

    >>> _spoken(timedelta(minutes=-61))
    '61 minutes behind'
    """
    minutes = round(abs(ahead).total_seconds() / 60)
    return f"{minutes} minutes {'ahead of' if ahead > timedelta(0) else 'behind'}"
