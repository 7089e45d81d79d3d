"""Amounts and fees in whole cents, by MTurk's price list as archived on 2026-09-30.

20 % of reward and bonus, another 20 % of the reward from ten assignments a HIT and
another 5 % where only masters may work, at least one cent an assignment or bonus,
halves rounded up, each assignment on its own.
"""

from decimal import Decimal

from marketplace.exceptions import invalid_parameters

FEE_PERCENT = 20
EXTRA_PERCENT_FOR_MANY = 20
EXTRA_PERCENT_FOR_MASTERS = 5
MANY_ASSIGNMENTS = 10
MINIMUM_FEE_CENTS = 1

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


def dollars(amount_cents: int) -> str:
    """Cents for people.

    >>> dollars(123450)
    '$1,234.50'
    """
    return f"${amount_cents // 100:,}.{amount_cents % 100:02d}"


def reward_fee_cents(
    reward_cents: int, *, max_assignments: int, for_masters: bool = False
) -> int:
    """The fee of one approved assignment of a HIT made for `max_assignments`.

    >>> [reward_fee_cents(55, max_assignments=most) for most in (9, 10)]
    [11, 22]
    >>> reward_fee_cents(100, max_assignments=1, for_masters=True)
    25
    """
    percent = FEE_PERCENT
    if max_assignments >= MANY_ASSIGNMENTS:
        percent += EXTRA_PERCENT_FOR_MANY
    if for_masters:
        percent += EXTRA_PERCENT_FOR_MASTERS
    return _fee(reward_cents, percent)


def bonus_fee_cents(bonus_cents: int) -> int:
    """The fee of one bonus.

    >>> bonus_fee_cents(2), bonus_fee_cents(8)
    (1, 2)
    """
    return _fee(bonus_cents, FEE_PERCENT)


def _fee(amount_cents: int, percent: int) -> int:
    rounded_half_up = (amount_cents * percent + 50) // 100
    return max(rounded_half_up, MINIMUM_FEE_CENTS)
