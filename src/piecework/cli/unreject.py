"""`unreject`: pays for rejected work after all."""

from pathlib import Path

import click

from piecework.cli.options import CAMPAIGN, LIVE_MARKETPLACE
from piecework.domain.capabilities import MTURK
from piecework.domain.errors import ConfigError
from piecework.domain.ids import AssignmentId


@click.command()
@CAMPAIGN
@click.option("--assignment", required=True, help="Id of the rejected assignment.")
@click.option("--because", required=True, help="The reason, which the worker reads.")
@click.option("--by", required=True, help="Name of the person who decides.")
@click.option("--pay-only", is_flag=True, help="Pay, but do not count the answers.")
@LIVE_MARKETPLACE
def unreject(
    campaign: Path, *, assignment: str, because: str, by: str, pay_only: bool, live: bool
) -> None:
    r"""Reverse a rejection and pay the worker.

    The answers count again. You can reverse a rejection for 30 days after the
    submission. The store keeps a record of it.

    Examples:
      piecework unreject birds.toml --assignment 3X... --by ada \
        --because "The picture was upside down; the caption is right."
      piecework unreject birds.toml --assignment 3X... --by ada --pay-only \
        --because "The page was broken."
    """
    from piecework.campaign.assembling import load_campaign
    from piecework.engine.begun import bound_endpoint
    from piecework.engine.opening import open_on_marketplace
    from piecework.engine.payments.pay import close_interrupted
    from piecework.engine.payments.unreject import unreject as take_back

    reason, author = because.strip(), by.strip()
    faults = []
    if not MTURK.allows_reason(reason):
        faults.append(
            f"--because has {len(reason)} characters; the worker reads it, so "
            f"give {MTURK.shortest_reason} to {MTURK.longest_reason} on one line"
        )
    if not author:
        faults.append("--by is empty; the store keeps who decided")
    if faults:
        raise ConfigError(faults)
    loaded = load_campaign(campaign)
    with open_on_marketplace(loaded, bound_endpoint(loaded), live=live) as run:
        close_interrupted(run)
        kept = take_back(
            run, AssignmentId(assignment), because=reason, by=author, keep_answers=not pay_only
        )
    click.echo(f"{assignment}: paid; {kept} answers count again, or are surplus")
    click.echo(f"next: piecework export {campaign}, if you have written the dataset already")
