"""Amounts in whole cents (or pence), and the price list that fees follow."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from piecework.marketplace.exceptions import invalid_parameters

_SIGNS = {"GBP": "£", "USD": "$"}

MANY_ASSIGNMENTS = 10
"""From so many assignments on, a HIT pays the fee for many."""

LARGEST_AMOUNT_CENTS = 10**11
"""No reward or bonus is a billion dollars; a bound keeps sums inside SQLite's ints."""


def cents(amount: str) -> int:
    """A CurrencyAmount, which the service model's pattern has passed, as cents.

    >>> cents("0.5"), cents("12"), cents("3.")
    (50, 1200, 300)
    """
    value = int(Decimal(amount) * 100)
    if value > LARGEST_AMOUNT_CENTS:
        raise invalid_parameters(f"The amount {amount[:40]} is too large.")
    return value


def currency(amount_cents: int) -> str:
    """Cents as a CurrencyAmount.

    >>> currency(5)
    '0.05'
    """
    return f"{amount_cents // 100}.{amount_cents % 100:02d}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceList:
    """What is taken on top of what workers get; each fee on its own, halves rounded up.

    The defaults are MTurk's list as archived on 2026-09-30.

    Attributes:
        currency: ISO 4217; the requester API itself names none.
        percent: of reward and bonus.
        extra_percent_for_many: of the reward, from `MANY_ASSIGNMENTS` a HIT.
        extra_percent_for_masters: of the reward, where only masters may work.
        minimum_cents: the least fee of an assignment or bonus; where the percentage is
            nothing, there is no fee.
        least_per_hour_cents: what an hour is to be paid at least there; 0 is not said.
    """

    currency: str = "USD"
    percent: Decimal = Decimal(20)
    extra_percent_for_many: Decimal = Decimal(20)
    extra_percent_for_masters: Decimal = Decimal(5)
    minimum_cents: int = 1
    least_per_hour_cents: int = 0

    @classmethod
    def of_members(cls, members: Mapping[str, str | int]) -> "PriceList":
        """The list that `members` gave."""
        return cls(
            currency=str(members["Currency"]),
            percent=Decimal(str(members["Percent"])),
            extra_percent_for_many=Decimal(str(members["ExtraPercentForMany"])),
            extra_percent_for_masters=Decimal(str(members["ExtraPercentForMasters"])),
            minimum_cents=int(members["MinimumInCents"]),
            least_per_hour_cents=int(members.get("LeastPerHourInCents", 0)),
        )

    def members(self) -> dict[str, str | int]:
        """Plain values, as requesters are told them and the database keeps them.

        >>> PriceList.of_members(MTURK.members()) == MTURK
        True
        """
        return {
            "Currency": self.currency,
            "Percent": str(self.percent),
            "ExtraPercentForMany": str(self.extra_percent_for_many),
            "ExtraPercentForMasters": str(self.extra_percent_for_masters),
            "MinimumInCents": self.minimum_cents,
            "LeastPerHourInCents": self.least_per_hour_cents,
        }

    @property
    def sign(self) -> str:
        """What stands before an amount: a sign, or else the currency's code."""
        return _SIGNS.get(self.currency, f"{self.currency} ")

    def shown(self, amount_cents: int) -> str:
        """Cents (or pence) for people.

        >>> PriceList().shown(123450), PriceList(currency="GBP").shown(5)
        ('$1,234.50', '£0.05')
        """
        return f"{self.sign}{amount_cents // 100:,}.{amount_cents % 100:02d}"

    def reward_fee_cents(
        self, reward_cents: int, *, max_assignments: int, for_masters: bool = False
    ) -> int:
        """The fee of one approved assignment of a HIT made for `max_assignments`.

        >>> [PriceList().reward_fee_cents(55, max_assignments=n) for n in (9, 10)]
        [11, 22]
        >>> PriceList().reward_fee_cents(100, max_assignments=1, for_masters=True)
        25
        """
        percent = self.percent
        if max_assignments >= MANY_ASSIGNMENTS:
            percent += self.extra_percent_for_many
        if for_masters:
            percent += self.extra_percent_for_masters
        return self._fee(reward_cents, percent)

    def bonus_fee_cents(self, bonus_cents: int) -> int:
        """The fee of one bonus.

        >>> PriceList().bonus_fee_cents(2), PriceList().bonus_fee_cents(8)
        (1, 2)
        """
        return self._fee(bonus_cents, self.percent)

    def _fee(self, amount_cents: int, percent: Decimal) -> int:
        if not percent:
            return 0
        exact = amount_cents * percent / 100
        return max(int(exact.quantize(Decimal(1), ROUND_HALF_UP)), self.minimum_cents)


MTURK = PriceList()
"""What Amazon took."""
