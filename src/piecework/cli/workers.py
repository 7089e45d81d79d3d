"""`workers`: who worked on a campaign, and who is offered no more of it."""

import getpass
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from piecework.cli.options import CAMPAIGN, JSON
from piecework.domain.errors import CampaignBusy, ConfigError, PieceworkError
from piecework.domain.printable import one_line
from piecework.store.lock import only_pass

if TYPE_CHECKING:
    from piecework.campaign.opened import OpenedCampaign
    from piecework.domain.verdicts import Decision
    from piecework.review.model.workers import WorkerHistory

_LINE = "{:<16}  {:>4}  {:>7}  {:>4}  {:>7}  {:>8}  {:>9}  {}"


@click.command()
@CAMPAIGN
@click.argument("act", type=click.Choice(["exclude", "include"]), required=False)
@click.argument("worker", metavar="[PSEUDONYM]", required=False)
@click.option("--because", help="Why; it is kept, and the worker is not told.")
@click.option("--by", help="Who answers for it; left out, your name on this machine.")
@JSON
def workers(
    campaign: Path,
    *,
    act: str | None,
    worker: str | None,
    because: str | None,
    by: str | None,
    as_json: bool,
) -> None:
    """List, exclude or include a campaign's workers.

    The list, the dataset and the report show each worker by the same pseudonym.

    You may exclude a worker at any time, flagged or not. The campaign offers an
    excluded worker no further HIT. It still judges and pays what they submitted, and
    the HIT that they are working on. The policy no longer excludes a worker whom you
    include.

    Examples:
      piecework workers birds.toml
      piecework workers birds.toml exclude 1f3a... --because "One word each."
      piecework workers birds.toml include 1f3a... --because "It was the page."
    """
    if act is None:
        _list_workers(campaign, as_json=as_json)
        return
    if not worker or not (because or "").strip():
        raise click.UsageError(f"{act} needs a PSEUDONYM and --because REASON")
    _decide_by_hand(
        campaign, act, worker, because=str(because).strip(), by=by, as_json=as_json
    )


def _list_workers(path: Path, *, as_json: bool) -> None:
    """Print everybody who worked on a campaign, by pseudonym."""
    from piecework.campaign.assembling import load_campaign
    from piecework.engine.opening import open_to_look
    from piecework.review.model.workers import histories

    with open_to_look(load_campaign(path)) as opened:
        known = histories(opened)
        if as_json:
            click.echo(
                json.dumps([_as_dict(opened, history) for history in known], indent=2)
            )
            return
        for line in _lines(opened, known):
            click.echo(line)
    excluded = [history for history in known if history.exclusion is not None]
    for history in excluded:
        click.echo(f"{history.worker} {_sentence(history.exclusion)}")
    if known:
        act = "include" if excluded else "exclude"
        click.echo(f'next: piecework workers {path} {act} PSEUDONYM --because "…"')


def _decide_by_hand(
    path: Path, act: str, worker: str, *, because: str, by: str | None, as_json: bool
) -> None:
    """Keep a person's decision, and carry it out unless a pass is at work."""
    from piecework.campaign.assembling import load_campaign
    from piecework.engine.opening import open_to_look
    from piecework.review.model.workers import exclude, histories, include

    author = (by or "").strip() or getpass.getuser()
    with open_to_look(load_campaign(path)) as opened:
        if opened.is_rehearsal:
            raise ConfigError(
                [f"{path}: was only rehearsed; its workers are simulated"],
                next_step=f"piecework workers {path}",
            )
        decide = {"exclude": exclude, "include": include}[act]
        worker = decide(opened, worker, because=because, by=author)
        outcome = _carried_out(opened)
        (history,) = (row for row in histories(opened) if row.worker == worker)
        if as_json:
            document = _as_dict(opened, history) | {"carried_out": outcome is None}
            click.echo(json.dumps(document, indent=2))
            return
    done = {"exclude": "excluded", "include": "included again"}[act]
    click.echo(f"{worker}: {done}{f'; {outcome}' if outcome else ''}")


def _carried_out(opened: "OpenedCampaign") -> str | None:
    """Tell the marketplace now; `None`, or why it is told later."""
    from piecework.engine.opening import on_its_platform
    from piecework.engine.steps.settle import settle_workers

    if opened.is_imported:
        return "there is no marketplace to tell"
    try:
        with only_pass(opened.campaign.out):
            settle_workers(on_its_platform(opened))
    except CampaignBusy as busy:
        return f"{busy}, and tells the marketplace with its next pass"
    except PieceworkError as fault:
        return f"kept here; the next pass tells the marketplace ({fault})"
    return None


def _lines(opened: "OpenedCampaign", known: "list[WorkerHistory]") -> Iterator[str]:
    """A line for each worker that fits 80 columns; what was flagged stands below."""
    heads = ("worker", "HITs", "answers", "kept", "dropped", "rejected", "paid")
    yield f"workers of {opened.campaign.name}"
    yield _LINE.format(*heads, "now").rstrip()
    for history in known:
        totals = history.totals
        counts = (totals.assignments, totals.answers, totals.kept, totals.dropped)
        paid = opened.campaign.rewards.shown(totals.paid_cents)
        cells = (history.worker, *counts, totals.rejected, paid, _state(history))
        yield _LINE.format(*cells).rstrip()
        flags = ", ".join(f"{name} {number}" for name, number in totals.flags.items())
        if flags:
            yield f"    flagged: {flags}"


def _state(history: "WorkerHistory") -> str:
    latest = history.decisions[-1].verdict if history.decisions else "keep"
    return {"exclude": "excluded", "block": "blocked", "include": "included"}.get(
        latest, ""
    )


def _sentence(decision: "Decision | None") -> str:
    if decision is None:
        return ""
    what = {"exclude": "excluded", "block": "blocked"}[decision.verdict]
    at = f"{decision.decided_at:%Y-%m-%d %H:%M} UTC"
    return f"{what} {at} by {decision.decided_by}: {one_line(decision.because)}"


def _as_dict(opened: "OpenedCampaign", history: "WorkerHistory") -> dict[str, Any]:
    totals = history.totals
    return {
        "worker": history.worker,
        "assignments": totals.assignments,
        "rejected": totals.rejected,
        "answers": totals.answers,
        "kept": totals.kept,
        "dropped": totals.dropped,
        "flags": dict(totals.flags),
        "paid_cents": totals.paid_cents,
        "currency": opened.campaign.rewards.currency,
        "is_excluded": history.exclusion is not None,
        "decisions": [
            {
                "verdict": decision.verdict,
                "decided_by": decision.decided_by,
                "decided_at": decision.decided_at.isoformat(),
                "because": decision.because,
            }
            for decision in history.decisions
        ],
    }
