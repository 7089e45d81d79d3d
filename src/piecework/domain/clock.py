"""Clocks, and the zones in which people read them.

A rehearsal runs in virtual time and a test sets its own time; only `SystemClock` reads
the machine's clock.

Abbreviations are not unique. A few stand for zones hours apart; `AMBIGUOUS` lists
these, so that a report can name what else they may mean.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Protocol
from zoneinfo import ZoneInfo


class Clock(Protocol):
    """Tells the time, always timezone-aware and in UTC."""

    def now(self) -> datetime:
        """Return the current time."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the machine's current time, in UTC."""
        return datetime.now(UTC)  # noqa: TID251 - the only place that may


class FixedClock:
    """A clock that stands still until its time is set."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def now(self) -> datetime:
        """Return the time that was set last."""
        return self.moment


class MonotonicClock:
    """A clock that continues from the latest known time if it is set back.

    Times determine the order of events in a campaign, so they must not run backwards
    when a machine's clock is corrected. A recorded time more than two days ahead was
    itself an error and is ignored.

    Args:
        clock: tells the real time.
        latest: the latest time that was recorded, if any.
    """

    LONGEST = timedelta(days=2)

    def __init__(self, clock: Clock, latest: datetime | None) -> None:
        self._clock, self._latest = clock, latest

    def now(self) -> datetime:
        """Return the current time, or a microsecond after the previous result."""
        moment, latest = self._clock.now(), self._latest
        if latest is not None and moment < latest <= moment + self.LONGEST:
            moment = latest + timedelta(microseconds=1)
        self._latest = moment
        return moment

    def wall_time(self) -> datetime:
        """Return the current time of the underlying clock."""
        return self._clock.now()


def wall_time(clock: Clock) -> datetime:
    """Return the real current time, also for a `MonotonicClock`."""
    return clock.wall_time() if isinstance(clock, MonotonicClock) else clock.now()


_MINUTES: Mapping[str, int] = {
    "UTC": 0,
    "GMT": 0,
    "Z": 0,
    "UCT": 0,
    "WET": 0,
    "PST": -480,
    "PDT": -420,
    "MST": -420,
    "MDT": -360,
    "CST": -360,
    "CDT": -300,
    "EST": -300,
    "EDT": -240,
    "AST": -240,
    "ADT": -180,
    "NST": -210,
    "NDT": -150,
    "AKST": -540,
    "AKDT": -480,
    "HST": -600,
    "SST": -660,
    "ChST": 600,
    "CET": 60,
    "CEST": 120,
    "MEZ": 60,
    "MESZ": 120,
    "MET": 60,
    "MEST": 120,
    "WEST": 60,
    "BST": 60,
    "EET": 120,
    "EEST": 180,
    "MSK": 180,
    "TRT": 180,
    "IST": 330,
    "PKT": 300,
    "NPT": 345,
    "GST": 240,
    "IRST": 210,
    "UZT": 300,
    "JST": 540,
    "KST": 540,
    "HKT": 480,
    "SGT": 480,
    "PHT": 480,
    "MYT": 480,
    "WIB": 420,
    "WITA": 480,
    "WIT": 540,
    "ICT": 420,
    "AWST": 480,
    "ACST": 570,
    "ACDT": 630,
    "AEST": 600,
    "AEDT": 660,
    "NZST": 720,
    "NZDT": 780,
    "BRT": -180,
    "BRST": -120,
    "ART": -180,
    "CLT": -240,
    "CLST": -180,
    "COT": -300,
    "PET": -300,
    "VET": -240,
    "BOT": -240,
    "UYT": -180,
    "AMT": -240,
    "SAST": 120,
    "CAT": 120,
    "EAT": 180,
    "WAT": 60,
}

AMBIGUOUS: Mapping[str, tuple[str, str]] = {
    "AMT": ("Amazonas, -04:00", "Armenia, +04:00"),
    "AST": ("the Atlantic, -04:00", "Arabia, +03:00"),
    "BST": ("Britain in summer, +01:00", "Bangladesh, +06:00"),
    "CST": ("Chicago, -06:00", "China, +08:00, or Cuba, -05:00"),
    "GST": ("the Gulf, +04:00", "South Georgia, -02:00"),
    "IST": ("India, +05:30", "Israel, +02:00, or Ireland, +01:00"),
    "SST": ("Samoa, -11:00", "Singapore, +08:00"),
}
"""By abbreviation: how it is read, and what else it may mean."""

_OFFSET = re.compile(r"(?:UTC|GMT)?([+-])(\d{1,2})(?::?(\d{2}))?(?::?00)?")


def zone_named(name: str) -> tzinfo:
    """Return a zone.

    Raises:
        ValueError: there is no such zone.

    >>> zone_named("+0530"), zone_named("GMT-03:00"), zone_named("CEST")
    ... # doctest: +NORMALIZE_WHITESPACE
    (datetime.timezone(datetime.timedelta(seconds=19800)),
     datetime.timezone(datetime.timedelta(days=-1, seconds=75600)),
     datetime.timezone(datetime.timedelta(seconds=7200)))
    """
    if name in _MINUTES:
        minutes = _MINUTES[name]
        return timezone(timedelta(minutes=minutes)) if minutes else UTC
    if match := _OFFSET.fullmatch(name):
        offset = timedelta(hours=int(match[2]), minutes=int(match[3] or 0))
        return timezone(-offset if match[1] == "-" else offset)
    try:
        if "/" in name:
            return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        pass
    raise ValueError(
        f"the zone {name[:40]!r} is not known; write an offset such as +02:00 or a "
        "name such as Europe/Berlin"
    )
