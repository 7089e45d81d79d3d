"""`prolific settle`: whether bonuses were paid, as Prolific's pages show it."""

from pathlib import Path

import click

from piecework.cli.marketplace_file import transaction_in
from piecework.cli.options import DATABASE
from piecework.cli.prolific_account import prolific_faults


@click.command("settle")
@click.argument("batches", metavar="BATCH...", nargs=-1, required=True)
@click.option(
    "--paid/--unpaid",
    "is_paid",
    default=None,
    required=True,
    help="What Prolific's pages show: its bonuses are there, or none of them.",
)
@DATABASE
def prolific_settle(*, batches: tuple[str, ...], is_paid: bool, database: Path) -> None:
    """Say whether BATCH of bonuses was paid, where the file does not know.

    No answer came from Prolific, or Prolific shows bonuses that the file lacks since it
    was brought back from a copy. Look at the submissions there first: with --unpaid it
    is paid once more. Several are settled together, all or none.

    Example:  piecework prolific settle 6543ab... --paid
    """
    from piecework.prolific.bridge.bonuses import settle_unknown

    with prolific_faults(), transaction_in(database) as transaction:
        for batch in batches:
            settle_unknown(transaction, batch, is_paid=is_paid)
    click.echo("booked as paid" if is_paid else "it will be paid with the next step")
