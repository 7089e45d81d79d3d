"""Asks a person for an amount, which they have to type back."""

import sys
from typing import TYPE_CHECKING

import click

from piecework.domain.clock import SystemClock
from piecework.domain.errors import RefusedForSafety
from piecework.domain.money import Currency, cents_from_text, shown

if TYPE_CHECKING:
    from piecework.domain.campaign import Campaign


def consent_to_spend(
    campaign: "Campaign", endpoint: str, *, live: bool, stated_cents: int | None, as_json: bool
) -> int | None:
    """Return the amount in cents that a person allows; `None` leaves it as it was.

    Args:
        campaign: the campaign.
        endpoint: URL of the marketplace.
        live: whether `--live` was given.
        stated_cents: the amount of `--spend-at-most`, if given.
        as_json: whether a program reads the output, which asks no person.

    Raises:
        RefusedForSafety: the person typed another amount, or there is no terminal to
            ask on; see also `piecework.campaign.price_list`.
    """
    from piecework.campaign.consent import most_cents, refuse_without_consent
    from piecework.campaign.price_list import ask_prices, with_prices
    from piecework.engine.begun import agreed_before, has_posted
    from piecework.platforms.endpoint import normal_endpoint
    from piecework.platforms.mturk import MTurk

    rewards = campaign.rewards
    agreed_cents = stated_cents
    if live and stated_cents is None:
        agreed_cents = agreed_before(campaign)
    refuse_without_consent(
        campaign,
        normal_endpoint(endpoint),
        live=live,
        is_agreed=agreed_cents is not None or _may_ask(as_json=as_json),
    )
    if not live or agreed_cents is not None:
        return stated_cents
    today = SystemClock().now().date()
    # The most that it can cost depends on this marketplace's fees.
    platform = MTurk.with_keys(normal_endpoint(endpoint), None)
    priced = with_prices(
        campaign, ask_prices(campaign, platform, today=today, has_posted=has_posted(campaign))
    )
    most = most_cents(priced, today=today)
    caps = "caps"
    if rewards.budget_is_derived:
        caps += f"; its budget, {rewards.shown(priced.rewards.budget_cents)}, is derived"
    click.echo(
        f"live: campaign {campaign.name} on {endpoint} can cost up to "
        f"{rewards.shown(most)} (all rounds, within its {caps}).\nThe marketplace "
        "records what each worker is owed. Prolific pays its participants. You pay "
        "other workers outside.",
        err=True,
    )
    type_back(most, rewards.currency, otherwise="nothing was posted")
    return most


def refuse_unseen_pictures(campaign: "Campaign", endpoint: str) -> None:
    """Refuse to begin live work whose pictures workers would not see.

    Later batches are tried when they are posted.

    Raises:
        RefusedForSafety: a picture of a sample cannot be loaded.
    """
    from piecework.campaign.shown_media import refuse_unseen, warnings_of_ends
    from piecework.engine.begun import has_posted
    from piecework.platforms.endpoint import normal_endpoint
    from piecework.platforms.mturk import MTurk

    if has_posted(campaign):
        return
    platform = MTurk.with_keys(normal_endpoint(endpoint), None)
    for sentence in refuse_unseen(campaign, campaign.items, platform):
        click.secho(f"WARNING: not tried from here: {sentence}", fg="yellow", err=True)
    for sentence in warnings_of_ends(campaign, campaign.items, SystemClock().now()):
        click.secho(f"WARNING: {sentence}", fg="yellow", err=True)


def is_agreed(cents: int, currency: Currency, *, beforehand: bool, as_json: bool) -> bool:
    """Return whether an amount may be paid; ask on a terminal.

    Args:
        cents: the amount.
        currency: its currency.
        beforehand: whether the person agreed with an option.
        as_json: whether a program reads the output, which asks no person.

    Raises:
        RefusedForSafety: the person typed another amount.
    """
    if beforehand:
        return True
    if not _may_ask(as_json=as_json):
        return False
    type_back(cents, currency, otherwise="nothing was paid")
    return True


def _may_ask(*, as_json: bool) -> bool:
    return sys.stdin.isatty() and not as_json


def type_back(cents: int, currency: Currency, *, otherwise: str) -> None:
    """Ask a person to type an amount back.

    Raises:
        RefusedForSafety: they typed something else; `otherwise` says what follows.
    """
    typed = click.prompt(
        f"type {shown(cents, currency)} to continue", default="", show_default=False, err=True
    )
    try:
        is_same = cents_from_text(typed.replace(",", ""), currency) == cents
    except ValueError:
        is_same = False
    if not is_same:
        raise RefusedForSafety(f"that is not {shown(cents, currency)}: {otherwise}")
