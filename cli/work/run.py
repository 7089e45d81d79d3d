"""Runs the flows that make passes, and gives their progress back as a value."""

from pathlib import Path

from prefect import tags

from cli.work.consent import leave_to_spend
from domain.money import cents_to_wire
from domain.progress import Progress
from flows.advance import advance, run
from flows.assembling import load_campaign
from flows.orders import Orders
from flows.steps.caps import check_caps
from flows.steps.progress import progress
from flows.wiring import market_place, stored_place


def run_passes(
    campaign: Path,
    endpoint: str,
    *,
    live: bool,
    poll_seconds: float,
    spend_at_most: str | None,
    anew: bool,
) -> Progress:
    """Run the flow `run` in this process."""
    name = _check_first(
        campaign, endpoint, live=live, spend_at_most=spend_at_most, anew=anew
    )
    with tags("piecework", name):
        run(str(campaign), endpoint, live=live, poll_seconds=poll_seconds)
    return _progress(campaign)


def advance_in_prefect(orders: Orders, *, harvest: bool) -> Progress:
    """Run the flow `advance` in this process, recorded by the server that is set."""
    cents = orders.spend_at_most_cents
    with tags("piecework", orders.campaign.stem):
        advance(
            str(orders.campaign.resolve()),
            orders.endpoint,
            live=orders.live,
            spend_at_most="" if cents is None else cents_to_wire(cents),
            rehearsal=orders.rehearsal,
            anew=orders.anew,
            harvest=harvest,
        )
    return _progress(orders.campaign)


def _check_first(
    campaign: Path,
    endpoint: str,
    *,
    live: bool,
    spend_at_most: str | None,
    anew: bool,
) -> str:
    """Say what is wrong, and ask, before a Prefect server starts; the campaign's name.

    What was agreed to is written down here, so that the flow finds it in the store.
    """
    allowed = leave_to_spend(campaign, endpoint, live=live, spend_at_most=spend_at_most)
    with market_place(
        load_campaign(campaign),
        endpoint,
        live=live,
        spend_at_most_cents=allowed,
        anew=anew,
    ) as place:
        check_caps(place.campaign, at=place.clock.now())
        return place.campaign.name


def _progress(campaign: Path) -> Progress:
    with stored_place(load_campaign(campaign)) as place:
        return progress(place)
