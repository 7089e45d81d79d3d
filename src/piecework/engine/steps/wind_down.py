"""Expire the live HITs of a stopped campaign, and drop its planned ones."""

from piecework.campaign.opened import CampaignRun
from piecework.engine import stopping
from piecework.engine.reader import Reader
from piecework.engine.step import Step


def due(reader: Reader) -> bool:
    """Return whether a stopped campaign has HITs to expire or plans to drop."""
    snapshot = reader.snapshot()
    return snapshot.stopped and snapshot.winding_down


def act(run: CampaignRun, _due: bool) -> int:  # noqa: FBT001 - the value of `due`
    """Wind the campaign down; return how many HITs were expired."""
    return stopping.wind_down(run)


wind_down = Step("wind down", due, act)
