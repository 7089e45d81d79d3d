"""How an API's values are parsed: strictly for money, tolerantly otherwise.

Unknown values are accepted: a new status is kept as text, and new keys are ignored. A
documented key that is missing is an error (`http.answers`).
"""

from datetime import UTC, datetime
from decimal import ROUND_CEILING, Decimal
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

_MOST = 10**15
"""The largest amount or count accepted; a huge one would fill memory as an int."""
_SIGNS = {"GBP": "£", "USD": "$"}


class Value(BaseModel):
    """A frozen value parsed from a document."""

    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


class Money(Value):
    """An amount in minor units (pence, cents) of a currency.

    >>> print(Money(minor=150, currency="GBP"))
    £1.50
    """

    minor: int
    currency: str

    def __str__(self) -> str:
        sign = "-" if self.minor < 0 else ""
        amount = f"{abs(self.minor) // 100:,}.{abs(self.minor) % 100:02d}"
        if self.currency in _SIGNS:
            return f"{sign}{_SIGNS[self.currency]}{amount}"
        # The number of minor units of other currencies is not known here.
        return f"{self.minor} minor units of {self.currency}"


CURRENCIES = frozenset(_SIGNS)
"""The currencies known to have hundredths as minor units."""


def _whole(number: object) -> int:
    exact = _number(number)
    if exact != exact.to_integral_value():
        raise ValueError("not a whole number")
    return int(exact)


def _rounded_up(number: object) -> int:
    return int(_number(number).to_integral_value(ROUND_CEILING))


def _number(number: object) -> Decimal:
    if isinstance(number, bool) or not isinstance(number, int | float | Decimal):
        raise ValueError("not a number")  # noqa: TRY004 - pydantic wants this one
    exact = Decimal(number)
    if not exact.is_finite() or abs(exact) > _MOST:
        raise ValueError("not a number")
    return exact


def _moment(text: object) -> datetime:
    if not isinstance(text, str):
        raise ValueError("not a moment")  # noqa: TRY004 - pydantic wants this one
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)


Whole = Annotated[int, BeforeValidator(_whole)]
"""A count, or an amount in minor units; a fraction is refused."""
CostInMinor = Annotated[int, BeforeValidator(_rounded_up)]
"""A cost in minor units; fractions are rounded up."""
Moment = Annotated[datetime, BeforeValidator(_moment)]
"""An ISO 8601 time, in UTC."""
