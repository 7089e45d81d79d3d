"""A marketplace's currency and fees: asked when a campaign is opened there, and kept.

What a marketplace says of itself goes before the campaign file's fees and before
`config/fees.toml`, so that the ledger holds what is really taken. The store keeps it
for whoever only looks.
"""

import logging
from dataclasses import replace
from datetime import date

from piecework.domain.campaign import Campaign
from piecework.domain.errors import RefusedForSafety
from piecework.domain.money import FeeSchedule, PriceList
from piecework.platforms.ports import Platform

_LOG = logging.getLogger(__name__)


def ask_prices(
    campaign: Campaign, platform: Platform, *, today: date, has_posted: bool
) -> PriceList | None:
    """What the marketplace says of its money; `None`: nothing.

    Args:
        campaign: the campaign.
        platform: the marketplace.
        today: the day whose fees the campaign file states.
        has_posted: whether HITs of the campaign were posted already.

    Raises:
        RefusedForSafety: its money is not the campaign's, or the campaign file states
            other fees and nothing was posted yet.
    """
    prices = platform.prices()
    currency_text = "says nothing of its currency, so that it counts as USD"
    if prices is not None:
        currency_text = f"has its money in {prices.currency}"
    rewards = campaign.rewards
    if rewards.currency != (prices.currency if prices else "USD"):
        raise RefusedForSafety(
            f"{campaign.path}: rewards.currency is {rewards.currency}, and "
            f"{platform.endpoint} {currency_text}; nothing was posted",
            next_step="name a marketplace of that currency, or state currency and all "
            "amounts of [rewards] in the marketplace's",
        )
    stated = [fees for fees in rewards.fees if fees.valid_from <= today][-1:]
    if prices and stated and not rewards.fees_are_listed:
        _compare(campaign, platform, stated[0], prices.fees, has_posted=has_posted)
    return prices


def with_prices(campaign: Campaign, prices: PriceList | None) -> Campaign:
    """The campaign at the fees of the marketplace, whichever day it is.

    A schedule that takes the same keeps its own source; without a price list nothing
    changes.
    """
    if prices is None:
        return campaign
    known = (fees for fees in campaign.rewards.fees if fees.takes_as(prices.fees))
    fees = next(known, prices.fees)
    rewards = replace(campaign.rewards, fees=(fees,), fees_are_listed=False)
    return replace(campaign, rewards=rewards)


def _compare(
    campaign: Campaign,
    platform: Platform,
    stated: FeeSchedule,
    taken: FeeSchedule,
    *,
    has_posted: bool,
) -> None:
    if stated.takes_as(taken):
        return
    sentence = (
        f"{campaign.path}: rewards.fees state {_terms(campaign, stated)}, and "
        f"{platform.endpoint} itself takes {_terms(campaign, taken)}"
    )
    if has_posted:
        # Workers are waiting for their pay, and the caps are compared with what is
        # really taken.
        _LOG.warning("%s; that is what counts", sentence)
        return
    raise RefusedForSafety(
        f"{sentence}; nothing was posted",
        next_step="leave [[rewards.fees]] out: a marketplace that says what it takes "
        "is priced by that",
    )


def _terms(campaign: Campaign, fees: FeeSchedule) -> str:
    return (
        f"{fees.percent.normalize():f} % ({fees.extra_percent_for_many.normalize():f} "
        f"% more from ten, {fees.masters_percent.normalize():f} % more for masters, "
        f"{campaign.rewards.shown(fees.minimum_cents)} at least)"
    )
