"""Parse times as other tools write them, to UTC.

Some spellings need knowledge that a cell does not hold: whether 03/04/2017 is in March
or in April, which zone IST is, which zone a time without a zone is in. `TimesSeen`
collects what a file shows about it, `Times` is how the file is read.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, tzinfo

from piecework.domain.clock import AMBIGUOUS, zone_named
from piecework.domain.imported import Times

MONTHS = (*("Jan", "Feb", "Mar", "Apr", "May", "Jun"), *("Jul", "Aug", "Sep", "Oct", "Nov", "Dec"))
_NUMBER = re.compile(r"\d{9,17}(\.\d+)?")
_CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})"
    r"(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?"
)
_ZONE = r"(?: ?(?P<zone>[+-]\d{1,2}(?::?\d{2})?|[A-Za-z][\w/+:-]{0,60}))?"
_MONTH = r"(?P<month>[A-Za-z]{3})[a-z]{0,6}\.?"
_DAY = r"(?:[A-Za-z]{2,9}\.?,? )?"
_UNIX = re.compile(rf"{_DAY}{_MONTH} (?P<day>\d{{1,2}}) {_CLOCK}{_ZONE} (?P<year>\d{{4}})")
_IN_WORDS = (
    re.compile(rf"{_DAY}{_MONTH} (?P<day>\d{{1,2}}),? (?P<year>\d{{4}}),? {_CLOCK}{_ZONE}"),
    re.compile(rf"{_DAY}(?P<day>\d{{1,2}})[ -]{_MONTH}[ -](?P<year>\d{{4}}),? {_CLOCK}{_ZONE}"),
)
_YEAR_FIRST = re.compile(
    rf"(?P<year>\d{{4}})(?P<between>[/.-])(?P<month>\d{{1,2}})(?P=between)"
    rf"(?P<day>\d{{1,2}})(?:(?:[ T]|, ){_CLOCK}{_ZONE})?"
)
_YEAR_LAST = re.compile(
    r"(?P<first>\d{1,2})(?P<between>[/.-])(?P<second_number>\d{1,2})(?P=between)"
    rf"(?P<year>\d{{4}}|\d{{2}})(?:(?:[ T]|, ){_CLOCK}{_ZONE})?"
)
_MILLISECONDS = 1e11
_NOON = 12
_MONTHS_A_YEAR = 12
_THIS_CENTURY = 2000
_YEAR_DIGITS = 2
_LONGEST = 100
_EXAMPLES = 3

ALLOWED = (
    "'Sat Apr 20 16:20:50 CDT 2019', '2019-04-20T21:20:50Z', '4/20/2019 16:20', "
    "'20.04.2019 16:20' or seconds since 1970"
)


def moment(text: str, times: Times = Times()) -> datetime | None:  # noqa: B008 - immutable
    """Return the time in a cell, in UTC; `None` if the cell is empty.

    Args:
        text: the cell.
        times: how the file writes times.

    Raises:
        ValueError: it is not a time; the message says what was found and is allowed.

    >>> moment("Sat Apr 20 16:20:50 CDT 2019").isoformat()
    '2019-04-20T21:20:50+00:00'
    >>> moment("2018-02-13 11:09:25-08:00").isoformat()
    '2018-02-13T19:09:25+00:00'
    >>> moment("13.02.2017 10:00", Times(zone="Europe/Berlin")).isoformat()
    '2017-02-13T09:00:00+00:00'
    >>> moment("1555795251970").isoformat(timespec="seconds")
    '2019-04-20T21:20:51+00:00'
    """
    text = text.strip()
    if not text:
        return None
    try:
        return _moment(text, times).astimezone(UTC)
    except _UnclearError as fault:
        raise ValueError(f"found the time {text[:80]!r}: {fault}") from fault
    except (ValueError, OverflowError, OSError) as fault:
        raise ValueError(f"found the time {text[:80]!r}; write times such as {ALLOWED}") from fault


class _UnclearError(ValueError):
    """A time that a statement about the file would make readable."""


def _moment(text: str, times: Times) -> datetime:
    if _NUMBER.fullmatch(text):
        seconds = float(text)
        if seconds > _MILLISECONDS:
            seconds /= 1000
        return datetime.fromtimestamp(seconds, tz=UTC)
    if len(text) > _LONGEST:
        raise ValueError("longer than any time")
    if match := _in_words(text):
        name = match["month"].capitalize()
        month = MONTHS.index(name) + 1
        return _at(match, date(int(match["year"]), month, int(match["day"])), times)
    if match := _YEAR_LAST.fullmatch(text):
        return _at(match, _year_last(match, times), times)
    if match := _YEAR_FIRST.fullmatch(text):
        numbers = (int(match[name]) for name in ("year", "month", "day"))
        return _at(match, date(*numbers), times)
    parsed = datetime.fromisoformat(text)
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=_zone("", times))


def _in_words(text: str) -> re.Match[str] | None:
    matches = (pattern.fullmatch(text) for pattern in (_UNIX, *_IN_WORDS))
    return next(filter(None, matches), None)


def _year_last(match: re.Match[str], times: Times) -> date:
    first, second, year = (int(match[name]) for name in ("first", "second_number", "year"))
    if len(match["year"]) == _YEAR_DIGITS:
        year += _THIS_CENTURY
    is_day_first = times.day_first
    if match["between"] == ".":
        is_day_first = True
    elif is_day_first is None and max(first, second) > _MONTHS_A_YEAR:
        is_day_first = first > _MONTHS_A_YEAR
    elif is_day_first is None:
        # Even 3/3: a file is refused if only some of its rows can be read.
        raise _UnclearError(
            "it may have the day or the month first; state day_first = true or day_first = false"
        )
    day, month = (first, second) if is_day_first else (second, first)
    return date(year, month, day)


def _at(match: re.Match[str], day: date, times: Times) -> datetime:
    zone = _zone(match["zone"] or "", times)
    hour, half = int(match["hour"] or 0), match["half"]
    if half:
        hour = hour % _NOON + _NOON * (half in "Pp")
    clock = time(
        hour,
        int(match["minute"] or 0),
        int(match["second"] or 0),
        int((match["fraction"] or "0").ljust(6, "0")[:6]),
    )
    return datetime.combine(day, clock, tzinfo=zone)


def _zone(name: str, times: Times) -> tzinfo:
    name = times.zones.get(name, name) or times.zone or "UTC"
    try:
        return zone_named(name)
    except ValueError as fault:
        raise _UnclearError(f'{fault}; state zones = {{ {name[:40]} = "+02:00" }}') from fault


@dataclass(slots=True)
class TimesSeen:
    """What the cells of a file show about how it writes times.

    Attributes:
        day_first: dates whose first number cannot be a month.
        month_first: dates whose second number cannot be a month.
        unclear: examples of dates that may be read in both ways.
        zones: how often each zone was named; "": none.
    """

    day_first: int = 0
    month_first: int = 0
    unclear: list[str] = field(default_factory=list)
    zones: Counter[str] = field(default_factory=Counter)

    def see(self, cell: str) -> None:
        """Count a cell, if it is a date with a time."""
        text = cell.strip()
        if not text[: _LONGEST + 1] or len(text) > _LONGEST or ":" not in text:
            return
        match = _in_words(text)
        if match is None and (match := _YEAR_LAST.fullmatch(text)):
            self._see_order(text, match)
        match = match or _YEAR_FIRST.fullmatch(text)
        if match:
            self.zones[match["zone"] or ""] += 1

    def _see_order(self, text: str, match: re.Match[str]) -> None:
        first, second = int(match["first"]), int(match["second_number"])
        if match["between"] == ".":
            return
        if max(first, second) <= _MONTHS_A_YEAR:
            if len(self.unclear) < _EXAMPLES:
                self.unclear.append(text)
        elif first > _MONTHS_A_YEAR:
            self.day_first += 1
        else:
            self.month_first += 1

    def order(self) -> bool | None:
        """Return whether dates have the day first; `None` if they do not show it."""
        if bool(self.day_first) == bool(self.month_first):
            return None
        return bool(self.day_first)

    def guesses(self, times: Times) -> Iterator[tuple[str, str]]:
        """Yield what was guessed about times, and the line that states otherwise.

        Args:
            times: how they are read.
        """
        if self.unclear and times.day_first is not None:
            order = "day" if times.day_first else "month"
            other = "false" if times.day_first else "true"
            yield (
                f"dates such as {self.unclear[0]} have the {order} first",
                f"day_first = {other}",
            )
        if self.zones[""] and not times.zone:
            yield "times without a zone are in UTC", 'zone = "Europe/Berlin"'
        for name in sorted(self.zones.keys() & AMBIGUOUS.keys() - times.zones.keys()):
            meant, others = AMBIGUOUS[name]
            yield (
                f"times in {name} are in the zone of {meant}, not of {others}",
                f'zones = {{ {name} = "+02:00" }}',
            )
