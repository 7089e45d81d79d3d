"""`run`: passes until a campaign is finished or waits for people."""

import logging
from pathlib import Path

import click

from piecework.cli import logs
from piecework.cli.options import (
    ALLOW_SECOND_STORE,
    CAMPAIGN,
    ENDPOINT,
    JSON,
    LIVE,
    POLL_SECONDS,
    SPEND_AT_MOST,
)
from piecework.cli.output import say_progress
from piecework.cli.prefect_server import TemporaryServer


@click.command()
@CAMPAIGN
@ENDPOINT
@LIVE
@SPEND_AT_MOST
@ALLOW_SECOND_STORE
@click.option(
    "--poll-seconds",
    type=POLL_SECONDS,
    default=60.0,
    show_default=True,
    help="Between two looks while work comes in; else it grows, to 60 times that.",
)
@JSON
def run(
    campaign: Path,
    *,
    endpoint: str,
    live: bool,
    spend_at_most: str | None,
    allow_second_store: bool,
    poll_seconds: float,
    as_json: bool,
) -> None:
    """Make passes until the campaign is finished or waits for people.

    A marketplace keeps books: it writes down what every worker is owed. It moves no
    money; whoever runs it pays outside, or its bridge has Prolific pay.

    Example:  piecework run birds.toml --endpoint http://127.0.0.1:8080

    Live:     piecework run birds.toml --endpoint https://hits.example.org --live
    """
    logs.say_from(logging.INFO)
    server = TemporaryServer()
    from piecework.cli.work.run import folder_of, run_passes

    progress = run_passes(
        campaign,
        endpoint,
        live=live,
        poll_seconds=poll_seconds,
        spend_at_most=spend_at_most,
        allow_second_store=allow_second_store,
        server=server,
    )
    say_progress(progress, as_json=as_json)
    if as_json:
        return
    if progress.to_decide:
        click.echo(f"next: piecework review {campaign}, or `decisions` for a CSV")
    elif progress.is_finished:
        click.echo(f"finished; dataset and report: {folder_of(campaign)}")
