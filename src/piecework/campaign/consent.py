"""Consent to spend: which marketplaces need it, and how a person gives it.

`--live` says that real people work and are owed money. A marketplace keeps books and
moves no money by itself; its operator pays outside of it, or has Prolific pay.
"""

from datetime import date

from piecework.campaign.binding import refuse_imported
from piecework.campaign.pricing import price
from piecework.domain.campaign import Campaign
from piecework.domain.errors import RefusedForSafety
from piecework.platforms.endpoint import is_on_this_machine, refuse_closed_host


def refuse_without_consent(
    campaign: Campaign, endpoint: str, *, live: bool, is_agreed: bool
) -> None:
    """Refuse what could cost money that no person agreed to spend.

    Args:
        campaign: the campaign.
        endpoint: URL of the marketplace.
        live: whether `--live` was said.
        is_agreed: whether an amount is known that may be spent at most.

    Raises:
        RefusedForSafety: answers were imported, or the host is closed, or is another
            machine and `--live` was not said, or no person agreed to an amount, or the
            pictures are drawn ones.
    """
    refuse_imported(campaign)
    refuse_closed_host(endpoint)
    if not is_on_this_machine(endpoint) and not live:
        raise RefusedForSafety(
            f"{endpoint}: a marketplace on another machine is live work: real people "
            "do it and are owed money",
            next_step=f"piecework run {campaign.path} --endpoint {endpoint} --live",
        )
    if campaign.rehearsal.scenes:
        raise RefusedForSafety(
            f"{campaign.path}: its pictures are drawn for rehearsals; nobody should be "
            "paid to describe them",
            next_step=f"piecework rehearse {campaign.path}",
        )
    if live and not is_agreed:
        raise RefusedForSafety(
            "--live: nobody has agreed to an amount yet, and there is no terminal to "
            "ask at",
            next_step=f"add --spend-at-most AMOUNT; piecework check {campaign.path} "
            "tells what it may cost",
        )


def most_cents(campaign: Campaign, *, today: date) -> int:
    """The most that posting the campaign's HITs can cost, within its caps."""
    return price(campaign, on=today).at_most
