"""How one campaign spreads its HITs over several markets of paid workers.

The marketplace may let workers of several markets in at once. A HIT type that requires
a crowd's qualification type is done by the workers of that market only.
"""

from dataclasses import dataclass
from typing import Literal, get_args

from piecework.domain.ids import QualificationTypeId

Market = Literal["prolific", "connect", "panel"]
MARKETS: tuple[Market, ...] = get_args(Market)

_TYPE = "CROWD"


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowds:
    """Which markets a campaign's HITs go to.

    Attributes:
        percent: per cent of the answers by market, together 100, in the order
            of `MARKETS`; empty if the cheapest market is used.
        cheapest: the markets of which the cheapest is used; empty if shares are stated.
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


def crowd_type(market: str) -> QualificationTypeId:
    """Return the qualification type that the workers of a market hold.

    >>> crowd_type("connect")
    'CROWDCONNECT'
    """
    return QualificationTypeId(f"{_TYPE}{market.upper()}")


def market_of_type(type_id: str) -> str:
    """Return the market that a qualification type stands for; "" for other types.

    >>> market_of_type("CROWDPANEL"), market_of_type("PROLIFICAGE")
    ('panel', '')
    """
    market = type_id.removeprefix(_TYPE).lower()
    return market if market in MARKETS and type_id == crowd_type(market) else ""
