"""Connect's fee, as its estimate of a cost shows it."""

from decimal import Decimal

from piecework.marketplace.state.money import PriceList
from piecework.markets.connect.bridge.terms import MOST_APPROVAL_SECONDS
from piecework.markets.connect.client import Connect

_SAMPLE_CENTS = 100_00
_SAMPLE_MINUTES = 60


def price_list(
    connect: Connect, *, least_per_hour_cents: int, percent: Decimal | None = None
) -> PriceList:
    """Return fees as a percentage of what participants get.

    Args:
        connect: the client.
        least_per_hour_cents: the least pay for an hour.
        percent: the fee, if a person states it; None asks Connect.
    """
    if percent is None:
        cost = connect.projects.cost_cents(payment_cents=_SAMPLE_CENTS, minutes=_SAMPLE_MINUTES)
        percent = Decimal(cost - _SAMPLE_CENTS) * 100 / _SAMPLE_CENTS
    return PriceList(
        currency="USD",
        percent=percent,
        extra_percent_for_many=Decimal(0),
        extra_percent_for_masters=Decimal(0),
        minimum_cents=0,
        least_per_hour_cents=least_per_hour_cents,
        longest_approval_seconds=MOST_APPROVAL_SECONDS,
    )
