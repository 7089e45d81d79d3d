"""What a campaign costs before anything: by hand, and against a simulation."""

import math
import random
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.campaign.dealing import all_first_rounds, deal, replacements
from piecework.campaign.pricing import (
    expected_replacements,
    price,
    top_up_cents,
    worst_replacements,
)
from piecework.campaign.warnings import campaign_warnings
from piecework.config.rewards import listed_fees
from piecework.domain.campaign import MASTERS, AsNeeded, Campaign
from piecework.domain.errors import ConfigError
from piecework.domain.hit import QualificationRequirement
from piecework.domain.ids import ItemId, QualificationTypeId
from piecework.domain.money import FeeSchedule
from tests.campaign.campaigns import TODAY, campaign


def changed(example: Campaign, **rewards: object) -> Campaign:
    """The campaign with other rewards."""
    return replace(example, rewards=replace(example.rewards, **rewards))  # type: ignore[arg-type]


def test_the_plain_price_is_rewards_and_fees_of_every_hit() -> None:
    """7 items in batches of 3, 2, 2: three HITs, 15 assignments of 100 + 20 cents."""
    cost = price(changed(campaign(7), day_budget_cents=700), on=TODAY)
    assert (cost.hits, cost.assignments) == (3, 15)
    assert (cost.rewards, cost.fees, cost.plain) == (1500, 300, 1800)
    assert cost.batches == (600, 600, 600)
    assert cost.days == 3  # 1800 cents, 700 a day
    assert cost.bonus_each is None


def test_bonuses_and_losses_are_expected_as_the_file_states_them() -> None:
    """One item, one assignment, one round, half of the answers lost."""
    example = campaign(1, batches=1)
    example = replace(example, posting=replace(example.posting, assignments=1, max_rounds=1))
    cost = price(
        changed(example, expected_loss=0.5, expected_seconds=540, wage_floor_cents_per_hour=1000),
        on=TODAY,
    )
    # Nine minutes at $10 are $1.50: 50 cents bonus and 10 fee for each assignment, of
    # which 1.5 are expected: 90. The half replacement costs 0.5 x 120.
    assert (cost.bonus_each, cost.bonuses, cost.replacements) == (50, 90, 60)
    assert cost.expected == 120 + 60 + 90
    assert cost.worst == 240  # the round and its one replacement, both paid


def test_more_answers_are_priced_as_if_every_item_needed_them() -> None:
    """Seven items, up to seven answers each: two rounds of three HITs of 120 cents."""
    example = campaign(7)
    posting = replace(example.posting, as_needed=AsNeeded(most=7, until=0.95))
    asked = replace(example, posting=posting)
    cost = price(asked, on=TODAY)
    assert (cost.plain, cost.more) == (1800, 2 * 3 * 120)
    assert (cost.expected, cost.expected_at_most) == (1800, 2520)
    # Three rounds are for what is lost, two for what is not sure.
    assert cost.worst - cost.plain == worst_replacements(example, on=TODAY) * 5 // 3
    # A fifth is lost on the way, and asked for again: a quarter more.
    assert price(changed(asked, expected_loss=0.2), on=TODAY).more == 900
    assert price(example, on=TODAY).more == 0


def test_a_cap_below_the_most_is_warned_of() -> None:
    """It pays for what is expected at least: some labels may stay unsure."""
    example = campaign(7)
    posting = replace(example.posting, as_needed=AsNeeded(most=7, until=0.95))
    asked = changed(replace(example, posting=posting), budget_cents=2519)
    warnings = campaign_warnings(asked, price(asked, on=TODAY))
    assert any("$0.01 below the cost of 7 answers" in warning for warning in warnings)
    enough = changed(asked, budget_cents=2520)
    warnings = campaign_warnings(enough, price(enough, on=TODAY))
    assert not any("rewards.budget" in warning for warning in warnings)
    few = replace(enough, crowd_size=6)
    warnings = campaign_warnings(few, price(few, on=TODAY))
    assert any("6 workers cannot give 7 answers each" in warning for warning in warnings)


def test_no_loss_expects_no_replacement() -> None:
    """Nothing lost, nothing asked for again."""
    assert expected_replacements(campaign(60), on=TODAY) == (0, 0)


@pytest.mark.parametrize("loss", [0.05, 0.17, 0.4])
def test_the_expected_replacements_are_what_chance_makes_of_them(loss: float) -> None:
    """Within a tenth below the mean of 300 campaigns drawn by another way."""
    example = changed(campaign(60), expected_loss=loss)
    chance, costs = random.Random(4), []  # noqa: S311 - no secret
    for _ in range(300):
        cost = 0
        for batch, item_ids in enumerate(deal(example), start=1):
            missing = dict.fromkeys(item_ids, example.posting.assignments)
            for round_ in range(example.posting.max_rounds + 1):
                if round_:
                    hits = replacements(example, batch, round_, missing, on=TODAY)
                    cost += sum(hit.cost_cents for hit in hits)
                missing = {
                    item_id: sum(chance.random() < loss for _ in range(wanted))
                    for item_id, wanted in missing.items()
                }
        costs.append(cost)
    mean = sum(costs) / len(costs)
    expected, _ = expected_replacements(example, on=TODAY)
    assert 0.85 * mean <= expected <= 1.03 * mean


