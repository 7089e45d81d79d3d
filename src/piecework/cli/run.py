"""`run`: makes passes until a campaign is finished or waits for a person."""

import logging
import os
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli import logs
from piecework.cli.consent import consent_to_spend
from piecework.cli.options import (
    ALLOW_SECOND_STORE,
    CAMPAIGN,
    ENDPOINT,
    JSON,
    LIVE,
    METRICS_FOLDER,
    POLL_SECONDS,
    SPEND_AT_MOST,
)
from piecework.cli.output import say_progress
from piecework.cli.prefect_server import TemporaryServer
from piecework.domain.counts import plural

if TYPE_CHECKING:
    from piecework.domain.campaign import Campaign

_LOG = logging.getLogger(__name__)


@click.command()
@CAMPAIGN
@ENDPOINT
@LIVE
@SPEND_AT_MOST
@ALLOW_SECOND_STORE
@METRICS_FOLDER
@click.option(
    "--poll-seconds",
    type=POLL_SECONDS,
    default=60.0,
    show_default=True,
    help="Seconds between two passes while work comes in; otherwise up to 60 times as long.",
)
@JSON
def run(
    campaign: Path,
    *,
    endpoint: str,
    live: bool,
    spend_at_most: str | None,
    allow_second_store: bool,
    metrics_folder: Path | None,
    poll_seconds: float,
    as_json: bool,
) -> None:
    """Make passes until the campaign ends.

    The command also ends when the campaign waits for a person: `piecework status` says
    what to do. Run the same command again to continue.

    The marketplace records what each worker is owed. It moves no money: its operator
    pays the workers outside, or the Prolific bridge pays them.

    Examples:
      piecework run birds.toml --endpoint http://127.0.0.1:8080
      piecework run birds.toml --endpoint https://hits.example.org --live
    """
    logs.say_from(logging.INFO)
    # The server starts while this process imports Prefect and the flows.
    server = click.get_current_context().with_resource(closing(TemporaryServer()))
    from prefect import tags

    from piecework.campaign.assembling import load_campaign
    from piecework.engine.opening import open_to_look
    from piecework.engine.progress import read_progress
    from piecework.engine.watching.watch import METRICS_FOLDER as WATCHED
    from piecework.flows.advance import run as flow

    loaded = _opened(
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
        plural(loaded.posting.batches, "batch"),
        endpoint,
        loaded.out,
    )
    with server.in_use(), tags("piecework", loaded.name):
        if metrics_folder is not None:
            os.environ[WATCHED] = str(metrics_folder)  # for the flow
        flow(str(campaign.resolve()), endpoint, live=live, poll_seconds=poll_seconds)
    with open_to_look(load_campaign(campaign)) as store:
        progress = read_progress(store)
    say_progress(progress, as_json=as_json)
    if as_json:
        return
    if progress.to_decide:
        click.echo(f"next: piecework review {campaign}, or `decisions` for a CSV file")
    elif progress.is_finished:
        click.echo(f"finished; dataset and report: {loaded.out}")


def _opened(
    campaign: Path,
    endpoint: str,
    *,
    live: bool,
    spend_at_most: str | None,
    allow_second_store: bool,
) -> "Campaign":
    """Check the campaign and ask for consent before a flow begins; return it.

    This stores what the person agreed to, so that the flow finds it.
    """
    from piecework.campaign.assembling import load_campaign
    from piecework.campaign.caps import check_caps
    from piecework.engine.opening import open_on_marketplace
    from piecework.engine.pass_request import amount_cents

    loaded = load_campaign(campaign)
    stated_cents = (
        None if spend_at_most is None else amount_cents(spend_at_most, loaded.rewards.currency)
    )
    allowed = consent_to_spend(loaded, endpoint, live=live, stated_cents=stated_cents)
    with open_on_marketplace(
        loaded,
        endpoint,
        live=live,
        spend_at_most_cents=allowed,
        allow_second_store=allow_second_store,
    ) as opened:
        check_caps(opened.campaign, at=opened.clock.now())
        return opened.campaign
