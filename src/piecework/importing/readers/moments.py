"""Parse times as other tools write them, to UTC."""

import re
from datetime import UTC, datetime, timedelta, timezone

OFFSET_HOURS = {
    "PST": -8,
    "PDT": -7,
    "MST": -7,
    "MDT": -6,
    "CST": -6,
    "CDT": -5,
    "EST": -5,
    "EDT": -4,
    "UTC": 0,
    "GMT": 0,
}
MONTHS = (
    *("Jan", "Feb", "Mar", "Apr", "May", "Jun"),
    *("Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
)
_NUMBER = re.compile(r"\d{9,17}(\.\d+)?")
_AMERICAN = re.compile(
    r"(\d{1,2})/(\d{1,2})/(\d{2}|\d{4}),? (\d{1,2}):(\d{2})(?::(\d{2}))?"
    r"(?: ?([AaPp])[Mm])?"
)
_MILLISECONDS = 1e11
_NOON = 12
_THIS_CENTURY = 2000
_YEAR_DIGITS = 2

ALLOWED = (
    "'Sat Apr 20 16:20:50 CDT 2019', '2019-04-20T21:20:50Z', '4/20/2019 16:20' (the "
    "month first) or seconds since 1970"
)


def moment(text: str) -> datetime | None:
    """Return the time in a cell, in UTC; `None` if the cell is empty.

    A time without a zone is in UTC.

    Raises:
        ValueError: it is not a time; the message says what was found and is allowed.

    >>> moment("Sat Apr 20 16:20:50 CDT 2019").isoformat()
    '2019-04-20T21:20:50+00:00'
    >>> moment("2018-02-13 11:09:25-08:00").isoformat()
    '2018-02-13T19:09:25+00:00'
    >>> moment("1555795251970").isoformat(timespec="seconds")
    '2019-04-20T21:20:51+00:00'
    """
    text = text.strip()
    if not text:
        return None
    try:
        return _moment(text).astimezone(UTC)
    except (ValueError, KeyError, OverflowError, OSError) as fault:
        raise ValueError(
            f"found the time {text[:80]!r}; write times such as {ALLOWED}"
        ) from fault


def _moment(text: str) -> datetime:
    if _NUMBER.fullmatch(text):
        seconds = float(text)
        if seconds > _MILLISECONDS:
            seconds /= 1000
        return datetime.fromtimestamp(seconds, tz=UTC)
    if match := _AMERICAN.fullmatch(text):
        return _american(match)
    parts = text.split()
    if len(parts) == len(("Sat", "Apr", "20", "16:20:50", "CDT", "2019")):
        return _of_unix_date(parts)
    parsed = datetime.fromisoformat(text.removesuffix(" UTC"))
    return parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)


def _american(match: re.Match[str]) -> datetime:
    month, day, year, hour, minute = (int(match[n]) for n in range(1, 6))
    if len(match[3]) == _YEAR_DIGITS:
        year += _THIS_CENTURY
    if half := match[7]:
        hour = hour % _NOON + _NOON * (half in "Pp")
    return datetime(year, month, day, hour, minute, int(match[6] or 0), tzinfo=UTC)


def _of_unix_date(parts: list[str]) -> datetime:
    # Month names are English regardless of the machine's locale.
    _, month, day, clock, zone, year = parts
    hour, minute, second = map(int, clock.split(":"))
    local = timezone(timedelta(hours=OFFSET_HOURS[zone]))
    return datetime(
        int(year),
        MONTHS.index(month) + 1,
        int(day),
        hour,
        minute,
        second,
        tzinfo=local,
    )
