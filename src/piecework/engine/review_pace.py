"""How long people need for what waits, and when the marketplace would pay by itself."""

from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median

from piecework.campaign.opened import OpenedCampaign
from piecework.store import assignments, decisions, reviews

_BREAK = timedelta(minutes=10)
"""A longer time between two acts is no time of looking."""
_LEAST = 3
"""Acts without which nothing is said of a pace."""


def seconds_left(opened: OpenedCampaign) -> int:
    """What one person needs for all that waits, at the pace so far; 0: not known.

    The time of an act is that since the same reviewer's act before; of all, the median.
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
    """When the marketplace approves the first of the assignments that wait.

    `None` if none waits, or no marketplace would.
    """
    if opened.is_rehearsal or not opened.endpoint.startswith("http"):
        return None
    first = assignments.first_submitted(
        opened.store, decisions.proposed_assignments(opened.store)
    )
    if first is None:
        return None
    delay = opened.campaign.posting.auto_approval_delay_seconds
    return first + timedelta(seconds=delay)
