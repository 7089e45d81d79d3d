"""What a campaign will cost: the plain, the expected and the worst cost.

Plain: every item is posted once. Expected: lost answers are asked for again, with the
    chance of loss that the campaign file states, and workers below the wage floor get a
    bonus. Worst: every answer of every round is paid for and lost, and rounds are split
    into HITs in the most expensive way, until the caps end it. How many labels will
    need more than the least answers is not known beforehand, so the cost if all of them
    do is shown too.

Each of several markets has its own fees, so what a HIT costs there is shown as well.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from piecework.campaign.dealing import all_first_rounds, deal, dearest_cost_cents, replacements
from piecework.campaign.market_shares import (
    MarketSplit,
    at_markets,
    fee_cents,
    hit_cost_cents,
    mean_hit_cost_cents,
    shares,
)
from piecework.domain.campaign import Campaign
from piecework.domain.crowds import MarketPrice
from piecework.domain.growing import MOST_IN_BATCH
from piecework.domain.ids import ItemId
from piecework.domain.money import MANY_ASSIGNMENTS
from piecework.domain.task import Task

_HOUR = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a campaign costs by the fees of one day; money in cents.

    Attributes:
        on: the day.
        fees_from: since when these fees are in force.
        fees_source: the source of these fees.
        fee_cents: fee of one assignment of a HIT in its first round.
        batches: plain cost of each batch.
        hits: HITs of all first rounds.
        items_in_hit: how many items the smallest and the largest of them show.
        assignments: assignments of all first rounds.
        rewards: rewards of the plain cost.
        fees: fees of the plain cost.
        replacements: expected cost of replacing lost answers, fees included.
        bonus_each: what raises one assignment to the wage floor; `None` if the time per
            HIT is not stated.
        bonuses: expected bonuses, fees included.
        more: additional cost if every item gets `most` answers, with replacements and
            bonuses.
        worst: all rounds of all batches, without caps and bonuses; `None` for items
            that grow.
        cap: the most that the campaign may spend.
        days: the fewest days that the plain campaign needs under the cap of a day.
    """

    on: date
    fees_from: date
    fees_source: str
    fee_cents: int
    batches: tuple[int, ...]
    hits: int
    items_in_hit: tuple[int, int]
    assignments: int
    rewards: int
    fees: int
    replacements: int
    bonus_each: int | None
    bonuses: int
    more: int
    worst: int | None
    cap: int
    days: int

    @property
    def plain(self) -> int:
        """Every item posted once."""
        return self.rewards + self.fees

    @property
    def expected(self) -> int:
        """Plain cost, replacements and bonuses, with the fewest answers per item."""
        return self.plain + self.replacements + self.bonuses

    @property
    def expected_at_most(self) -> int:
        """The expected cost if every item gets `most` answers."""
        return self.expected + self.more

    @property
    def at_most(self) -> int:
        """The most that posting HITs can cost: the worst case, limited by the cap."""
        return self.cap if self.worst is None else min(self.worst, self.cap)


