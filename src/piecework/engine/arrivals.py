"""How much of a source has arrived; in a rehearsal, so far."""

from datetime import datetime, timedelta

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.growing import Growth
from piecework.store.source import Reading

_DAY = timedelta(days=1)


def next_rows_at(opened: OpenedCampaign, known: Reading) -> datetime | None:
    """Return when more rows of a rehearsal's source arrive; `None`: not known."""
    growth = opened.campaign.growth
    if (
        growth is None
        or growth.a_day is None
        or not opened.is_rehearsal
        or known.began_at is None
        or (known.fingerprint or "").endswith(" all")
    ):
        return None
    days = (opened.clock.now() - known.began_at) // _DAY
    return known.began_at + (days + 1) * _DAY


def as_read(
    opened: OpenedCampaign, growth: Growth, known: Reading, fingerprint: str
) -> tuple[str, str]:
    """Return the fingerprint with what a reading depends on: so far, and at the end."""
    most = arrived(opened, growth, known)
    whole = f"{growth.settings} {fingerprint} all"
    return (whole if most is None else f"{growth.settings} {fingerprint} {most}"), whole


def arrived(opened: OpenedCampaign, growth: Growth, known: Reading) -> int | None:
    """Return how many rows of the source a rehearsal has by now; `None`: all."""
    if growth.a_day is None or not opened.is_rehearsal:
        return None
    now = opened.clock.now()
    return growth.a_day * (1 + (now - (known.began_at or now)) // _DAY)
