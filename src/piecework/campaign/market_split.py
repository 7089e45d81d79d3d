"""Which market each HIT goes to; pure functions of counts, costs and times.

The same HITs in the same order always go to the same markets, so a pass that was killed
and repeated plans the same HITs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


class Split:
    """Gives each HIT to the market that lacks most of its share so far.

    Args:
        shares: the share of each market, in any unit; all positive.
        held: assignments that each market has already.
    """

    def __init__(self, shares: Mapping[str, float], held: Mapping[str, int] | None = None) -> None:
        self.shares = dict(shares)
        self._whole = sum(shares.values())
        self._held = {market: (held or {}).get(market, 0) for market in shares}

    def next_market(self, assignments: int) -> str:
        """Return the market of the next HIT, which has this many assignments.

        Of markets that lack the same, the first named gets it.

        >>> split, markets = Split({"prolific": 60, "connect": 40}), []
        >>> for _ in range(5):
        ...     markets.append(split.next_market(1))
        ...     split.count(markets[-1], 1)
        >>> markets
        ['prolific', 'connect', 'prolific', 'connect', 'prolific']
        """
        total = sum(self._held.values()) + assignments
        return max(
            self.shares,
            key=lambda market: self.shares[market] * total - self._whole * self._held[market],
        )

    def count(self, market: str, assignments: int) -> None:
        """Count assignments that a market has got; other markets have no share."""
        if market in self._held:
            self._held[market] += assignments


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How fast a market has worked for a campaign.

    Attributes:
        per_hour: collected assignments for each hour since its first HIT was posted;
            `None` if it has had no HIT for any time.
        open: its assignments that are posted or planned, and not collected.
    """

    per_hour: float | None = None
    open: int = 0

    def finishes(self, hours: float) -> float | None:
        """Return how many more assignments it finishes; `None` if that is unknown."""
        if self.per_hour is None:
            return None
        return max(0.0, self.per_hour * hours - self.open)


def cheapest_in_time(
    markets: Sequence[str], paces: Mapping[str, Pace], *, wanted: int, hours_left: float
) -> dict[str, float]:
    """Return how many of the wanted assignments each market should get.

    The cheapest market gets as many as it finishes in time, then the next. A market
    whose pace is not known is expected to finish what it gets. What no market finishes
    in time goes to the fastest.

    Args:
        markets: the markets, the cheapest first; at least one.
        paces: how fast each of them has worked; absent: unknown.
        wanted: assignments that are still to be posted; more than 0.
        hours_left: time until the deadline; negative after it.

    >>> paces = {"connect": Pace(per_hour=5.0), "prolific": Pace(per_hour=50.0)}
    >>> cheapest_in_time(["connect", "prolific"], paces, wanted=100, hours_left=10)
    {'connect': 50.0, 'prolific': 50.0}
    """
    shares, left = dict[str, float](), float(wanted)
    for market in markets:
        finishes = paces.get(market, Pace()).finishes(hours_left)
        share = left if finishes is None else min(left, finishes)
        if share > 0:
            shares[market] = share
            left -= share
    if left > 0:
        fastest = max(markets, key=lambda market: paces[market].per_hour or 0.0)
        shares[fastest] = shares.get(fastest, 0.0) + left
    return shares
