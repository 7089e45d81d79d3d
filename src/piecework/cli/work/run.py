"""Runs the flows that make passes, and gives their progress back as a value."""

import logging
from pathlib import Path

from prefect import tags

from piecework.campaign.assembling import load_campaign
from piecework.campaign.caps import check_caps
from piecework.cli.prefect_server import TemporaryServer
from piecework.cli.work.consent import consent_to_spend
from piecework.domain.campaign import Campaign
from piecework.domain.counts import plural
from piecework.domain.progress import Progress
from piecework.engine.opening import open_on_marketplace, open_to_look
from piecework.engine.pass_request import PassRequest
from piecework.engine.progress import read_progress
from piecework.flows.advance import flow_of, run

_LOG = logging.getLogger(__name__)


def run_passes(
    campaign: Path,
    endpoint: str,
    *,
    live: bool,
    poll_seconds: float,
    spend_at_most: str | None,
    allow_second_store: bool,
    server: TemporaryServer,
) -> Progress:
    """Run the flow `run` in this process."""
    loaded = _check_first(
        campaign,
        endpoint,
        live=live,
        spend_at_most=spend_at_most,
        allow_second_store=allow_second_store,
    )
    _LOG.info(
        "campaign %s: %s in %s on %s; store, dataset and report: %s",
        loaded.name,
        plural(len(loaded.items), "item"),
        plural(loaded.posting.batches, "batch", "batches"),
        endpoint,
        loaded.out,
    )
    with server.in_use(), tags("piecework", loaded.name):
        run(str(campaign.resolve()), endpoint, live=live, poll_seconds=poll_seconds)
    return _progress(campaign)


def folder_of(campaign: Path) -> Path:
    """Where a campaign's dataset and report lie."""
    return load_campaign(campaign).out


def advance_in_prefect(request: PassRequest, *, poll_open_hits: bool) -> Progress:
    """Run the flow `advance` in this process, recorded by the server that is set."""
    with tags("piecework", request.campaign.stem):
        flow_of(request, poll_open_hits=poll_open_hits)(str(request.campaign.resolve()))
    return _progress(request.campaign)


def _check_first(
    campaign: Path,
    endpoint: str,
    *,
    live: bool,
    spend_at_most: str | None,
    allow_second_store: bool,
) -> Campaign:
    """The campaign; says what is wrong, and asks, before a Prefect server starts.

    What was agreed to is written down here, so that the flow finds it in the store.
    """
    allowed = consent_to_spend(
        campaign, endpoint, live=live, spend_at_most=spend_at_most
    )
    with open_on_marketplace(
        load_campaign(campaign),
        endpoint,
        live=live,
        spend_at_most_cents=allowed,
        allow_second_store=allow_second_store,
    ) as run:
        check_caps(run.campaign, at=run.clock.now())
        return run.campaign


def _progress(campaign: Path) -> Progress:
    with open_to_look(load_campaign(campaign)) as run:
        return read_progress(run)
