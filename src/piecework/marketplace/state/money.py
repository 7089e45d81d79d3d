"""Amounts in whole cents (or pence), and the price list of fees."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from piecework.marketplace.exceptions import invalid_parameters

_SIGNS = {"GBP": "£", "USD": "$"}

MANY_ASSIGNMENTS = 10
"""From this number of assignments on, a HIT pays the fee for many."""

LARGEST_AMOUNT_CENTS = 10**11
"""A bound of a billion dollars keeps sums within SQLite's integers."""

_MOST_DIGITS = len(str(LARGEST_AMOUNT_CENTS))


def cents(amount: str) -> int:
    """Convert a CurrencyAmount that matches the service model's pattern to cents.

    >>> cents("0.5"), cents("12"), cents("3.")
    (50, 1200, 300)
    """
    whole = amount.partition(".")[0].lstrip("0")
    value = Decimal(amount) * 100 if len(whole) < _MOST_DIGITS else Decimal("inf")
    if value > LARGEST_AMOUNT_CENTS:
        raise invalid_parameters(f"The amount {amount[:40]} is too large.")
    return int(value)


def currency(amount_cents: int) -> str:
    """Format cents as a CurrencyAmount.

    >>> currency(5)
    '0.05'
    """
    return f"{amount_cents // 100}.{amount_cents % 100:02d}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceList:
    """The fees on top of workers' pay; each is rounded, half a cent up.

    The defaults are MTurk's list as archived on 2026-09-30.

    Attributes:
        currency: ISO 4217; the requester API itself has no currency.
        percent: the fee on reward and bonus.
        extra_percent_for_many: on the reward, from `MANY_ASSIGNMENTS` per HIT.
        extra_percent_for_masters: on the reward, if only masters may work.
        minimum_cents: the lowest fee of an assignment or bonus; if the percentage is 0,
            there is no fee.
        least_per_hour_cents: the market's minimum pay per hour; 0 if not stated.
        longest_approval_seconds: the longest auto-approval delay that applies; 0 if any
            does.
    """

    currency: str = "USD"
    percent: Decimal = Decimal(20)
    extra_percent_for_many: Decimal = Decimal(20)
    extra_percent_for_masters: Decimal = Decimal(5)
    minimum_cents: int = 1
    least_per_hour_cents: int = 0
    longest_approval_seconds: int = 0

    @classmethod
    def of_members(cls, members: Mapping[str, str | int]) -> "PriceList":
        """Return the list with these `members`."""
        return cls(
            currency=str(members["Currency"]),
            percent=Decimal(str(members["Percent"])),
            extra_percent_for_many=Decimal(str(members["ExtraPercentForMany"])),
            extra_percent_for_masters=Decimal(str(members["ExtraPercentForMasters"])),
            minimum_cents=int(members["MinimumInCents"]),
            least_per_hour_cents=int(members.get("LeastPerHourInCents", 0)),
            longest_approval_seconds=int(members.get("LongestAutoApprovalInSeconds", 0)),
        )

    def members(self) -> dict[str, str | int]:
        """Return plain values, as sent to requesters and stored in the database.

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
            "LongestAutoApprovalInSeconds": self.longest_approval_seconds,
        }

    @property
    def sign(self) -> str:
        """The prefix of an amount: a currency sign or the currency's code."""
        return _SIGNS.get(self.currency, f"{self.currency} ")

    def shown(self, amount_cents: int) -> str:
        """Format cents (or pence) for people.

        >>> PriceList().shown(123450), PriceList(currency="GBP").shown(5)
        ('$1,234.50', '£0.05')
        """
        return f"{self.sign}{amount_cents // 100:,}.{amount_cents % 100:02d}"

    def reward_fee_cents(
        self, reward_cents: int, *, max_assignments: int, for_masters: bool = False
    ) -> int:
        """Return the fee of an approved assignment of a HIT with `max_assignments`.

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
        """Return the fee of a bonus.

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
"""Amazon's prices."""

NO_FEES = PriceList(
    percent=Decimal(0),
    extra_percent_for_many=Decimal(0),
    extra_percent_for_masters=Decimal(0),
    minimum_cents=0,
)
"""The prices of a marketplace that takes no share."""
