"""How long people need for waiting decisions, and when the marketplace pays first."""

from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median

from piecework.campaign.opened import OpenedCampaign
from piecework.store import assignments, decisions, reviews

_BREAK = timedelta(minutes=10)
"""A longer time between two acts counts as a break."""
_LEAST = 3
"""The fewest gaps between acts from which a pace is estimated."""


def seconds_left(opened: OpenedCampaign) -> int:
    """Return what one person needs for all that waits, at the pace so far; 0: unknown.

    The time of an act is the time since the same reviewer's previous act. The pace is
    the median of these times.
    """
    gaps = [
        (later - earlier).total_seconds()
        for moments in reviews.moments(opened.store).values()
        for earlier, later in pairwise(moments)
        if timedelta(0) < later - earlier <= _BREAK
    ]
    if len(gaps) < _LEAST:
        return 0
    return round(median(gaps) * decisions.count_cards(opened.store))


def pays_itself_at(opened: OpenedCampaign) -> datetime | None:
    """Return when the marketplace auto-approves the first assignment that waits.

    `None` if no assignment waits, or no marketplace is involved.
    """
    if opened.is_rehearsal or not opened.endpoint.startswith("http"):
        return None
    first = assignments.first_submitted(opened.store, decisions.proposed_assignments(opened.store))
    if first is None:
        return None
    delay = opened.campaign.posting.auto_approval_delay_seconds
    return first + timedelta(seconds=delay)
