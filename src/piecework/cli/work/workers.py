"""Runs `workers`: lists them, and carries out what a person decides about one."""

import getpass
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from piecework.campaign.assembling import load_campaign
from piecework.campaign.opened import CampaignStore
from piecework.domain.errors import CampaignBusy, ConfigError, PieceworkError
from piecework.domain.printable import one_line
from piecework.domain.verdicts import Decision
from piecework.engine.opening import on_its_platform, open_to_look
from piecework.engine.steps.settle import settle_workers
from piecework.review.model.workers import WorkerHistory, exclude, histories, include
from piecework.store.lock import only_pass

_LINE = "{:<16}  {:>4}  {:>7}  {:>4}  {:>7}  {:>8}  {:>9}  {}"
_ACTS = {"exclude": exclude, "include": include}


def say_workers(path: Path, *, as_json: bool) -> None:
    """Print everybody who worked on a campaign, by pseudonym."""
    with open_to_look(load_campaign(path)) as run:
        known = histories(run)
        if as_json:
            click.echo(json.dumps([_as_dict(run, one) for one in known], indent=2))
            return
        for line in _lines(run, known):
            click.echo(line)
    excluded = [one for one in known if one.exclusion is not None]
    for one in excluded:
        click.echo(f"{one.worker} {_said(one.exclusion)}")
    if known:
        act = "include" if excluded else "exclude"
        click.echo(f'next: piecework workers {path} {act} PSEUDONYM --because "…"')


def decide_by_hand(
    path: Path, act: str, worker: str, *, because: str, by: str | None, as_json: bool
) -> None:
    """Keep a person's decision, and carry it out unless a pass is at work."""
    author = (by or "").strip() or getpass.getuser()
    with open_to_look(load_campaign(path)) as run:
        if run.is_rehearsal:
            raise ConfigError(
                [f"{path}: was only rehearsed; its workers are simulated"],
                next_step=f"piecework workers {path}",
            )
        _ACTS[act](run, worker, because=because, by=author)
        outcome = _carried_out(run)
        (history,) = (one for one in histories(run) if one.worker == worker.lower())
        if as_json:
            document = _as_dict(run, history) | {"carried_out": outcome is None}
            click.echo(json.dumps(document, indent=2))
            return
    done = {"exclude": "excluded", "include": "included again"}[act]
    click.echo(f"{worker}: {done}{f'; {outcome}' if outcome else ''}")


def _carried_out(run: CampaignStore) -> str | None:
    """Tell the marketplace now; `None`, or why it is told later."""
    if run.is_imported:
        return "there is no marketplace to tell"
    try:
        with only_pass(run.campaign.out):
            settle_workers(on_its_platform(run))
    except CampaignBusy as busy:
        return f"{busy}, and tells the marketplace with its next pass"
    except PieceworkError as fault:
        return f"kept here; the next pass tells the marketplace ({fault})"
    return None


def _lines(run: CampaignStore, known: list[WorkerHistory]) -> Iterator[str]:
    """A line for each worker that fits 80 columns; what was flagged stands below."""
    heads = ("worker", "HITs", "answers", "kept", "dropped", "rejected", "paid")
    yield f"workers of {run.campaign.name}"
    yield _LINE.format(*heads, "now").rstrip()
    for one in known:
        totals = one.totals
        counts = (totals.assignments, totals.answers, totals.kept, totals.dropped)
        paid = run.campaign.rewards.shown(totals.paid_cents)
        cells = (one.worker, *counts, totals.rejected, paid, _state(one))
        yield _LINE.format(*cells).rstrip()
        flags = ", ".join(f"{name} {number}" for name, number in totals.flags.items())
        if flags:
            yield f"    flagged: {flags}"


def _state(one: WorkerHistory) -> str:
    latest = one.decisions[-1].verdict if one.decisions else "keep"
    return {"exclude": "excluded", "block": "blocked", "include": "included"}.get(
        latest, ""
    )


def _said(decision: Decision | None) -> str:
    if decision is None:
        return ""
    what = {"exclude": "excluded", "block": "blocked"}[decision.verdict]
    at = f"{decision.decided_at:%Y-%m-%d %H:%M} UTC"
    return f"{what} {at} by {decision.decided_by}: {one_line(decision.because)}"


def _as_dict(run: CampaignStore, one: WorkerHistory) -> dict[str, Any]:
    totals = one.totals
    return {
        "worker": one.worker,
        "assignments": totals.assignments,
        "rejected": totals.rejected,
        "answers": totals.answers,
        "kept": totals.kept,
        "dropped": totals.dropped,
        "flags": dict(totals.flags),
        "paid_cents": totals.paid_cents,
        "currency": run.campaign.rewards.currency,
        "is_excluded": one.exclusion is not None,
        "decisions": [
            {
                "verdict": decision.verdict,
                "decided_by": decision.decided_by,
                "decided_at": decision.decided_at.isoformat(),
                "because": decision.because,
            }
            for decision in one.decisions
        ],
    }
