"""`workers earned` and `workers restore`: qualifications that workers earn."""

import getpass
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from piecework.cli.options import CAMPAIGN, JSON
from piecework.domain.errors import CampaignBusy, ConfigError, PieceworkError
from piecework.domain.printable import one_line
from piecework.store.lock import only_pass

if TYPE_CHECKING:
    from piecework.campaign.opened import OpenedCampaign
    from piecework.store.earned_records import RecordedChange

_DONE = {"grant": "granted", "revoke": "revoked"}


@click.command()
@CAMPAIGN
@JSON
def earned(campaign: Path, *, as_json: bool) -> None:
    """List earned qualifications, with their evidence.

    The list shows each grant and each revocation, of all campaigns that share the
    qualification: how many of the worker's latest items agreed, and from when to when
    they were submitted. It shows workers by pseudonym.

    Examples:
      piecework workers earned birds.toml
      piecework workers earned birds.toml --json
    """
    from piecework.campaign.assembling import load_campaign
    from piecework.engine.opening import open_to_look
    from piecework.review.model.earned import earned_histories

    with open_to_look(load_campaign(campaign)) as opened:
        histories = earned_histories(opened)
        if as_json:
            document = [
                {
                    "name": history.rule.name,
                    "kind": history.rule.kind,
                    "holders": history.holders,
                    "changes": [_as_dict(opened, each) for each in history.changes],
                }
                for history in histories
            ]
            click.echo(json.dumps(document, indent=2))
            return
        for history in histories:
            click.echo(f"{history.rule.name}: {history.holders} hold it")
            for change in history.changes:
                click.echo(f"  {_line(opened, change)}")
                click.echo(f"    {one_line(change.because, at_most=500)}")
    if not histories:
        click.echo(f"{campaign}: no [[earned]], so no work earns a qualification")


@click.command()
@CAMPAIGN
@click.argument("worker", metavar="PSEUDONYM")
@click.option("--name", required=True, help="Name of the qualification, as [[earned]] states it.")
@click.option("--because", required=True, help="The reason, a sentence. The worker reads it.")
@click.option("--by", help="Name of the person who decides; default: your name on this machine.")
def restore(campaign: Path, *, worker: str, name: str, because: str, by: str | None) -> None:
    """Grant an earned qualification by hand.

    Use the command if a qualification was revoked or refused by mistake. The rule does
    not revoke it again on the same items: only items that the worker submits later
    count against them. PSEUDONYM is the worker's pseudonym, or their id from
    `piecework requester problems`.

    Examples:
      piecework workers restore birds.toml 1f3a... --name blur --because "Ours"
      piecework workers restore birds.toml A2ABC... --name blur --because "Ours"
    """
    from piecework.campaign.assembling import load_campaign
    from piecework.engine.opening import open_to_look
    from piecework.review.model.earned import restore as restore_by_hand

    if not because.strip():
        raise click.UsageError("--because is empty; give a reason")
    author = (by or "").strip() or getpass.getuser()
    with open_to_look(load_campaign(campaign)) as opened:
        if opened.is_rehearsal:
            raise ConfigError(
                [f"{campaign}: only rehearsed, so its workers are simulated"],
                next_step=f"piecework workers earned {campaign}",
            )
        worker = restore_by_hand(opened, worker, name, because=because.strip(), by=author)
        later = _carried_out(opened)
    click.echo(f"{worker}: granted {name}{f'; {later}' if later else ''}")


def _carried_out(opened: "OpenedCampaign") -> str | None:
    """Tell the marketplace now; return None, or why it is told later."""
    from piecework.engine.earn import earn
    from piecework.engine.opening import on_its_platform

    try:
        with only_pass(opened.campaign.store, by="piecework workers"):
            earn(on_its_platform(opened))
    except CampaignBusy as busy:
        return f"{busy}, and its next pass tells the marketplace"
    except PieceworkError as fault:
        return f"stored; the next pass tells the marketplace ({fault})"
    return None


def _line(opened: "OpenedCampaign", change: "RecordedChange") -> str:
    share, dates = change.share, ""
    if share.first is not None and share.last is not None:
        dates = f", {share.first:%Y-%m-%d} to {share.last:%Y-%m-%d}"
    state = "" if change.done_at else "; not carried out yet"
    return (
        f"{change.decided_at:%Y-%m-%d %H:%M} {_DONE[change.change]} "
        f"{opened.pseudonym(change.worker_id)} by {change.decided_by}: "
        f"{share.agreed} of {share.items} items agreed{dates}{state}"
    )


def _as_dict(opened: "OpenedCampaign", change: "RecordedChange") -> dict[str, Any]:
    share = change.share
    return {
        "worker": opened.pseudonym(change.worker_id),
        "change": change.change,
        "decided_by": change.decided_by,
        "decided_at": change.decided_at.isoformat(),
        "items": share.items,
        "agreed": share.agreed,
        "first": share.first and share.first.isoformat(),
        "last": share.last and share.last.isoformat(),
        "because": change.because,
        "done_at": change.done_at and change.done_at.isoformat(),
    }
