"""How one campaign spreads its HITs over several markets of paid workers.

The marketplace may let workers of several markets in at once. A HIT type that requires
a crowd's qualification type is done by the workers of that market only.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, get_args

from piecework.domain.ids import QualificationTypeId

Market = Literal["prolific", "connect", "panel"]
"""Every market: its folder in `piecework.markets` has the same name."""

MARKETS: tuple[Market, ...] = get_args(Market)

_TYPE = "CROWD"


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowds:
    """Which markets a campaign's HITs go to.

    Attributes:
        percent: per cent of the assignments by market, together 100, in the order
            of `MARKETS`; empty if the cheapest market is used.
        cheapest: the markets to choose the cheapest from; empty with shares.
        within_seconds: the deadline with `cheapest`, counted from the first HIT; 0
            with shares.
    """

    percent: tuple[tuple[Market, int], ...] = ()
    cheapest: tuple[Market, ...] = ()
    within_seconds: int = 0

    @property
    def markets(self) -> tuple[Market, ...]:
        """The markets that the campaign names."""
        return self.cheapest or tuple(market for market, _ in self.percent)


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketPrice:
    """The price of a campaign's first rounds at one market; money in cents.

    Attributes:
        hits: HITs that go to it as planned.
        assignments: their assignments.
        fee_percent: the fee on the reward, in per cent.
        fee_cents: the fee of one assignment of a usual HIT.
        hit_cents: reward and fee of all assignments of such a HIT.
        cents: reward and fees of the HITs that go to it.
        whole_cents: reward and fees if all HITs went to it.
    """

    market: str
    hits: int
    assignments: int
    fee_percent: Decimal
    fee_cents: int
    hit_cents: int
    cents: int
    whole_cents: int


def crowd_type(market: str) -> QualificationTypeId:
    """Return the qualification type that the workers of a market hold.

    >>> crowd_type("panel")
    'CROWDPANEL'
    """
    return QualificationTypeId(f"{_TYPE}{market.upper()}")


def market_of_type(type_id: str) -> str:
    """Return the market that a qualification type stands for; "" for other types.

    >>> market_of_type("CROWDPANEL"), market_of_type("PROLIFICAGE")
    ('panel', '')
    """
    market = type_id.removeprefix(_TYPE).lower()
    return market if market in MARKETS and type_id == crowd_type(market) else ""