def price(campaign: Campaign, *, on: date) -> Price:
    """Price a campaign by the fees of a day.

    Of items that grow, it is the price of the first rows, which may be none; only the
    worst case counts all rows that may follow.

    Raises:
        ConfigError: no fees are known for that day.
    """
    rewards, posting = campaign.rewards, campaign.posting
    rounds = all_first_rounds(campaign, on=on)
    hits = [hit for batch in rounds for hit in batch]
    sizes = {len(hit.item_ids) for hit in hits} or {0}
    market = hits[0].market if hits else campaign.markets[0]
    fees = rewards.fees_on(on, market)
    assignments = sum(hit.max_assignments for hit in hits)
    costs = tuple(sum(hit.cost_cents for hit in batch) for batch in rounds)
    replacing, extra = expected_replacements(campaign, on=on)
    each = top_up_cents(
        rewards.wage_floor_cents_per_hour, rewards.expected_seconds, rewards.reward_cents
    )
    bonuses = 0
    if each:
        paid = assignments + extra
        bonuses = math.ceil(paid * (each + _bonus_fee(campaign, each, on=on)))
    day = rewards.day_budget_cents
    return Price(
        on=on,
        fees_from=fees.valid_from,
        fees_source="; ".join(
            dict.fromkeys(rewards.fees_on(on, each).source for each in campaign.markets)
        ),
        fee_cents=(
            hits[0].fee_cents
            if hits
            else fee_cents(campaign, posting.assignments, on=on, market=market)
        ),
        batches=costs,
        hits=len(hits),
        items_in_hit=(min(sizes), max(sizes)),
        assignments=assignments,
        rewards=sum(hit.max_assignments * hit.reward_cents for hit in hits),
        fees=sum(hit.max_assignments * hit.fee_cents for hit in hits),
        replacements=math.ceil(replacing),
        bonus_each=each,
        bonuses=bonuses,
        more=_more(campaign, each or 0, on=on),
        worst=(
            sum(dearest_cost_cents(campaign, hit, on=on) for hit in hits)
            + worst_replacements(campaign, on=on)
            if campaign.growth is None
            else None
        ),
        cap=rewards.cap_cents,
        days=max(1, math.ceil(sum(costs) / day)) if day else 1,
    )


def _more(campaign: Campaign, bonus_each: int, *, on: date) -> int:
    """Return the cost of raising every item from the least answers to the most."""
    posting, rewards = campaign.posting, campaign.rewards
    further = posting.most - posting.assignments
    if not further:
        return 0
    split = MarketSplit(shares(campaign, on=on))
    hits = [
        hit
        for batch, item_ids in enumerate(deal(campaign), start=1)
        for hit in at_markets(
            campaign,
            replacements(campaign, batch, 1, dict.fromkeys(item_ids, 1), on=on),
            split,
            on=on,
        )
    ]
    fee = _bonus_fee(campaign, bonus_each, on=on) if bonus_each else 0
    a_round = sum(hit.cost_cents for hit in hits) + len(hits) * (bonus_each + fee)
    # Each answer is asked for until it is not lost.
    return math.ceil(further * a_round / (1 - float(rewards.expected_loss)))


def _bonus_fee(campaign: Campaign, bonus_cents: int, *, on: date) -> float:
    """Return the fee of a bonus, by the campaign's shares of its markets."""
    rewards, parts = campaign.rewards, shares(campaign, on=on) or {"": 1.0}
    return sum(
        part * rewards.fees_on(on, market).bonus_fee_cents(bonus_cents)
        for market, part in parts.items()
    ) / sum(parts.values())


def largest_hit(items: int, most: int, task: Task | None = None) -> int:
    """Return how many items the largest HIT of a batch shows.

    Args:
        items: of the batch; 1 or more.
        most: how many a HIT may show.
        task: the task, if its items may belong together.

    >>> largest_hit(12, 5), largest_hit(13, 5), largest_hit(3, 5)
    (4, 5, 3)
    """
    if task is not None and (task.one_value_per_hit or task.group_by):
        return min(most, items)
    return math.ceil(items / math.ceil(items / most))


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstPass:
    """What the next pass of a campaign that grows would post; money in cents.

    Attributes:
        rows: rows that wait.
        hits: HITs that it would post; 0 if it waits for more rows.
        wanted: HITs for all rows of its batch, paid or not.
        cost: of the HITs that it would post.
    """

    rows: int
    hits: int
    wanted: int
    cost: int


