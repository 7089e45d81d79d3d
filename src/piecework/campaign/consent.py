"""Consent to spend: which marketplaces need it, and how a person gives it.

`--live` says that real people work and are owed money. A marketplace only keeps books;
its operator pays workers outside of it, or through Prolific.
"""

from datetime import date
from typing import TYPE_CHECKING

from piecework.campaign.binding import refuse_imported
from piecework.campaign.pricing import price
from piecework.domain.campaign import Campaign
from piecework.domain.errors import RefusedForSafety
from piecework.domain.text import shell_word
from piecework.platforms.endpoint import LiveSite, refuse_closed_host, why_live

if TYPE_CHECKING:
    from piecework.platforms.mturk import MTurk


def refuse_without_consent(
    campaign: Campaign, endpoint: str, *, live: bool, is_agreed: bool
) -> None:
    """Refuse work that could cost money that no person agreed to spend.

    Args:
        campaign: the campaign.
        endpoint: URL of the marketplace.
        live: whether `--live` was given.
        is_agreed: whether a person has agreed to a maximum amount.

    Raises:
        RefusedForSafety: answers were imported; the host is closed; it is another
            machine and `--live` is missing; no person agreed to an amount; or the
            pictures are drawn ones.
    """
    refuse_imported(campaign)
    refuse_closed_host(endpoint)
    if not live and (reason := why_live(endpoint, LiveSite())):
        raise _is_live(campaign, endpoint, reason)
    if campaign.rehearsal.scenes:
        raise RefusedForSafety(
            f"{campaign.path}: its pictures are drawn for rehearsals, so real people "
            "should not be paid to describe them",
            next_step=f"piecework rehearse {shell_word(campaign.path)}",
        )
    if live and not is_agreed:
        raise RefusedForSafety(
            "--live: no person has agreed to an amount yet, and without a terminal, or "
            "with --json, piecework cannot ask",
            next_step=f"add --spend-at-most AMOUNT; piecework check {shell_word(campaign.path)} "
            "shows what it may cost",
        )


def refuse_workers_elsewhere(campaign: Campaign, platform: "MTurk") -> None:
    """Refuse work without `--live` if a marketplace on this machine has other people.

    It may serve people elsewhere, or pay those of a market, so it is asked.

    Raises:
        RefusedForSafety: it does.
    """
    if reason := why_live(platform.endpoint, platform.live_site()):
        raise _is_live(campaign, platform.endpoint, reason)


def _is_live(campaign: Campaign, endpoint: str, reason: str) -> RefusedForSafety:
    return RefusedForSafety(
        f"{endpoint}: {reason}: real people do it and are owed money",
        next_step="add --live to the same command, if a person has agreed to this; "
        f"piecework check {shell_word(campaign.path)} shows what it may cost",
    )


def most_cents(campaign: Campaign, *, today: date) -> int:
    """Return the most that posting the campaign's HITs can cost, within its caps."""
    return price(campaign, on=today).at_most
