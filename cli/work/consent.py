"""Asks a person for an amount: it is shown, and has to be typed back."""

import sys
from pathlib import Path

import click

from domain.clock import SystemClock
from domain.errors import RefusedForSafety
from domain.money import cents_from_text, dollars
from flows.assembling import load_campaign
from flows.consent import (
    agreed_before,
    most_cents,
    refuse_without_consent,
)
from flows.pass_request import amount_cents
from platforms.endpoint import normal_endpoint


def consent_to_spend(
    path: Path, endpoint: str, *, live: bool, spend_at_most: str | None
) -> int | None:
    """The amount in cents that a person allows now; `None`: as before, or not asked.

    Raises:
        RefusedForSafety: another amount was typed, or nobody can be asked.
    """
    campaign = load_campaign(path)
    given = None if spend_at_most is None else amount_cents(spend_at_most)
    known = agreed_before(campaign) if given is None else given
    can_ask = sys.stdin.isatty()
    refuse_without_consent(
        campaign,
        normal_endpoint(endpoint),
        live=live,
        is_agreed=known is not None or can_ask,
    )
    if not live or known is not None:
        return given
    most = most_cents(campaign, today=SystemClock().now().date())
    click.echo(
        f"live: campaign {campaign.name} on {endpoint} can cost up to {dollars(most)} "
        "(all rounds, within its caps).\nThe marketplace writes down what each worker "
        "is owed; you pay it outside."
    )
    type_back(most, otherwise="nothing was posted")
    return most


def type_back(cents: int, *, otherwise: str) -> None:
    """Let a person type an amount back.

    Raises:
        RefusedForSafety: something else was typed; `otherwise` says what follows.
    """
    typed = click.prompt(
        f"type {dollars(cents)} to go on", default="", show_default=False
    )
    try:
        is_same = cents_from_text(typed.replace(",", "")) == cents
    except ValueError:
        is_same = False
    if not is_same:
        raise RefusedForSafety(f"that is not {dollars(cents)}: {otherwise}")
