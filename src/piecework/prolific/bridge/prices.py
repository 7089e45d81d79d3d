"""What Prolific takes: asked, never assumed; it differs by account and country."""

from decimal import Decimal

from piecework.marketplace.state.money import PriceList
from piecework.prolific.client import Prolific

_SAMPLE_CENTS = 100_00


def price_list(
    prolific: Prolific, currency: str, *, least_per_hour_cents: int = 0
) -> PriceList:
    """Fee and tax as a percentage of what participants get.

    Prolific computes what a place of a hundred pounds or dollars costs. It rounds each
    payment by itself, so what a visit costs may differ by a penny; the bridge books
    that (`settling`).
    """
    cost = prolific.studies.calculated_cost_minor(reward_minor=_SAMPLE_CENTS, places=1)
    return PriceList(
        currency=currency,
        percent=Decimal(cost - _SAMPLE_CENTS) * 100 / _SAMPLE_CENTS,
        extra_percent_for_many=Decimal(0),
        extra_percent_for_masters=Decimal(0),
        minimum_cents=0,
        least_per_hour_cents=least_per_hour_cents,
    )