@given(st.integers(1, 12), st.integers(1, 4), st.lists(st.integers(0, 5), min_size=12, max_size=12))
def test_no_round_is_dearer_than_the_worst(items: int, per_hit: int, lost: list[int]) -> None:
    """Whatever is missing in whatever way, its HITs cost no more."""
    example = campaign(items, batches=1, items_per_hit=per_hit)
    example = replace(example, posting=replace(example.posting, max_rounds=1))
    missing = {ItemId(f"i{number}"): lost[number] for number in range(items)}
    hits = replacements(example, 1, 1, missing, on=TODAY)
    assert sum(hit.cost_cents for hit in hits) <= worst_replacements(example, on=TODAY)


def test_the_worst_round_is_cut_as_dearly_as_can_be() -> None:
    """Five items that miss 1, 2, 3, 4 and 5 answers need five HITs, 15 assignments."""
    example = campaign(5, batches=1)
    assert worst_replacements(example, on=TODAY) == 3 * 15 * 120  # three rounds
    assert price(changed(example, budget_cents=900), on=TODAY).at_most == 900


@pytest.mark.parametrize(
    ("floor", "seconds", "paid", "bonus"),
    [
        (1000, 360, 100, 0),  # six minutes at $10 are exactly the dollar
        (1000, 361, 100, 1),  # 100.28 cents: a cent below is below
        (1000, 60, 100, 0),
        (725, 3600, 0, 725),
        (0, 3600, 0, 0),
    ],
)
def test_a_top_up_reaches_the_floor_and_no_further(
    floor: int, seconds: float, paid: int, bonus: int
) -> None:
    """The least whole cents that reach it."""
    assert top_up_cents(floor, seconds, paid) == bonus


@given(st.integers(0, 10_000), st.integers(1, 100_000), st.integers(0, 1000))
def test_after_the_top_up_nobody_is_below_the_floor(floor: int, seconds: int, paid: int) -> None:
    """In whole numbers: (pay + bonus) x 3600 >= floor x seconds, and not with less."""
    bonus = top_up_cents(floor, seconds, paid)
    assert bonus is not None
    assert (paid + bonus) * 3600 >= floor * seconds
    assert bonus == 0 or (paid + bonus - 1) * 3600 < floor * seconds


def test_fees_are_those_of_the_day() -> None:
    """A schedule holds from its first day until the next one starts."""
    later = date(2027, 3, 1)
    fees = (
        FeeSchedule(valid_from=date(2020, 1, 1), percent=Decimal(20)),
        FeeSchedule(valid_from=later, percent=Decimal(25)),
    )
    example = changed(campaign(1), fees=fees)
    assert price(example, on=later - timedelta(days=1)).fees == 5 * 20
    assert price(example, on=later).fees == 5 * 25
    with pytest.raises(ConfigError, match="no fees are known for 2019-12-31"):
        price(example, on=date(2019, 12, 31))


def test_the_listed_fees_are_those_of_the_published_list() -> None:
    """20 %, 20 % more from ten assignments, 5 % for masters, a cent at least."""
    (fees,) = listed_fees()
    assert fees.reward_fee_cents(100, max_assignments=9) == 20
    assert fees.reward_fee_cents(100, max_assignments=10) == 40
    assert fees.reward_fee_cents(100, max_assignments=10, for_masters=True) == 45
    assert fees.reward_fee_cents(1, max_assignments=1) == 1
    assert fees.valid_from == date(2015, 7, 22)
    assert "2026-09-30" in fees.source


def test_masters_cost_their_fee() -> None:
    """A campaign that only masters may work on is priced so: 25 cents a dollar."""
    masters = QualificationRequirement(
        qualification_type_id=QualificationTypeId(MASTERS[0]), comparator="Exists"
    )
    example = replace(campaign(1), requirements=(masters,))
    assert price(example, on=TODAY).fees == 5 * 25


def test_a_big_campaign_is_priced_at_once() -> None:
    """39,181 items, as VizWiz-Captions had: cost follows the number of HITs only."""
    example = changed(campaign(39_181, batches=5), expected_loss=0.17)
    cost = price(example, on=TODAY)
    hits = sum(map(len, all_first_rounds(example, on=TODAY)))
    assert cost.hits == hits == 4 * math.ceil(7836 / 5) + math.ceil(7837 / 5)
