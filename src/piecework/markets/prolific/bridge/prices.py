"""Prolific's fees, looked up because they differ by account and country."""

from decimal import Decimal

from piecework.marketplace.state.assignments import LATEST_APPROVAL_OF_VISITS_MS
from piecework.marketplace.state.clock import SECOND
from piecework.marketplace.state.money import PriceList
from piecework.markets.prolific.client import Prolific

_SAMPLE_CENTS = 100_00


def price_list(prolific: Prolific, currency: str, *, least_per_hour_cents: int = 0) -> PriceList:
    """Return fees and tax as a percentage of what participants get.

    Prolific computes the cost of a place that pays a hundred pounds or dollars. It
    rounds each payment separately, so a visit's cost may differ by a penny; the bridge
    books the difference (`settling`).
    """
    cost = prolific.studies.calculated_cost_minor(reward_minor=_SAMPLE_CENTS, places=1)
    return PriceList(
        currency=currency,
        percent=Decimal(cost - _SAMPLE_CENTS) * 100 / _SAMPLE_CENTS,
        extra_percent_for_many=Decimal(0),
        extra_percent_for_masters=Decimal(0),
        minimum_cents=0,
        least_per_hour_cents=least_per_hour_cents,
        longest_approval_seconds=LATEST_APPROVAL_OF_VISITS_MS // SECOND,
    )
