"""Expire what is live of a campaign that a person stopped; give up what is planned."""

from piecework.campaign.opened import CampaignRun
from piecework.engine import stopping
from piecework.engine.reader import Reader
from piecework.engine.step import Step


def due(reader: Reader) -> bool:
    """Whether a stopped campaign has HITs to expire or to give up."""
    snapshot = reader.snapshot()
    return snapshot.stopped and snapshot.winding_down


def act(run: CampaignRun, _due: bool) -> int:  # noqa: FBT001 - what `due` gives
    """Wind the campaign down; how many HITs were expired."""
    return stopping.wind_down(run)


wind_down = Step("wind down", due, act)
