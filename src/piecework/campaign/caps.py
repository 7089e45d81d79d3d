"""What may still be promised under the caps of the campaign, its batches and its days.

Every act that promises money checks the caps before its call. The caps of campaign and
batch end work; the caps of a day and of a month only postpone it to the next UTC day or
month of the clock.
"""

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from piecework.campaign.dealing import affordable, all_first_rounds, dearest_cost_cents
from piecework.campaign.market_shares import hit_cost_cents
from piecework.campaign.opened import OpenedCampaign
from piecework.domain.campaign import AGREED, Campaign
from piecework.domain.errors import BudgetExceeded
from piecework.domain.hit import PlannedHit
from piecework.domain.text import shell_word
from piecework.store import intents, ledger
from piecework.store.hits import unposted
from piecework.store.intents import Intent


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What is left of each cap, in cents; `None` if there is no such cap.

    Attributes:
        batch: left of the cap of the given batch.
        day: left of the cap of the current UTC day.
        month: left of the cap of the current UTC month.
    """

    campaign: int
    batch: int | None
    day: int | None
    month: int | None

    @property
    def today(self) -> int | None:
        """The less of what the caps of the day and of the month leave."""
        return min((rest for rest in (self.day, self.month) if rest is not None), default=None)


def left(opened: OpenedCampaign, batch: int) -> Left:
    """Return what is left of the caps now."""
    rewards, taken = opened.campaign.rewards, ledger.taken(opened.store, batch, opened.clock.now())
    return Left(
        campaign=rewards.cap_cents - taken.campaign,
        batch=_less(rewards.batch_budget_cents, taken.batch),
        day=_less(rewards.day_budget_cents, taken.day),
        month=_less(rewards.month_budget_cents, taken.month),
    )


def left_beside(
    opened: OpenedCampaign, batch: int, *, but: Collection[str], is_payment: bool = True
) -> Left:
    """Return what is left of the caps beside what is promised; calls under way count as done.

    Planned HITs come before payments. A cap of day or month only delays these HITs, so
    it need not have room for them.

    Args:
        opened: the campaign.
        batch: the batch.
        but: keys of the intents that are compared with the rest.
        is_payment: whether they pay people; otherwise they post planned HITs.
    """
    store, room = opened.store, left(opened, batch)
    of_all = of_batch = calls = intents.open_cents(store, *intents.PROMISES, but=but)
    if is_payment:
        # HITs whose call is under way are among the planned ones.
        of_all = of_batch = intents.open_cents(store, *intents.PAYMENTS, but=but)
        for hit in unposted(store):
            of_all += hit.cost_cents
            of_batch += hit.cost_cents if hit.batch == batch else 0
    return Left(
        campaign=room.campaign - of_all,
        batch=_less(room.batch, of_batch),
        day=_less(room.day, calls),
        month=_less(room.month, calls),
    )


def _less(cap: int | None, cents: int) -> int | None:
    return None if cap is None else cap - cents


def left_today(opened: OpenedCampaign) -> int | None:
    """Return what may still be promised today (UTC), in cents; `None`: no such cap."""
    rewards = opened.campaign.rewards
    if rewards.day_budget_cents is None and rewards.month_budget_cents is None:
        return None
    return left(opened, 0).today


def next_day(opened: OpenedCampaign) -> datetime:
    """Return when the next UTC day begins, with a new allowance."""
    today = opened.clock.now().astimezone(UTC).date()
    return datetime.combine(today + timedelta(days=1), time.min, UTC)


def next_month(opened: OpenedCampaign) -> datetime:
    """Return when the next UTC month begins, with a new allowance."""
    first = opened.clock.now().astimezone(UTC).date().replace(day=1)
    following = (first + timedelta(days=31)).replace(day=1)
    return datetime.combine(following, time.min, UTC)


def payable(hits: Sequence[PlannedHit], left_cents: int | None) -> list[PlannedHit]:
    """Return the first of these planned HITs, as many as an allowance pays for."""
    return list(hits) if left_cents is None else affordable(hits, left_cents=left_cents)


def refuse_beyond(opened: OpenedCampaign, intent: Intent, *, batch: int) -> None:
    """Refuse what exceeds a cap beside what is promised.

    Raises:
        BudgetExceeded: before the call, with the name of the cap.
    """
    rewards, is_payment = opened.campaign.rewards, intent.operation in intents.PAYMENTS
    room = left_beside(opened, batch, but=[intent.key], is_payment=is_payment)
    caps = (
        (room.campaign, rewards.cap_name, rewards.cap_cents),
        (room.batch, f"the cap of batch {batch}", rewards.batch_budget_cents),
        (room.day, "the cap of a day", rewards.day_budget_cents),
        (room.month, "the cap of a month", rewards.month_budget_cents),
    )
    for rest, name, cap in caps:
        if rest is not None and intent.amount_cents > rest:
            raise BudgetExceeded(
                f"{intent.key}: would cost {rewards.shown(intent.amount_cents)}, but "
                f"only {rewards.shown(max(0, rest))} is left of {name} "
                f"({rewards.shown(cap or 0)})",
                next_step=f"piecework status {shell_word(opened.campaign.path)}",
            )


def digest_of_caps(campaign: Campaign, *, at: datetime) -> str:
    """Return a digest of all that prices and caps depend on, with the day's fees."""
    priced_by = [
        campaign.rewards,
        campaign.posting,
        campaign.requirements,
        campaign.crowds,
        [campaign.rewards.fees_on(at.date(), market) for market in campaign.markets],
    ]
    return hashlib.sha256(repr(priced_by).encode()).hexdigest()


