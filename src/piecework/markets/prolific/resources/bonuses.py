"""Bonuses, in Prolific's two steps: create a batch, check it, and pay it once.

**Paying is not idempotent: a second call pays a second time.** So store the batch's id
and "pay attempted" first. If the reply is lost, read the submissions' bonuses to find
out; never pay again.
"""

from collections.abc import Mapping

from pydantic import Field

from piecework.foundation.client.calls import (
    CURRENCIES,
    Money,
    Request,
    Value,
    Whole,
    checked_id,
    value_of,
)
from piecework.foundation.client.errors import Unusable
from piecework.foundation.client.transport import Transport

MOST_AT_ONCE = 200
"""The most lines that Prolific recommends for one batch."""


class BonusBatch(Value):
    """A batch of unpaid bonuses; amounts in minor units of the study's currency.

    Attributes:
        total_minor: what paying takes from the balance, with fees and VAT.
    """

    id: str
    total_minor: Whole = Field(alias="total_amount")


class Bonuses:
    """Operations on bonuses."""

    def __init__(self, transport: Transport) -> None:
        self._call = transport.call

    def create(self, study_id: str, amounts: Mapping[str, Money]) -> BonusBatch:
        """Create a batch, which pays nothing yet. This call is never retried.

        Args:
            study_id: the study of all the submissions.
            amounts: positive amounts by submission id, in the study's currency.

        Raises:
            Unusable: an amount could pay something other than intended.
        """
        request = Request(
            method="POST",
            path="submissions/bonus-payments/",
            body={"study_id": checked_id(study_id), "csv_bonuses": csv_bonuses(amounts)},
        )
        return value_of(BonusBatch, self._call(request), request)

    def pay(self, batch_id: str) -> None:
        """Pay a batch; the money moves within minutes. This call is never retried.

        Raises:
            Lost: it may have been paid; read the submissions' bonuses.
        """
        path = f"bulk-bonus-payments/{checked_id(batch_id)}/pay/"
        self._call(Request(method="POST", path=path))


def csv_bonuses(amounts: Mapping[str, Money]) -> str:
    """Return the lines of a batch, the only amounts Prolific takes in major units.

    Raises:
        Unusable: as for `Bonuses.create`.

    >>> csv_bonuses({"60ffe5c8371090c7041d43f8": Money(minor=5, currency="GBP")})
    '60ffe5c8371090c7041d43f8,0.05'
    """
    if not 1 <= len(amounts) <= MOST_AT_ONCE:
        raise Unusable(f"a batch has 1 to {MOST_AT_ONCE} bonuses; this one has {len(amounts)}")
    currencies = {money.currency for money in amounts.values()}
    if len(currencies) != 1 or not currencies <= CURRENCIES:
        raise Unusable(
            "the bonuses of a batch must all be in GBP or all in USD, not in "
            f"{', '.join(sorted(currencies))}"
        )
    if any(money.minor <= 0 for money in amounts.values()):
        raise Unusable("a bonus must be above zero")
    return "\n".join(
        f"{checked_id(each)},{money.minor // 100}.{money.minor % 100:02d}"
        for each, money in amounts.items()
    )