def first_pass(campaign: Campaign, rows: int, *, on: date) -> FirstPass | None:
    """Price what the next pass would post of rows that wait; `None` for fixed items.

    It takes all of them in one batch, as far as each cap pays for it. If items belong
    together, its HITs show as many items as those of the first rows do on average.
    """
    growth, rewards, posting = campaign.growth, campaign.rewards, campaign.posting
    if growth is None:
        return None
    own = min(rows, MOST_IN_BATCH)
    full = _items_in_first_hits(campaign, on=on)
    # The 1e-7 removes the float's rounding error.
    wanted = math.ceil(own / (1 - campaign.gold_share) / full - 1e-7)
    caps = (rewards.batch_budget_cents, rewards.day_budget_cents, rewards.month_budget_cents)
    room = min([rewards.cap_cents, *(cap for cap in caps if cap is not None)])
    each = hit_cost_cents(campaign, posting.assignments, on=on)
    is_due = rows >= growth.batch_size or (rows > 0 and not growth.batch_every_seconds)
    hits = min(wanted, room // each) if is_due else 0
    return FirstPass(rows=rows, hits=hits, wanted=wanted, cost=hits * each)


def top_up_cents(floor_cents_per_hour: int, seconds: float | None, paid_cents: int) -> int | None:
    """Return what an assignment needs beyond its pay to reach the floor.

    >>> top_up_cents(1000, 540, 100)  # nine minutes at $10 an hour are $1.50
    50
    """
    if seconds is None:
        return None
    # Rounded up: a cent below the floor is below the floor. The 1e-7 removes the
    # float's rounding error.
    earned = math.ceil(floor_cents_per_hour * seconds / _HOUR - 1e-7)
    return max(earned - paid_cents, 0)


def expected_replacements(campaign: Campaign, *, on: date) -> tuple[float, float]:
    """Return the expected cost in cents and number of replacement assignments.

    Each answer is lost independently with the stated chance. An item that lacks m
    answers is posted again for m assignments, with others that lack the same number and
    may share its HIT. The number of HITs is the larger of two lower bounds: full HITs,
    and the chance that there is one. If items belong together, a HIT is full with as
    many as the first ones show on average.
    """
    posting, loss = campaign.posting, campaign.rewards.expected_loss
    is_apart = campaign.task.one_value_per_hit
    full = posting.items_per_hit if is_apart else _items_in_first_hits(campaign, on=on)
    pools = Counter(
        count for item_ids in deal(campaign) for count in _may_share_hits(campaign, item_ids)
    )
    cents = assignments = 0.0
    missing = [0.0] * posting.assignments + [1.0]
    for _ in range(posting.max_rounds):
        missing = _lost(missing, loss)
        for wanted, chance in enumerate(missing):
            hits = sum(
                number * max(count * chance / full, 1 - (1 - chance) ** count)
                for count, number in pools.items()
            )
            assignments += hits * wanted
            cents += hits * mean_hit_cost_cents(campaign, wanted, on=on)
    return cents, assignments


def _items_in_first_hits(campaign: Campaign, *, on: date) -> float:
    """Return how many items a full HIT shows; if they belong together, on average."""
    full, task = campaign.posting.items_per_hit, campaign.task
    if not campaign.items or not (task.one_value_per_hit or task.group_by):
        return full
    return len(campaign.items) / sum(map(len, all_first_rounds(campaign, on=on)))


def _may_share_hits(campaign: Campaign, item_ids: Sequence[ItemId]) -> list[int]:
    """Return how many items there are of each kind that never shares a HIT with others."""
    column = campaign.task.one_value_per_hit
    return _of_each_value(campaign, item_ids, column) if column else [len(item_ids)]


def _of_each_value(campaign: Campaign, item_ids: Sequence[ItemId], column: str) -> list[int]:
    """Return how many of the items have each value of a column."""
    dealt = set(item_ids)
    values = (item.columns.get(column, "") for item in campaign.items if item.item_id in dealt)
    return list(Counter(values).values())


def expected_out_of_reach(campaign: Campaign) -> float:
    """Return how many answers a crowd of known size is expected not to give.

    Every worker answers every item once and loses each answer independently with the
    stated chance. Without losses, 6 workers can give 5 answers per item; 4 cannot.
    """
    crowd, wanted = campaign.crowd_size, campaign.posting.assignments
    if crowd is None:
        return 0.0
    loss = campaign.rewards.expected_loss
    short = sum(
        (wanted - kept) * math.comb(crowd, kept) * (1 - loss) ** kept * loss ** (crowd - kept)
        for kept in range(min(wanted, crowd + 1))
    )
    return len(campaign.items) * short


def worst_replacements(campaign: Campaign, *, on: date) -> int:
    """Return the highest cost of all rounds of replacement, in cents."""
    return campaign.posting.rounds * sum(
        _dearest_round(campaign, item_ids, on=on) for item_ids in deal(campaign)
    )


def _lost(missing: list[float], loss: float) -> list[float]:
    """Return the chances of how many answers an item lacks after a further round."""
    after = [0.0] * len(missing)
    for asked, chance in enumerate(missing):
        for again in range(asked + 1):
            after[again] += (
                chance * math.comb(asked, again) * loss**again * (1 - loss) ** (asked - again)
            )
    return after


def _dearest_round(campaign: Campaign, item_ids: Sequence[ItemId], *, on: date) -> int:
    """Return the cost of one round, split in the most expensive way.

    Items with different values of `one_value_per_hit` share no HIT. Those of `group_by`
    are put into HITs as wholes: each HIT but the last of its kind is so full that the
    next group does not fit, and has a group at least. If the number of workers is known
    and too few of them are left for a HIT, each of its items gets a separate one.
    """
    posting, task = campaign.posting, campaign.task
    kinds = [
        hit_cost_cents(campaign, wanted, on=on) for wanted in range(posting.assignments, 0, -1)
    ]
    most = posting.items_per_hit if campaign.crowd_size is None else 1
    column = task.one_value_per_hit or task.group_by
    if not column:
        return _dearest_split(kinds, len(item_ids), most)
    counts = _of_each_value(campaign, item_ids, column)
    apart = sum(_dearest_split(kinds, count, most) for count in counts)
    if task.one_value_per_hit:
        return apart
    fewest = most - min(most, max(counts, default=1)) + 1
    return min(apart, _dearest_split(kinds, len(item_ids), fewest))


def _dearest_split(kinds: Sequence[int], items: int, full: int) -> int:
    """Return the highest cost of HITs for items that may share them.

    Items that lack different numbers of answers do not share a HIT: the first HIT of a
    kind needs one item, every further one a full HIT of items. So some of the most
    expensive kinds have one HIT each, and all other items are in HITs of the most
    expensive kind.

    Args:
        kinds: what a HIT costs in cents, by the number of answers; the most first.
        items: how many there are.
        full: how many items make a further HIT necessary.
    """
    most = 0
    for number in range(1, min(len(kinds), items) + 1):
        further = (items - number) // full
        most = max(most, sum(kinds[:number]) + further * kinds[0])
    return most


def market_prices(campaign: Campaign, *, on: date) -> tuple[MarketPrice, ...]:
    """Return the price at each market that the campaign names, by a day's fees.

    Every item is posted once. With `cheapest`, the cheapest market gets everything.
    """
    if campaign.crowds is None:
        return ()
    planned = [hit for batch in all_first_rounds(campaign, on=on) for hit in batch]
    rewards, asked = campaign.rewards, campaign.posting.assignments
    prices = []
    for market in campaign.markets:
        own = [hit for hit in planned if hit.market == market]
        fee = fee_cents(campaign, asked, on=on, market=market)
        prices.append(
            MarketPrice(
                market=market,
                hits=len(own),
                assignments=sum(hit.max_assignments for hit in own),
                fee_percent=_percent(campaign, asked, market, on=on),
                fee_cents=fee,
                hit_cents=asked * (rewards.reward_cents + fee),
                cents=sum(hit.cost_cents for hit in own),
                whole_cents=sum(
                    hit.max_assignments
                    * (
                        hit.reward_cents
                        + fee_cents(campaign, hit.max_assignments, on=on, market=market)
                    )
                    for hit in planned
                ),
            )
        )
    return tuple(prices)


def _percent(campaign: Campaign, assignments: int, market: str, *, on: date) -> Decimal:
    fees = campaign.rewards.fees_on(on, market)
    more = fees.extra_percent_for_many if assignments >= MANY_ASSIGNMENTS else 0
    masters = fees.masters_percent if campaign.is_for_masters else 0
    return fees.percent + more + masters
