"""A marketplace that lets in workers of two markets, each with its own fees.

It is the real marketplace over the real wire. What a crowd's requirement changes is
added on this side: the prices of each crowd, which market a HIT type is for, and what
each market charges.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal

from piecework.domain.crowds import market_of_type
from piecework.domain.errors import PlatformRefused, TransientPlatformError
from piecework.domain.hit import HitType
from piecework.domain.ids import AssignmentId, HitId, HitTypeId
from piecework.domain.money import Bonus, CrowdPrices, FeeSchedule, PriceList
from piecework.platforms.mturk import MTurk
from piecework.platforms.wire import SharedQuestion

EVENING = datetime(2026, 1, 5, 20, tzinfo=UTC)
FEES = {
    "prolific": FeeSchedule(percent=Decimal(40), extra_percent_for_many=Decimal(0)),
    "connect": FeeSchedule(percent=Decimal(25), extra_percent_for_many=Decimal(0)),
}
TWO = tuple(CrowdPrices(market=market, currency="USD", fees=fees) for market, fees in FEES.items())


@dataclass(slots=True)
class Office:
    """What both markets know, over all passes of a campaign.

    Attributes:
        crowds: the prices that the marketplace states.
        broke: markets that refuse HITs, and why.
        lost_at: the call to publish, from 1, whose reply is lost; 0 for none.
        dies_at: the call to publish, from 1, at which the process ends; 0 for none.
        types: the HIT types that were asked for, by id, without the fakes.
        hits: the market of each HIT.
        charged: fees by market.
    """

    crowds: tuple[CrowdPrices, ...] = TWO
    broke: dict[str, str] = field(default_factory=dict)
    dies_at: int = 0
    lost_at: int = 0
    published: int = 0
    types: dict[HitTypeId, HitType] = field(default_factory=dict)
    hits: dict[HitId, str] = field(default_factory=dict)
    reward_cents: dict[HitId, int] = field(default_factory=dict)
    charged: Counter[str] = field(default_factory=Counter)

    def market(self, hit_type_id: HitTypeId) -> str:
        """The market whose workers alone may do HITs of a type."""
        names = [
            market_of_type(each.qualification_type_id)
            for each in self.types[hit_type_id].requirements
        ]
        return next(filter(None, names), "")


class Died(BaseException):
    """The process has ended; nothing after it runs."""


class TwoMarkets(MTurk):
    """The marketplace, with the office's crowds; `office` is set by each test."""

    office: Office

    def prices(self) -> PriceList | None:
        """See `Platform`: the marketplace's own list, with the crowds."""
        prices = super().prices()
        return prices and replace(prices, crowds=self.office.crowds)

    def hit_type(self, hit_type: HitType) -> HitTypeId:
        """See `Platform`: one type for each market, open to all workers."""
        markets = [
            market
            for each in hit_type.requirements
            if (market := market_of_type(each.qualification_type_id))
        ]
        known = {crowd.market for crowd in self.office.crowds}
        if not known.issuperset(markets):
            raise PlatformRefused(
                "no such crowd",
                code="QualificationTypeDoesNotExist",
                kind="qualification_type_unknown",
            )
        made = super().hit_type(
            replace(
                hit_type,
                keywords=(*hit_type.keywords, *markets),
                requirements=tuple(
                    each
                    for each in hit_type.requirements
                    if not market_of_type(each.qualification_type_id)
                ),
            )
        )
        self.office.types[made] = hit_type
        return made

    def publish(
        self,
        hit_type_id: HitTypeId,
        question: str | SharedQuestion,
        *,
        max_assignments: int,
        lifetime_seconds: int,
        annotation: str,
        token: str,
        apart_from: Sequence[HitId] = (),
    ) -> HitId:
        """See `Platform`: a market without funds refuses."""
        market = self.office.market(hit_type_id)
        if why := self.office.broke.get(market):
            raise PlatformRefused(why, code="InsufficientFunds")
        self.office.published += 1
        if self.office.published == self.office.dies_at:
            raise Died
        made = super().publish(
            hit_type_id,
            question,
            max_assignments=max_assignments,
            lifetime_seconds=lifetime_seconds,
            annotation=annotation,
            token=token,
            apart_from=apart_from,
        )
        self.office.hits[made] = market
        self.office.reward_cents[made] = self.office.types[hit_type_id].reward_cents
        if self.office.published == self.office.lost_at:
            raise TransientPlatformError("the reply was lost")
        return made

    def approve(self, assignment_id: AssignmentId, message: str = "") -> None:
        """See `Platform`: the market of its HIT charges its fee."""
        super().approve(assignment_id, message)
        hit_id = self._hit_of(assignment_id)
        fees = FEES[self.office.hits[hit_id]]
        self.office.charged[self.office.hits[hit_id]] += fees.reward_fee_cents(
            self.office.reward_cents[hit_id], max_assignments=1
        )

    def bonus(self, bonus: Bonus, *, token: str) -> None:
        """See `Platform`: the same of a bonus."""
        super().bonus(bonus, token=token)
        market = self.office.hits[self._hit_of(bonus.assignment_id)]
        self.office.charged[market] += FEES[market].bonus_fee_cents(bonus.cents)

    def _hit_of(self, assignment_id: AssignmentId) -> HitId:
        reply = self._client.get_assignment(AssignmentId=assignment_id)
        return HitId(reply["HIT"]["HITId"])
