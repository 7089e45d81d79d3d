"""`pay`: pays bonuses for work that was judged, and compensates people.

`pay --compensate` compensates a person whom the requester's own fault hurt. `pay --rejected`
reverses a rejection. `pay --sheet` and `--paid` are for people whom the requester pays in
cash or by transfer (`piecework.cli.payday`).
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.table import Table

from piecework.cli.consent import is_agreed
from piecework.cli.options import (
    BY_PERSON,
    CAMPAIGN,
    DATABASE,
    JSON,
    LIVE_MARKETPLACE,
    NewFile,
    grouped,
)
from piecework.cli.output import plain_console
from piecework.cli.payday import Payday
from piecework.config.user_files import read_text
from piecework.domain.errors import ConfigError
from piecework.domain.hit import MTURK
from piecework.domain.ids import AssignmentId
from piecework.domain.text import plural, printable, shell_word

if TYPE_CHECKING:
    from piecework.campaign.opened import CampaignRun
    from piecework.domain.campaign import Campaign
    from piecework.engine.payments.compensations import PlannedCompensation
    from piecework.engine.payments.pay import BonusPlan, Paid

_SHOWN = 20
_PSEUDONYM = 8  # characters; commands accept the start of a pseudonym


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reversal:
    """A rejection to reverse, and who decides."""

    rejected: str | None
    pay_only: bool
    by: str

    def is_asked(self, others: list[str]) -> bool:
        """Whether a rejection is to be reversed.

        Args:
            others: the options that are stated, and that a reversal does not have.

        Raises:
            click.UsageError: a part of the command line would have no effect.
        """
        if self.rejected is None:
            if self.pay_only or self.by:
                raise click.UsageError(
                    f"{'--pay-only' if self.pay_only else '--by'} goes with --rejected"
                )
            return False
        if others:
            more = "; it never asks, so scripts need only --because and --by"
            raise click.UsageError(
                f"{', '.join(others)}: no use with --rejected{more * ('--yes' in others)}"
            )
        return True


@click.command()
@CAMPAIGN
@click.option(
    "--from",
    "file",
    type=click.Path(path_type=Path),
    help="Pay what this CSV says: assignment_id or worker, amount, reason.",
)
@click.option(
    "--label",
    help="Name of these bonuses. An assignment gets one bonus for each label.  "
    "[default: wage-floor; with --from: bonus]",
)
@click.option(
    "--compensate",
    nargs=2,
    type=str,
    metavar="WORKER AMOUNT",
    help="Pay a person without an assignment: a pseudonym or a worker id, and 1.00. "
    "Needs --because.",
)
@click.option("--because", help="The reason, which the worker reads.")
@grouped(
    "reversal",
    _Reversal,
    click.option(
        "--rejected",
        metavar="ID",
        help="Reverse this rejection: the worker is paid, and the answers count. "
        "Needs --because and --by.",
    ),
    click.option("--pay-only", is_flag=True, help="With --rejected: do not count the answers."),
    BY_PERSON,
)
@grouped(
    "payday",
    Payday,
    click.option(
        "--sheet",
        metavar="FILE",
        type=NewFile(path_type=Path, dir_okay=False),
        help="Pay nothing: write what your own people are owed and got to this new CSV.",
    ),
    click.option(
        "--paid",
        metavar="FILE",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Record what you paid: a CSV with worker, amount and date, such as a filled-in sheet.",
    ),
    DATABASE,
)
@click.option("--yes", is_flag=True, help="Do it without asking.")
@LIVE_MARKETPLACE
@JSON
def pay(  # noqa: PLR0913 - its options
    campaign: Path,
    *,
    file: Path | None,
    label: str | None,
    compensate: tuple[str, str] | None,
    because: str | None,
    reversal: "_Reversal",
    payday: Payday,
    yes: bool,
    live: bool,
    as_json: bool,
) -> None:
    """Pay bonuses, each exactly once.

    The command shows what is due, and pays after you type the amount back, or with --yes.

    Each paid assignment below hourly_wage, by the median time of its kind of HIT, gets
    the difference; with --from, what a CSV file says, each bonus once.

    --compensate pays one person for a mistake of yours, once for each reason.

    --rejected reverses a rejection and pays the worker, up to 30 days after the
    submission.

    On a marketplace of your own, no money moves: --sheet writes what you have left to
    pay, and --paid records what you paid. Without them, the command also shows what
    workers wrote about rejections.

    Examples:
      piecework pay birds.toml
      piecework pay birds.toml --from bonuses.csv --label thanks --yes
      piecework pay birds.toml --sheet payday.csv
    """
    others: dict[str, object] = {
        "--from": file,
        "--label": label,
        "--compensate": compensate,
    }
    others |= {"--yes": yes or None, "--json": as_json or None}
    elsewhere = {**others, "--because": because, "--rejected": reversal.rejected}
    elsewhere |= {"--by": reversal.by or None, "--json": None}
    elsewhere |= {"--label": None} if payday.paid else {}
    if payday.is_asked([name for name, value in elsewhere.items() if value is not None]):
        payday.carry_out(campaign, label=label, as_json=as_json)
        return
    if reversal.is_asked([name for name, value in others.items() if value is not None]):
        _reverse(campaign, reversal, because=because, live=live)
        return
    if (compensate is None) != (because is None):
        raise click.UsageError(
            "--compensate needs --because, the reason that the worker reads"
            if because is None
            else "--because goes with --compensate or --rejected"
        )
    if compensate is not None and because is not None:
        if file is not None or label is not None:
            raise click.UsageError("give either --compensate, or --from and --label")
        worker, amount = compensate
        _compensate(
            campaign,
            worker=worker,
            amount=amount,
            because=because,
            beforehand=yes,
            live=live,
            as_json=as_json,
        )
        return
    label = label or ("wage-floor" if file is None else "bonus")
    _pay(
        campaign,
        file=file,
        label=label,
        beforehand=yes,
        live=live,
        as_json=as_json,
    )


def _pay(
    path: Path,
    *,
    file: Path | None,
    label: str,
    beforehand: bool,
    live: bool,
    as_json: bool,
) -> None:
    """Show what is due, and pay it if the person agrees."""
    from piecework.campaign.assembling import load_campaign
    from piecework.engine.begun import bound_endpoint
    from piecework.engine.opening import open_on_marketplace
    from piecework.engine.payments.due_bonuses import label_fault, read_bonuses, top_ups
    from piecework.engine.payments.pay import check_bonuses, close_interrupted, pay_bonuses
    from piecework.engine.recover.adopting import adopt_bonuses, take_over
    from piecework.store import assignments

    if fault := label_fault(label):
        raise ConfigError([fault])
    campaign = load_campaign(path)
    with open_on_marketplace(campaign, bound_endpoint(campaign), live=live) as run:
        # First find out what an interrupted process has paid.
        close_interrupted(run)
        adopt_bonuses(run)
        written = run.platform.objections()
        if file is None:
            plan = top_ups(run, label=label)
        else:
            plan = read_bonuses(run, read_text(file), label=label, name=str(file))
            plan = take_over(run, plan)
        if not as_json:
            _preview(run, plan)
        check_bonuses(run, plan)
        paid = None
        if plan.due and is_agreed(
            plan.total_cents, campaign.rewards.currency, beforehand=beforehand, as_json=as_json
        ):
            paid = pay_bonuses(run, plan)
        rejected = assignments.rejected_of(run.store, written)
        objections = {name: text for name, text in written.items() if name in rejected}
        if as_json:
            document = {**_as_dict(run, plan, paid), "objections": objections}
            click.echo(json.dumps(document, indent=2))
        else:
            _say(campaign, plan, paid)
            _say_objections(campaign, objections)


def _say_objections(campaign: "Campaign", objections: Mapping[AssignmentId, str]) -> None:
    """Show what workers wrote about rejections, and the command that takes one back."""
    for name, text in objections.items():
        click.echo(f"the worker objects to the rejection of {name}:")
        for line in printable(text).splitlines():
            click.echo(f"    {line}")
        command = f"piecework pay {shell_word(campaign.path)} --rejected {name}"
        click.echo(f'  to take it back and pay: {command} --because "..." --by NAME')


def _preview(run: "CampaignRun", plan: "BonusPlan") -> None:
    shown = run.campaign.rewards.shown
    table = Table(title=f"bonuses, label {plan.label}", title_justify="left")
    table.add_column("assignment", no_wrap=True)
    table.add_column("worker", no_wrap=True)
    table.add_column("bonus", justify="right", no_wrap=True)
    table.add_column("fee", justify="right", no_wrap=True)
    table.add_column("reason")  # only this one gives way in a narrow terminal
    for due in plan.due[:_SHOWN]:
        table.add_row(
            due.bonus.assignment_id,
            f"{run.pseudonym(due.bonus.worker_id)[:_PSEUDONYM]}…",
            shown(due.bonus.cents),
            shown(due.fee_cents),
            due.bonus.reason,
        )
    if plan.due:
        plain_console().print(table)
    if len(plan.due) > _SHOWN:
        click.echo(f"… and {len(plan.due) - _SHOWN} more")
    fees = plan.total_cents - plan.bonus_cents
    click.echo(
        f"{plural(len(plan.due), 'bonus', 'bonuses')}: {shown(plan.bonus_cents)} and "
        f"{shown(fees)} fees, {shown(plan.total_cents)} in all; {plan.before} with "
        "this label were paid before"
    )
    if plan.lacking_cents:
        click.echo(
            f"assignments with such a bonus are {shown(plan.lacking_cents)} below the "
            "hourly_wage again, because the median time has risen; another --label pays "
            "that"
        )
    if plan.too_late:
        click.echo(f"too old for a bonus: {plural(len(plan.too_late), 'assignment')}")


def _say(campaign: "Campaign", plan: "BonusPlan", paid: "Paid | None") -> None:
    path, shown = campaign.path, campaign.rewards.shown
    if not plan.due:
        click.echo("nothing is due")
    elif paid is None:
        click.echo("nothing was paid")
        click.echo("next: run the same command with --yes")
    else:
        click.echo(f"{paid.bonuses} bonuses paid: {shown(paid.cents)} with fees")
        if paid.waiting:
            click.echo(
                f"{paid.waiting} bonuses ({shown(paid.waiting_cents)}) wait for the "
                "next UTC day: today's cap is reached"
            )
            click.echo("next: run the same command on the next UTC day")
        else:
            click.echo(
                f"next: piecework export {shell_word(path)} --report-only, for a report "
                "with these bonuses"
            )


def _as_dict(run: "CampaignRun", plan: "BonusPlan", paid: "Paid | None") -> dict[str, object]:
    return {
        "label": plan.label,
        "currency": run.campaign.rewards.currency,
        "due": [
            {
                "assignment_id": due.bonus.assignment_id,
                "worker": run.pseudonym(due.bonus.worker_id),
                "cents": due.bonus.cents,
                "fee_cents": due.fee_cents,
                "reason": due.bonus.reason,
            }
            for due in plan.due
        ],
        "bonus_cents": plan.bonus_cents,
        "total_cents": plan.total_cents,
        "paid_before": plan.before,
        "lacking_cents": plan.lacking_cents,
        "too_late": list(plan.too_late),
        "paid": 0 if paid is None else paid.bonuses,
        "paid_cents": 0 if paid is None else paid.cents,
        "waiting_for_the_next_day": 0 if paid is None else paid.waiting,
    }


def _compensate(
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
                click.echo(_preview_compensation(run, planned))
            if is_agreed(
                planned.intent.amount_cents,
                campaign.rewards.currency,
                beforehand=beforehand,
                as_json=as_json,
            ):
                pay_compensation(run, planned)
                is_paid = True
        if as_json:
            click.echo(json.dumps(_compensation_as_dict(run, planned, is_paid=is_paid), indent=2))
        else:
            _say_compensation(run, planned, is_paid=is_paid)


def _preview_compensation(run: "CampaignRun", planned: "PlannedCompensation") -> str:
    shown, paid = run.campaign.rewards.shown, planned.compensation
    return (
        f"compensation for worker {run.pseudonym(paid.worker_id)}: "
        f"{shown(paid.cents)} and {shown(planned.fee_cents)} fees, "
        f"{shown(planned.intent.amount_cents)} in all; the worker reads: {paid.reason}"
    )


def _say_compensation(run: "CampaignRun", planned: "PlannedCompensation", *, is_paid: bool) -> None:
    rewards, paid = run.campaign.rewards, planned.compensation
    if planned.was_paid:
        click.echo(
            f"worker {run.pseudonym(paid.worker_id)} was paid "
            f"{rewards.shown(paid.cents)} for this reason before; nothing was paid now"
        )
        click.echo("next: give another reason if the worker shall get more")
    elif is_paid:
        click.echo(f"compensation paid: {rewards.shown(planned.intent.amount_cents)} with fees")
        click.echo(f"next: piecework status {shell_word(run.campaign.path)}")
    else:
        click.echo("nothing was paid")
        click.echo("next: run the same command with --yes")


def _compensation_as_dict(
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


def _reverse(campaign: Path, reversal: _Reversal, *, because: str | None, live: bool) -> None:
    """Reverse a rejection and pay the worker.

    Args:
        campaign: the campaign's file.
        reversal: the assignment, who decides, and whether its answers count.
        because: the reason.
        live: whether `--live` was given.

    Raises:
        ConfigError: the worker could not read the reason, or there is no name.
        click.UsageError: there is no reason.
    """
    if because is None or not reversal.by:
        raise click.UsageError("--rejected needs --because TEXT and --by NAME")
    from piecework.campaign.assembling import load_campaign
    from piecework.engine.begun import bound_endpoint
    from piecework.engine.opening import open_on_marketplace
    from piecework.engine.payments.pay import close_interrupted
    from piecework.engine.payments.pay import unreject as take_back

    reason, author = because.strip(), reversal.by.strip()
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
    assignment = str(reversal.rejected)
    loaded = load_campaign(campaign)
    with open_on_marketplace(loaded, bound_endpoint(loaded), live=live) as run:
        close_interrupted(run)
        kept = take_back(
            run,
            AssignmentId(assignment),
            because=reason,
            by=author,
            keep_answers=not reversal.pay_only,
        )
    click.echo(f"{assignment}: paid; {kept} answers count again, or are surplus")
    click.echo(
        f"next: piecework export {shell_word(campaign)}, if you have written the dataset already"
    )
