"""A marketplace's currency and fees: asked when a campaign is opened there, and kept.

The marketplace's own price list has priority over the campaign file's fees and over
`config/fees.toml`, so that the ledger holds the real cost. The store keeps it for
commands that only look.
"""

import logging
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

from piecework.campaign.deriving import with_derived_budget
from piecework.domain.campaign import Campaign
from piecework.domain.errors import RefusedForSafety
from piecework.domain.hit import PROLIFIC
from piecework.domain.money import CrowdPrices, FeeSchedule, PriceList

if TYPE_CHECKING:
    from piecework.platforms.mturk import MTurk

_LOG = logging.getLogger(__name__)


def ask_prices(
    campaign: Campaign, platform: "MTurk", *, today: date, has_posted: bool
) -> PriceList | None:
    """Return the marketplace's price list; `None` if it has none.

    Args:
        campaign: the campaign.
        platform: the marketplace.
        today: the day for which the campaign file's fees are compared.
        has_posted: whether HITs of the campaign were posted already.

    Raises:
        RefusedForSafety: it has another currency; or no HIT was posted yet, and it does
            not let in a market that the campaign names, or the campaign file states
            other fees.
    """
    prices = platform.prices()
    if campaign.crowds is not None:
        _check_markets(campaign, platform, prices, has_posted=has_posted)
        return prices
    currency_text = "does not state its currency, so it counts as USD"
    if prices is not None:
        currency_text = f"uses {prices.currency}"
    rewards = campaign.rewards
    if rewards.currency != (prices.currency if prices else "USD"):
        raise RefusedForSafety(
            f"{campaign.path}: currency is {rewards.currency}, but "
            f"{platform.endpoint} {currency_text}; no HITs were posted",
            next_step="use a marketplace with that currency, or state currency and all "
            "amounts in the marketplace's",
        )
    stated = [fees for fees in rewards.fees if fees.valid_from <= today][-1:]
    if prices and stated and not rewards.fees_are_listed:
        _compare(campaign, platform, stated[0], prices.fees, has_posted=has_posted)
    return prices


def with_prices(campaign: Campaign, prices: PriceList | None) -> Campaign:
    """Return the campaign with the fees of the marketplace, on any day.

    A schedule with the same fees keeps its own source. The auto-approval delay is the
    marketplace's longest if that is shorter, so that no decision comes too late.
    Without a price list the campaign stays as it is.
    """
    if prices is None:
        return campaign
    own = _terms_without_markets(campaign, prices)
    known = (fees for fees in campaign.rewards.fees if fees.takes_as(own.fees))
    fees = next(known, own.fees)
    rewards = replace(
        campaign.rewards,
        fees=(fees,),
        fees_are_listed=False,
        fees_by_market=tuple((each.market, each.fees) for each in prices.crowds),
    )
    posting = campaign.posting
    longest = [
        terms.longest_approval_seconds
        for terms in terms_of(campaign, prices)
        if terms.longest_approval_seconds
    ]
    if longest:
        delay = min(posting.auto_approval_delay_seconds, *longest)
        posting = replace(posting, auto_approval_delay_seconds=delay)
    return with_derived_budget(replace(campaign, rewards=rewards, posting=posting))


def without_markets(campaign: Campaign, prices: PriceList | None) -> Campaign:
    """Return the campaign for a marketplace that lets in no outside crowd.

    A rehearsal's own workers do every HIT, so the campaign's markets have no effect.
    """
    if prices is not None and prices.crowds:
        return campaign
    return replace(campaign, crowds=None)


def terms_of(campaign: Campaign, prices: PriceList) -> list[PriceList | CrowdPrices]:
    """Return the terms that hold for the campaign's HITs: those of its markets."""
    by_market = {each.market: each for each in prices.crowds}
    own = _terms_without_markets(campaign, prices)
    return [by_market.get(market, own) for market in campaign.markets]


def _terms_without_markets(campaign: Campaign, prices: PriceList) -> PriceList | CrowdPrices:
    """Return the terms for HITs that name no market.

    A requirement on one of Prolific's filters names Prolific; otherwise they are for
    the marketplace's first market.
    """
    asks_prolific = any(
        requirement.qualification_type_id.startswith(PROLIFIC)
        for requirement in campaign.requirements
    )
    of_prolific = (each for each in prices.crowds if each.market == "prolific")
    return next(of_prolific, prices) if asks_prolific else prices


def _check_markets(
    campaign: Campaign, platform: "MTurk", prices: PriceList | None, *, has_posted: bool
) -> None:
    """Refuse to begin if a market is not let in, or has another currency."""
    crowds = () if prices is None else prices.crowds
    currency = {each.market: each.currency for each in crowds}
    stated, where = campaign.rewards.currency, f"{campaign.path}: {platform.endpoint}"
    others = [
        f"{market} in {currency[market]}"
        for market in campaign.markets
        if currency.get(market, stated) != stated
    ]
    if others:
        raise RefusedForSafety(
            f"{where} pays {' and '.join(others)}, but currency is {stated}; no HITs were posted",
            next_step="use markets with one currency, and state currency and all amounts in it",
        )
    missing = [market for market in campaign.markets if market not in currency]
    if not missing:
        return
    sentence = (
        f"{where} serves {' and '.join(currency) or 'no market'}, but the campaign is for "
        f"{' and '.join(missing)}"
    )
    if has_posted:
        # Workers of the other markets are waiting for their pay.
        _LOG.warning("%s; HITs for it wait", sentence)
        return
    raise RefusedForSafety(
        f"{sentence}; no HITs were posted",
        next_step="change markets, or give --crowd NAME for each of these markets "
        "to piecework market serve or rehearse",
    )


def _compare(
    campaign: Campaign,
    platform: "MTurk",
    stated: FeeSchedule,
    taken: FeeSchedule,
    *,
    has_posted: bool,
) -> None:
    if stated.takes_as(taken):
        return
    sentence = (
        f"{campaign.path}: [[fees]] of the machine's file state {_terms(campaign, stated)}, but "
        f"{platform.endpoint} charges {_terms(campaign, taken)}"
    )
    if has_posted:
        # Workers are waiting for their pay, and the caps are compared with the real
        # fees.
        _LOG.warning("%s; the marketplace's fees count", sentence)
        return
    raise RefusedForSafety(
        f"{sentence}; no HITs were posted",
        next_step="remove [[fees]] from the machine's file: the marketplace's own are used",
    )


def _terms(campaign: Campaign, fees: FeeSchedule) -> str:
    return (
        f"{fees.percent.normalize():f} % ({fees.extra_percent_for_many.normalize():f} "
        f"% more from ten, {fees.masters_percent.normalize():f} % more for masters, "
        f"{campaign.rewards.shown(fees.minimum_cents)} at least)"
    )
