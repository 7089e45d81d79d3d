"""Runs `unreject`: takes one rejection back."""

from pathlib import Path

import click

from piecework.campaign.assembling import load_campaign
from piecework.domain.capabilities import MTURK
from piecework.domain.errors import ConfigError
from piecework.domain.ids import AssignmentId
from piecework.engine.opening import bound_endpoint, open_on_marketplace
from piecework.payments.interrupted_payments import close_interrupted
from piecework.payments.unreject import unreject


def take_back(
    path: Path,
    assignment: str,
    *,
    because: str,
    by: str,
    keep_answers: bool,
    live: bool,
) -> None:
    """Take one rejection back."""
    reason, author = because.strip(), by.strip()
    faults = []
    if not MTURK.allows_reason(reason):
        faults.append(
            f"--because has {len(reason)} characters; the worker reads it, so "
            f"{MTURK.shortest_reason} to {MTURK.longest_reason} on one line are needed"
        )
    if not author:
        faults.append("--by is empty; a decision has an author")
    if faults:
        raise ConfigError(faults)
    campaign = load_campaign(path)
    with open_on_marketplace(campaign, bound_endpoint(campaign), live=live) as run:
        close_interrupted(run)
        kept = unreject(
            run,
            AssignmentId(assignment),
            because=reason,
            by=author,
            keep_answers=keep_answers,
        )
    click.echo(f"{assignment}: paid; {kept} answers count again, or are surplus")
    click.echo(f"next: piecework export {path}, if the dataset is written already")
