"""The prices of a campaign before it runs: its store's, or those of a marketplace."""

from datetime import date

from piecework.campaign.prices import ask_prices, with_prices
from piecework.domain.campaign import Campaign
from piecework.domain.money import PriceList
from piecework.engine.opening import as_begun, has_posted
from piecework.platforms.endpoint import normal_endpoint, refuse_closed_host
from piecework.platforms.mturk import MTurk


def as_priced(
    campaign: Campaign, endpoint: str | None, *, on: date
) -> tuple[Campaign, PriceList | None]:
    """Return the campaign with the prices that are known, and the marketplace's list.

    Args:
        campaign: as it was read.
        endpoint: a marketplace to ask; `None`: the prices that the store has kept, if
            it has, and no list.
        on: the day for which the campaign file's fees are compared.

    Raises:
        RefusedForSafety: as `piecework.campaign.prices.ask_prices`.
        StoreError: its store is in another currency.
    """
    begun = as_begun(campaign)
    if endpoint is None:
        return begun, None
    address = normal_endpoint(endpoint)
    refuse_closed_host(address)
    prices = ask_prices(
        begun, MTurk.with_keys(address, None), today=on, has_posted=has_posted(campaign)
    )
    return with_prices(begun, prices), prices
