"""`pay --worker`: compensates a person whom the requester's own fault hurt."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli.consent import is_agreed

if TYPE_CHECKING:
    from piecework.campaign.opened import CampaignRun
    from piecework.engine.payments.compensations import PlannedCompensation


def compensate(
    path: Path,
    *,
    worker: str,
    amount: str,
    because: str,
    beforehand: bool,
    live: bool,
    as_json: bool,
) -> None:
    """Show a compensation, and pay it if the person agrees.

    Args:
        path: the campaign's file.
        worker: the pseudonym or id of who gets it.
        amount: as typed.
        because: the reason.
        beforehand: whether the person agreed with `--yes`.
        live: whether `--live` was given.
        as_json: whether a program reads the output.
    """
    from piecework.campaign.assembling import load_campaign
    from piecework.engine.begun import bound_endpoint
    from piecework.engine.opening import open_on_marketplace
    from piecework.engine.payments.compensations import (
        adopt_compensations,
        check_caps,
        pay_compensation,
        plan_compensation,
    )
    from piecework.engine.payments.pay import close_interrupted

    campaign = load_campaign(path)
    with open_on_marketplace(campaign, bound_endpoint(campaign), live=live) as run:
        # First find out what an interrupted process has paid.
        close_interrupted(run)
        adopt_compensations(run)
        planned = plan_compensation(run, worker, amount, because=because)
        is_paid = False
        if not planned.was_paid:
            check_caps(run, planned)
            if not as_json:
                click.echo(_preview(run, planned))
            if is_agreed(
                planned.intent.amount_cents,
                campaign.rewards.currency,
                beforehand=beforehand,
                as_json=as_json,
            ):
                pay_compensation(run, planned)
                is_paid = True
        if as_json:
            click.echo(json.dumps(_as_dict(run, planned, is_paid=is_paid), indent=2))
        else:
            _say(run, planned, is_paid=is_paid)


def _preview(run: "CampaignRun", planned: "PlannedCompensation") -> str:
    shown, paid = run.campaign.rewards.shown, planned.compensation
    return (
        f"compensation for worker {run.pseudonym(paid.worker_id)}: "
        f"{shown(paid.cents)} and {shown(planned.fee_cents)} fees, "
        f"{shown(planned.intent.amount_cents)} in all; the worker reads: {paid.reason}"
    )


def _say(run: "CampaignRun", planned: "PlannedCompensation", *, is_paid: bool) -> None:
    rewards, paid = run.campaign.rewards, planned.compensation
    if planned.was_paid:
        click.echo(
            f"worker {run.pseudonym(paid.worker_id)} was paid "
            f"{rewards.shown(paid.cents)} for this reason before; nothing was paid now"
        )
        click.echo("next: give another reason if the worker shall get more")
    elif is_paid:
        click.echo(f"compensation paid: {rewards.shown(planned.intent.amount_cents)} with fees")
        click.echo(f"next: piecework status {run.campaign.path}")
    else:
        click.echo("nothing was paid")
        click.echo("next: run the same command with --yes")


def _as_dict(
    run: "CampaignRun", planned: "PlannedCompensation", *, is_paid: bool
) -> dict[str, object]:
    paid = planned.compensation
    return {
        "worker": run.pseudonym(paid.worker_id),
        "currency": run.campaign.rewards.currency,
        "cents": paid.cents,
        "fee_cents": planned.fee_cents,
        "reason": paid.reason,
        "was_paid_before": planned.was_paid,
        "is_paid": is_paid,
    }
