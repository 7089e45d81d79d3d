"""A panel's fees, as its file states them."""

from decimal import Decimal

from piecework.marketplace.state.assignments import LATEST_APPROVAL_OF_VISITS_MS
from piecework.marketplace.state.clock import SECOND
from piecework.marketplace.state.money import PriceList
from piecework.marketplace.state.outside_market import OutsideMarket
from piecework.markets.panel.panel_file import NAME, Panel


def prices_of(panel: Panel) -> PriceList:
    """Return the marketplace's prices while it serves a panel."""
    return PriceList(
        currency=panel.pay.currency,
        percent=panel.pay.percent,
        extra_percent_for_many=Decimal(0),
        extra_percent_for_masters=Decimal(0),
        minimum_cents=0,
        longest_approval_seconds=LATEST_APPROVAL_OF_VISITS_MS // SECOND,
    )


def market_of(panel: Panel) -> OutsideMarket:
    """Return the panel as the market that sends people; it pays them from a list."""
    return OutsideMarket(name=NAME, title=panel.title, prices=prices_of(panel), has_bridge=False)
