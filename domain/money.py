"""Money as whole cents: what work costs, before it is spent.

Fees follow the MTurk price list as archived on 2026-09-30 (20 % of reward and bonus;
another 20 % of the reward from ten assignments a HIT; at least one cent an assignment
or bonus), which piecework's own marketplace keeps by default so that a rehearsal
forecasts what a market would take. Halves round up, per assignment.
"""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

MANY_ASSIGNMENTS = 10
"""From this many assignments a HIT, MTurk takes the higher fee."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeeSchedule:
    """What a platform takes on top of what workers get.

    Attributes:
        percent: of reward or bonus, in per cent.
        extra_percent_for_many: added to the reward's fee from ten assignments a HIT.
        minimum_cents: the least fee of one paid assignment or bonus.
    """

    percent: Decimal = Decimal(20)
    extra_percent_for_many: Decimal = Decimal(20)
    minimum_cents: int = 1

    def reward_fee_cents(self, reward_cents: int, *, max_assignments: int) -> int:
        """The fee of one approved assignment, in cents.

        >>> FeeSchedule().reward_fee_cents(55, max_assignments=5)
        11
        >>> FeeSchedule().reward_fee_cents(55, max_assignments=10)
        22
        """
        percent = self.percent
        if max_assignments >= MANY_ASSIGNMENTS:
            percent += self.extra_percent_for_many
        return self._fee(reward_cents, percent)

    def bonus_fee_cents(self, bonus_cents: int) -> int:
        """The fee of one bonus, in cents."""
        return self._fee(bonus_cents, self.percent)

    def _fee(self, amount_cents: int, percent: Decimal) -> int:
        if percent == 0:
            return 0
        fee = (amount_cents * percent / 100).quantize(Decimal(1), ROUND_HALF_UP)
        return max(int(fee), self.minimum_cents)


def cents_to_wire(cents: int) -> str:
    """Cents as the decimal string that MTurk's API wants.

    >>> cents_to_wire(55)
    '0.55'
    """
    return f"{cents // 100}.{cents % 100:02d}"


def cents_from_wire(amount: str) -> int:
    """The decimal string of MTurk's API as cents.

    Raises:
        ValueError: the text is no amount of whole cents.

    >>> cents_from_wire("0.5")
    50
    """
    cents = Decimal(amount) * 100
    if cents != cents.to_integral_value() or not cents.is_finite():
        raise ValueError(f"{amount!r} is no amount of whole cents")
    return int(cents)


def dollars(cents: int) -> str:
    """Cents for people: `$1,234.50`, or `-$0.20`."""
    sign = "-" if cents < 0 else ""
    return f"{sign}${abs(cents) // 100:,}.{abs(cents) % 100:02d}"
