"""Bonuses, in Prolific's two steps: a batch is made, looked at, and paid once.

**Paying is not idempotent: a second call pays a second time.** So the batch's id is to
be stored before, and "pay attempted", and a lost reply is settled by reading the
submissions' bonuses, never by paying again.
"""

from collections.abc import Mapping

from pydantic import Field

from piecework.prolific.http.answers import value_of
from piecework.prolific.http.errors import Unusable
from piecework.prolific.http.request import Request, checked_id
from piecework.prolific.http.transport import Transport
from piecework.prolific.values import CURRENCIES, Money, Value, Whole

MOST_AT_ONCE = 200
"""Prolific advises no more lines in one batch."""


class BonusBatch(Value):
    """Bonuses that are not paid yet; amounts in minor units of the study's currency.

    Attributes:
        total_minor: what paying takes from the balance, with fee and VAT.
    """

    id: str
    total_minor: Whole = Field(alias="total_amount")


class Bonuses:
    """Operations on bonuses."""

    def __init__(self, transport: Transport) -> None:
        self._call = transport.call

    def create(self, study_id: str, amounts: Mapping[str, Money]) -> BonusBatch:
        """Make a batch, which pays nothing. Never made twice by itself.

        Args:
            study_id: of all the submissions.
            amounts: by submission id, in the study's currency, above zero.

        Raises:
            Unusable: an amount that could pay something else than was meant.
        """
        request = Request(
            method="POST",
            path="submissions/bonus-payments/",
            body={
                "study_id": checked_id(study_id),
                "csv_bonuses": csv_bonuses(amounts),
            },
        )
        return value_of(BonusBatch, self._call(request), request)

    def pay(self, batch_id: str) -> None:
        """Pay a batch; the money moves within minutes. Never made twice by itself.

        Raises:
            Lost: it may be paid; read the submissions' bonuses.
        """
        path = f"bulk-bonus-payments/{checked_id(batch_id)}/pay/"
        self._call(Request(method="POST", path=path))


def csv_bonuses(amounts: Mapping[str, Money]) -> str:
    """The lines of a batch; they alone are in major units at Prolific.

    Raises:
        Unusable: as for `Bonuses.create`.

    >>> csv_bonuses({"60ffe5c8371090c7041d43f8": Money(minor=5, currency="GBP")})
    '60ffe5c8371090c7041d43f8,0.05'
    """
    if not 1 <= len(amounts) <= MOST_AT_ONCE:
        raise Unusable(
            f"a batch has 1 to {MOST_AT_ONCE} bonuses; this has {len(amounts)}"
        )
    currencies = {money.currency for money in amounts.values()}
    if len(currencies) != 1 or not currencies <= CURRENCIES:
        raise Unusable(
            f"bonuses of one batch are all in GBP or all in USD, not in "
            f"{', '.join(sorted(currencies))}"
        )
    if any(money.minor <= 0 for money in amounts.values()):
        raise Unusable("a bonus is above zero")
    return "\n".join(
        f"{checked_id(each)},{money.minor // 100}.{money.minor % 100:02d}"
        for each, money in amounts.items()
    )
