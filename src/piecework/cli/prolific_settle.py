"""`prolific settle`: records whether bonuses were paid, as Prolific's pages show."""

from pathlib import Path

import click

from piecework.cli.api_faults import api_faults
from piecework.cli.marketplace_file import transaction_in
from piecework.cli.options import DATABASE


@click.command("settle")
@click.argument("batches", metavar="BATCH...", nargs=-1, required=True)
@click.option(
    "--paid/--unpaid",
    "is_paid",
    default=None,
    required=True,
    help="Whether Prolific's pages show the bonuses of the batch.",
)
@DATABASE
def prolific_settle(*, batches: tuple[str, ...], is_paid: bool, database: Path) -> None:
    """Record whether bonuses were paid.

    Use it for a BATCH of bonuses that may or may not have been paid, because Prolific
    did not answer or the database was restored from a copy. Look at the submissions at
    Prolific first: with --unpaid, the next step pays the batch. Several batches are
    recorded together, all or none.

    Examples:
      piecework prolific settle 6543ab... --paid
      piecework prolific settle 6543ab... 6543cd... --unpaid
    """
    from piecework.prolific.bridge.bonuses import settle_unknown

    with api_faults(), transaction_in(database) as transaction:
        for batch in batches:
            settle_unknown(transaction, batch, is_paid=is_paid)
    click.echo("recorded as paid" if is_paid else "the next step pays it")
