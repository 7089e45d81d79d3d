"""`connect settle`: records whether a bonus was paid, as Connect's pages show."""

from pathlib import Path

import click

from piecework.cli.api_faults import api_faults
from piecework.cli.marketplace_file import transaction_in
from piecework.cli.options import DATABASE


@click.command("settle")
@click.argument("payments", metavar="PAYMENT...", nargs=-1, required=True)
@click.option(
    "--paid/--unpaid",
    "is_paid",
    default=None,
    required=True,
    help="Whether Connect's pages show the bonus.",
)
@DATABASE
def connect_settle(*, payments: tuple[str, ...], is_paid: bool, database: Path) -> None:
    """Record whether bonuses were paid.

    Use it for a PAYMENT that `piecework connect status` asks about. Look at the
    assignment at Connect first: with --unpaid, the next step pays it. Several are
    recorded together, all or none.

    Examples:
      piecework connect settle 3f2a91c0-7-0 --paid
      piecework connect settle 3f2a91c0-7-0 3f2a91c0-8-0 --unpaid
    """
    from piecework.connect.bridge.bonuses import settle_unknown

    with api_faults(), transaction_in(database) as transaction:
        for payment in payments:
            settle_unknown(transaction, payment, is_paid=is_paid)
    click.echo("recorded as paid" if is_paid else "the next step pays it")
