"""The key of a Connect account, which grants full access to it, and values of its API."""

from decimal import Decimal
from typing import Annotated, ClassVar

from pydantic import BeforeValidator

from piecework.foundation.client.token import AccountToken, Service

CONNECT = "https://connect-api.cloudresearch.com"

SERVICE = Service(
    name="Connect",
    address=CONNECT,
    url_variable="CONNECT_URL",
    token_variable="CONNECT_API_KEY",  # noqa: S106 - a variable's name
    header="X-API-KEY",
    documents="connect-api.cloudresearch.com/docs/api",
)


class ApiKey(AccountToken):
    """The key of an account at Connect; its `repr` leaves the secret out."""

    __slots__ = ()
    service: ClassVar[Service] = SERVICE


_MOST_CENTS = 10**15


def _cents(number: object) -> int:
    if isinstance(number, bool) or not isinstance(number, int | float | Decimal):
        raise ValueError("not an amount")  # noqa: TRY004 - pydantic wants this one
    exact = Decimal(str(number)) * 100
    if not exact.is_finite() or abs(exact) > _MOST_CENTS:
        raise ValueError("not an amount")
    if exact != exact.to_integral_value():
        raise ValueError("not whole cents")
    return int(exact)


Cents = Annotated[int, BeforeValidator(_cents)]
"""An amount in cents, which Connect writes in dollars; a fraction of a cent is refused.
"""


def dollars(cents: int) -> float:
    """Return cents as Connect reads an amount.

    >>> dollars(15), dollars(1200)
    (0.15, 12.0)
    """
    return cents / 100