def check_caps(campaign: Campaign, *, at: datetime) -> None:
    """Refuse a campaign that costs more than its caps even without replacements.

    If the market of a HIT depends on paces, the most expensive one counts.

    Raises:
        BudgetExceeded: before the first HIT is posted.
    """
    _check_item(campaign, at=at)
    if campaign.growth is not None:
        _check_dearest(campaign, at=at)
        return
    rewards, on = campaign.rewards, at.date()
    rounds = [
        [dearest_cost_cents(campaign, hit, on=on) for hit in hits]
        for hits in all_first_rounds(campaign, on=on)
    ]
    costs, dearest = [sum(hits) for hits in rounds], max(cost for hits in rounds for cost in hits)
    where = ""
    if campaign.crowds is not None and campaign.crowds.cheapest:
        where = " at its most expensive market"
    faults = (
        (
            rewards.cap_cents,
            rewards.cap_name,
            sum(costs),
            f"the campaign costs {{}}{where} before any replacement",
        ),
        (
            rewards.batch_budget_cents,
            "budget.batch",
            max(costs),
            f"the most expensive batch costs {{}}{where} before any replacement",
        ),
        (
            rewards.day_budget_cents,
            "budget.day",
            dearest,
            f"the most expensive HIT alone costs {{}}{where}",
        ),
        (
            rewards.month_budget_cents,
            "budget.month",
            dearest,
            f"the most expensive HIT alone costs {{}}{where}",
        ),
    )
    for cap, name, cost, words in faults:
        if cap is not None and cost > cap:
            raise BudgetExceeded(
                f"{campaign.path}: {name} is {rewards.shown(cap)}, but "
                f"{words.format(rewards.shown(cost))}",
                next_step=f"{_raise(name)}, or lower items, assignments or reward; then "
                f"run piecework check {shell_word(campaign.path)}",
            )


def _raise(cap_name: str) -> str:
    return "give a larger --spend-at-most" if cap_name == AGREED else f"raise {cap_name}"


def _check_dearest(campaign: Campaign, *, at: datetime) -> None:
    """Refuse a campaign that grows if a cap does not pay for even one HIT."""
    rewards = campaign.rewards
    cost = hit_cost_cents(campaign, campaign.posting.assignments, on=at.date())
    for cap, name in (
        (rewards.cap_cents, rewards.cap_name),
        (rewards.batch_budget_cents, "budget.batch"),
        (rewards.month_budget_cents, "budget.month"),
        (rewards.day_budget_cents, "budget.day"),
    ):
        if cap is not None and cost > cap:
            raise BudgetExceeded(
                f"{campaign.path}: {name} is {rewards.shown(cap)}, but one HIT costs "
                f"{rewards.shown(cost)}",
                next_step=f"{_raise(name)}, or lower assignments or reward; then run "
                f"piecework check {shell_word(campaign.path)}",
            )


def _check_item(campaign: Campaign, *, at: datetime) -> None:
    """Refuse a campaign in which an item of a full HIT costs more than its cap."""
    rewards, posting = campaign.rewards, campaign.posting
    cap = rewards.item_budget_cents
    cost = hit_cost_cents(campaign, posting.assignments, on=at.date())
    if cap is not None and cost > cap * posting.items_per_hit:
        raise BudgetExceeded(
            f"{campaign.path}: budget.item is {rewards.shown(cap)}, but "
            f"{posting.assignments} answers to each item of a HIT with "
            f"{posting.items_per_hit} cost {rewards.shown(cost)}",
            next_step="raise budget.item, or lower assignments or reward; then "
            f"run piecework check {shell_word(campaign.path)}",
        )
