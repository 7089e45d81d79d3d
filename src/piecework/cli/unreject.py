"""`unreject`: pay for rejected work after all."""

from pathlib import Path

import click

from piecework.cli.options import CAMPAIGN, LIVE_MARKETPLACE


@click.command()
@CAMPAIGN
@click.option("--assignment", required=True, help="The rejected assignment's id.")
@click.option("--because", required=True, help="Why; the worker reads it.")
@click.option("--by", required=True, help="Who answers for it.")
@click.option("--pay-only", is_flag=True, help="Pay, but keep its answers out.")
@LIVE_MARKETPLACE
def unreject(
    campaign: Path,
    *,
    assignment: str,
    because: str,
    by: str,
    pay_only: bool,
    live: bool,
) -> None:
    """Take a rejection back: pay for the work and let its answers in again.

    Possible for 30 days after the submission. The rejection stays on record beside it.

    Example:  piecework unreject birds.toml --assignment 3X… --by ada
              --because "The picture was upside down; the caption is right."
    """
    from piecework.cli.work.unreject import take_back

    take_back(
        campaign,
        assignment,
        because=because,
        by=by,
        keep_answers=not pay_only,
        live=live,
    )
