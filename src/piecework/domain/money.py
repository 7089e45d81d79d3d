"""Money as whole cents (or pence) of one currency: what work costs, before it is spent.

The fee schedule of a day is data: the marketplace's own, if it states one, else the
campaign file's, or `config/fees.toml`. This module applies it per assignment; half a
cent is rounded up (MTurk's price list). Money on top of a reward is for one assignment of one
worker (a bonus), or for none (a compensation).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import ROUND_HALF_UP, Decimal
from typing import Literal, get_args

from piecework.domain.ids import AssignmentId, HitTypeId, WorkerId

Currency = Literal["GBP", "USD"]
CURRENCIES: tuple[Currency, ...] = get_args(Currency)
NAMES: Mapping[Currency, str] = {"GBP": "pounds", "USD": "US dollars"}
SIGNS: Mapping[Currency, str] = {"GBP": "£", "USD": "$"}

MANY_ASSIGNMENTS = 10
"""From this many assignments per HIT, MTurk charges the higher fee."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeeSchedule:
    """What a platform charges on top of what workers get.

    The defaults are MTurk's list as archived on 2026-09-30.

    Attributes:
        percent: fee on a reward or bonus, in per cent.
        extra_percent_for_many: added to the reward's fee from ten assignments per HIT.
        masters_percent: added to the reward's fee if only masters may work.
        minimum_cents: the least fee of one paid assignment or bonus.
        valid_from: the first day, in UTC, on which it is in force.
        source: where it is published.
    """

    percent: Decimal = Decimal(20)
    extra_percent_for_many: Decimal = Decimal(20)
    masters_percent: Decimal = Decimal(5)
    minimum_cents: int = 1
    valid_from: date = date.min
    source: str = ""

    def takes_as(self, other: "FeeSchedule") -> bool:
        """Whether both charge the same fees, regardless of their days and sources."""
        alike = replace(other, valid_from=self.valid_from, source=self.source)
        return self == alike

    def reward_fee_cents(
        self, reward_cents: int, *, max_assignments: int, for_masters: bool = False
    ) -> int:
        """Return the fee of one approved assignment, in cents.

        >>> FeeSchedule().reward_fee_cents(55, max_assignments=5)
        11
        >>> FeeSchedule().reward_fee_cents(55, max_assignments=10)
        22
        >>> FeeSchedule().reward_fee_cents(100, max_assignments=5, for_masters=True)
        25
        """
        percent = self.percent
        if max_assignments >= MANY_ASSIGNMENTS:
            percent += self.extra_percent_for_many
        if for_masters:
            percent += self.masters_percent
        return self._fee(reward_cents, percent)

    def bonus_fee_cents(self, bonus_cents: int) -> int:
        """Return the fee of one bonus, in cents."""
        return self._fee(bonus_cents, self.percent)

    def _fee(self, amount_cents: int, percent: Decimal) -> int:
        if percent == 0:
            return 0
        fee = (amount_cents * percent / 100).quantize(Decimal(1), ROUND_HALF_UP)
        return max(int(fee), self.minimum_cents)


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsidePrice:
    """What another market charged for the HITs of a type, beside their own prices.

    A market that pays for visits with several HITs pays each visit as a whole, with its
    own rounding.

    Attributes:
        hit_type_id: the type of the HITs.
        cents: how much more (or less) it cost than reward and fee of the HITs.
        unsettled: how many visits and bonuses it has not settled yet.
        paid_rejections: rejected assignments for which it paid all the same; their
            rewards are part of `cents`.
    """

    hit_type_id: HitTypeId
    cents: int
    unsettled: int
    paid_rejections: tuple[AssignmentId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CrowdPrices:
    """The prices of one of several crowds that a marketplace lets in.

    Attributes:
        market: the market that they come from.
        currency: the currency of every amount there.
        fees: what that market charges on top of what workers get.
        least_per_hour_cents: the least pay per hour there; 0: not stated.
        longest_approval_seconds: the longest auto-approval delay there; 0: not stated.
    """

    market: str
    currency: Currency
    fees: FeeSchedule
    least_per_hour_cents: int = 0
    longest_approval_seconds: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceList:
    """The prices that a marketplace itself states.

    Attributes:
        currency: the currency of every amount there.
        fees: what it charges on top of what workers get.
        least_per_hour_cents: the least pay per hour there; 0: not stated.
        longest_approval_seconds: the longest auto-approval delay there; 0: not stated.
        outside: additional charges so far, if workers come from another market; lists
            are compared without it.
        crowds: the prices of each crowd that the marketplace lets in, in the order in
            which they were first served; the first one's are those above.
    """

    currency: Currency
    fees: FeeSchedule
    least_per_hour_cents: int = 0
    longest_approval_seconds: int = 0
    outside: tuple[OutsidePrice, ...] = field(default=(), compare=False)
    crowds: tuple[CrowdPrices, ...] = ()


_AMOUNT = re.compile(r"([$£]?)([0-9]{1,9})(?:\.([0-9]{1,2}))?")


def cents_from_text(text: str, currency: Currency | None = None) -> int:
    """Convert an amount that a person wrote to cents; a currency sign is allowed.

    Args:
        text: what was written.
        currency: the currency of the amount; `None`: either sign is allowed and is
            checked later.

    Raises:
        ValueError: it is not an amount of the currency, has a third decimal, or is a
            billion or more.

    >>> cents_from_text(" $0.5 "), cents_from_text("£12", "GBP")
    (50, 1200)
    """
    amount = _AMOUNT.fullmatch(text.strip())
    if amount is None:
        raise ValueError(
            f"{text[:40]!r} is not an amount: write a number of zero or more with at "
            'most two decimals, for example "0.25"'
        )
    sign, whole, part = amount.groups(default="")
    if sign and currency and sign != SIGNS[currency]:
        raise ValueError(
            f"{text[:40]!r} is not in {NAMES[currency]}: write {SIGNS[currency]} or no sign"
        )
    return int(whole) * 100 + int(part.ljust(2, "0") or 0)


def currency_of(text: str) -> Currency | None:
    """Return the currency whose sign an amount begins with; `None` if it has none.

    >>> currency_of("£12.00"), currency_of("12.00")
    ('GBP', None)
    """
    if (amount := _AMOUNT.fullmatch(text.strip())) is None:
        return None
    return next((name for name, sign in SIGNS.items() if sign == amount[1]), None)


def cents_to_wire(cents: int) -> str:
    """Format cents as the decimal string for MTurk's API.

    >>> cents_to_wire(55)
    '0.55'
    """
    return f"{cents // 100}.{cents % 100:02d}"


def cents_from_wire(amount: str) -> int:
    """Convert the decimal string of MTurk's API to cents.

    Raises:
        ValueError: the text is not an amount of whole cents.

    >>> cents_from_wire("0.5")
    50
    """
    try:
        cents = Decimal(amount) * 100
    except ArithmeticError:
        cents = Decimal("NaN")
    if not cents.is_finite() or cents != cents.to_integral_value():
        raise ValueError(f"{amount[:40]!r} is not an amount of whole cents")
    return int(cents)


def shown(cents: int, currency: Currency) -> str:
    """Format cents for people.

    >>> shown(123_450, "USD"), shown(-20, "GBP")
    ('$1,234.50', '-£0.20')
    """
    minus = "-" if cents < 0 else ""
    whole, part = divmod(abs(cents), 100)
    return f"{minus}{SIGNS[currency]}{whole:,}.{part:02d}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bonus:
    """One payment; the worker reads the reason. Fees come on top."""

    assignment_id: AssignmentId
    worker_id: WorkerId
    cents: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Compensation:
    """One payment for no assignment, to a person whom our own faults hurt.

    Attributes:
        name: what the platform knows it by; each name is paid once.
    """

    name: str
    worker_id: WorkerId
    cents: int
    reason: str
