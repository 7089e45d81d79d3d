"""`reconcile`: after a restore, make store and marketplace agree."""

from pathlib import Path

import click

from piecework.cli.options import CAMPAIGN, JSON, LIVE_MARKETPLACE


@click.command()
@CAMPAIGN
@click.option("--dry-run", is_flag=True, help="Show what differs; change nothing.")
@click.option(
    "--leave-refused",
    is_flag=True,
    help="Go on although the marketplace refuses to repeat an act.",
)
@LIVE_MARKETPLACE
@JSON
def reconcile(
    campaign: Path, *, dry_run: bool, leave_refused: bool, live: bool, as_json: bool
) -> None:
    """After a restore, make store and marketplace agree.

    For a store (piecework.db) or a marketplace that was restored from an older copy;
    every other command refuses to work with one. Takes in what the marketplace has and
    the store lacks, does again what the marketplace has lost, and says what is owed to
    workers whose work is lost there. Buys nothing new.

    Example:  piecework reconcile birds.toml --dry-run
    """
    from piecework.cli.work.reconcile_campaign import reconcile_campaign

    reconcile_campaign(
        campaign,
        dry_run=dry_run,
        leave_refused=leave_refused,
        live=live,
        as_json=as_json,
    )
