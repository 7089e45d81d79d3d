"""Expire the live HITs of a stopped campaign, and drop its planned ones.

In a campaign that grows, the same is done to HITs with a row that was withdrawn or
replaced. Submitted answers stay.
"""

from piecework.campaign.opened import CampaignRun
from piecework.engine import stopping
from piecework.engine.reader import Reader
from piecework.engine.step import Step


def due(reader: Reader) -> bool:
    """Return whether there are HITs to expire or plans to drop."""
    snapshot = reader.snapshot()
    if snapshot.stopped:
        return snapshot.winding_down
    return snapshot.growing is not None and stopping.shows_withdrawn(reader.opened.store)


def act(run: CampaignRun, _due: bool) -> int:  # noqa: FBT001 - the value of `due`
    """End these HITs; return how many were expired."""
    if stopping.is_stopped(run.store):
        return stopping.wind_down(run)
    return stopping.end_withdrawn(run)


wind_down = Step("wind down", due, act)
