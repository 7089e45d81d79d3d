"""Moments and values as the store's columns hold them."""

from datetime import UTC, datetime


def to_text(moment: datetime) -> str:
    """A moment as ISO 8601 text in UTC, which sorts as time does.

    >>> to_text(datetime(2026, 1, 5, 9, tzinfo=UTC))
    '2026-01-05T09:00:00.000000+00:00'
    """
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def from_text(text: str) -> datetime:
    """The moment that `to_text` wrote."""
    return datetime.fromisoformat(text)
