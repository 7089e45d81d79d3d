"""What a campaign costs, in rows of the tables that `check` prints."""

from datetime import date
from typing import TYPE_CHECKING

from piecework.domain.campaign import AGREED
from piecework.domain.text import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from piecework.campaign.pricing import FirstPass, Price
    from piecework.domain.campaign import Campaign, Rewards
    from piecework.domain.crowds import MarketPrice
    from piecework.simulation.rehearsals.checking import Checked

Rows = list[tuple[str, str, str]]


def price_rows(campaign: "Campaign", cost: "Price") -> Rows:
    """Return the plain, the expected and the worst cost."""
    rewards, shown = campaign.rewards, campaign.rewards.shown
    lost, more = float(rewards.expected_loss), cost.replacements / max(cost.plain, 1)
    again = f"{lost:.0%} of answers and of their replacements are lost: {more:.0%} more"
    rounds = campaign.posting.rounds
    return [
        ("rewards", shown(cost.rewards), f"{cost.assignments:,} x {shown(rewards.reward_cents)}"),
        (
            "fees",
            shown(cost.fees),
            (
                "by market, below"
                if campaign.crowds is not None
                else f"{cost.assignments:,} x {shown(cost.fee_cents)}"
                + (f", in force since {cost.fees_from}" * (cost.fees_from > date.min))
            ),
        ),
        ("every item once", shown(cost.plain), _by_batch(campaign, cost)),
        ("+ replacements", f"about {shown(cost.replacements)}", again),
        ("+ bonuses", *_bonuses(campaign, cost)),
        *_expected(campaign, cost),
        (
            "worst, without caps",
            "no limit" if cost.worst is None else shown(cost.worst),
            f"if all answers of {plural(rounds + 1, 'round')} are paid and lost"
            if cost.worst is not None
            else "any number of rows may follow",
        ),
        ("worst, within caps", shown(cost.at_most), "the most that posting can cost"),
    ]


def next_pass_rows(campaign: "Campaign", posted: "FirstPass | None") -> Rows:
    """Return what the next pass of a campaign that grows would cost."""
    if posted is None or campaign.growth is None:
        return []
    rows = f"{plural(posted.rows, 'row')} {'waits' if posted.rows == 1 else 'wait'}"
    size, seconds = campaign.growth.batch_size, campaign.growth.batch_every_seconds
    why = f"{rows}: {plural(posted.hits, 'HIT')}"
    if not posted.hits and posted.rows < size:
        why = f"{rows}, posted when there are {size:,} or after {seconds / 3600:g} hours"
    elif posted.hits < posted.wanted:
        why = f"{rows}; the caps pay for {posted.hits:,} of {plural(posted.wanted, 'HIT')}"
    return [("the next pass", campaign.rewards.shown(posted.cost), why)]


def market_tables(checked: "Checked") -> list[tuple[str, Rows]]:
    """Return the table with a row for each market; empty without [markets]."""
    if not checked.markets:
        return []
    shown = checked.campaign.rewards.shown
    rows = [(each.market, shown(each.cents), _at_market(each, shown)) for each in checked.markets]
    total = sum(each.cents for each in checked.markets)
    return [("price by market", [*rows, ("total", shown(total), "every item once")])]


def cap_rows(campaign: "Campaign", cost: "Price") -> Rows:
    """Return the caps, and what they leave beyond the expected cost."""
    rewards = campaign.rewards
    day = rewards.day_budget_cents
    return [
        ("campaign", rewards.shown(rewards.budget_cents), _room(campaign, cost)),
        *_agreed(rewards),
        ("batch", _cap(rewards, rewards.batch_budget_cents), "includes replacements and bonuses"),
        (
            "day",
            _cap(rewards, day),
            f"posting every item once takes {plural(cost.days, 'UTC day')} or more" if day else "",
        ),
    ]


def _agreed(rewards: "Rewards") -> Rows:
    """Return the amount that a person agreed to, and what the next run does with it."""
    if rewards.agreed_cents is None:
        return []
    holds = "the next run asks for no amount" + (
        ", and spends no more in all" if rewards.cap_name == AGREED else "; the budget is less"
    )
    why = f"{holds}; run --spend-at-most AMOUNT agrees to another"
    return [("agreed", rewards.shown(rewards.agreed_cents), why)]


def fee_lines(campaign: "Campaign", cost: "Price") -> "Iterator[str]":
    """Yield where the fees are from, and whether anyone is paid them."""
    yield f"fees: {cost.fees_source}"
    # piecework posts on marketplaces of one's own; a market of paid people takes its fees.
    if cost.fees and campaign.crowds is None and campaign.recruiting is None:
        least = campaign.rewards.shown(cost.rewards)
        yield (
            "Your own people cost you no fees, unless [[fees]] state some: the rewards alone are "
            f"{least} for every item once."
        )


def _at_market(price: "MarketPrice", shown: "Callable[[int], str]") -> str:
    return (
        f"{plural(price.hits, 'HIT')} at {shown(price.hit_cents)}, "
        f"{plural(price.assignments, 'assignment')} at a fee of "
        f"{price.fee_percent.normalize():f} % ({shown(price.fee_cents)}); all HITs "
        f"there would cost {shown(price.whole_cents)}"
    )


def _expected(campaign: "Campaign", cost: "Price") -> Rows:
    shown, posting = campaign.rewards.shown, campaign.posting
    if not cost.more:
        return [("expected", f"about {shown(cost.expected)}", "")]
    return [
        (
            "expected, at least",
            f"about {shown(cost.expected)}",
            f"if {posting.assignments} answers are enough for every label",
        ),
        (
            "expected, at most",
            f"about {shown(cost.expected_at_most)}",
            f"if every item needs {posting.most}",
        ),
    ]


def _by_batch(campaign: "Campaign", cost: "Price") -> str:
    shown = campaign.rewards.shown
    least, most = min(cost.batches), max(cost.batches)
    if least == most:
        return f"{shown(most)} a batch"
    return f"{shown(least)} to {shown(most)} a batch"


def _bonuses(campaign: "Campaign", cost: "Price") -> tuple[str, str]:
    rewards, shown = campaign.rewards, campaign.rewards.shown
    floor = f"{shown(rewards.wage_floor_cents_per_hour)} an hour"
    if cost.bonus_each is None:
        if not rewards.wage_floor_cents_per_hour:
            return shown(0), "no hourly_wage is stated"
        allowed = 60 * rewards.reward_cents / rewards.wage_floor_cents_per_hour
        return (
            "unknown",
            (f"set minutes; the reward alone pays {floor} for {allowed:.1f} minutes a HIT"),
        )
    expected = (rewards.expected_seconds or 0) / 60
    minutes = f"{expected:g} minute{'' if expected == 1 else 's'} a HIT"
    if not cost.bonus_each:
        return shown(0), f"{minutes}: the reward reaches {floor}"
    return (
        f"about {shown(cost.bonuses)}",
        (f"{minutes}: {shown(cost.bonus_each)} and fee for each to reach {floor}"),
    )


def _room(campaign: "Campaign", cost: "Price") -> str:
    shown = campaign.rewards.shown
    room, most = cost.cap - cost.expected, cost.cap - cost.expected_at_most
    if room < 0:
        return f"{shown(-room)} LESS than expected: some answers will stay missing"
    if most < 0:
        return f"{shown(-most)} LESS than expected at most: some items may stay unsure"
    return f"{shown(room)} more than expected"


def _cap(rewards: "Rewards", cents: int | None) -> str:
    return "none" if cents is None else rewards.shown(cents)
