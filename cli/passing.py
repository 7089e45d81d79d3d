"""Runs the flows that make passes, and gives their progress back as a value."""

from pathlib import Path

from prefect import tags

from domain.progress import Progress
from flows.advance import advance, run
from flows.steps.progress import progress
from flows.wiring import load_campaign, market_place, stored_place


def run_passes(
    campaign: Path, endpoint: str, *, live: bool, poll_seconds: float
) -> Progress:
    """Run the flow `run` in this process."""
    name = _check_first(campaign, endpoint, live=live)
    with tags("piecework", name):
        run(str(campaign), endpoint, live=live, poll_seconds=poll_seconds)
    return _progress(campaign)


def advance_once(campaign: Path, endpoint: str, *, live: bool) -> Progress:
    """Run the flow `advance` in this process."""
    name = _check_first(campaign, endpoint, live=live)
    with tags("piecework", name):
        advance(str(campaign), endpoint, live=live)
    return _progress(campaign)


def _check_first(campaign: Path, endpoint: str, *, live: bool) -> str:
    """Say what is wrong before a Prefect server starts; the campaign's name."""
    with market_place(load_campaign(campaign), endpoint, live=live) as place:
        return place.campaign.name


def _progress(campaign: Path) -> Progress:
    with stored_place(load_campaign(campaign)) as place:
        return progress(place)
