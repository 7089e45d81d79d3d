"""What a campaign costs before anything, in all and at each market.

Figures are by hand, and compared with a simulation. Caps count on the most expensive market.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.campaign.caps import check_caps
from piecework.campaign.dealing import (
    Limits,
    all_first_rounds,
    deal,
    first_rounds_cost_cents,
    replacements,
)
from piecework.campaign.deriving import with_derived_budget
from piecework.campaign.market_shares import hit_cost_cents
from piecework.campaign.price_list import with_prices, without_markets
from piecework.campaign.pricing import (
    expected_replacements,
    market_prices,
    price,
    top_up_cents,
    worst_replacements,
)
from piecework.campaign.warnings import campaign_warnings
from piecework.config.rewards import listed_fees
from piecework.domain.campaign import MASTERS, AsNeeded, Campaign
from piecework.domain.crowds import Crowds
from piecework.domain.errors import BudgetExceeded, ConfigError
from piecework.domain.hit import PROLIFIC, QualificationRequirement
from piecework.domain.ids import HitId, ItemId, QualificationTypeId
from piecework.domain.money import CrowdPrices, FeeSchedule, PriceList
from tests.campaign.campaigns import TODAY, campaign
from tests.engine.two_markets import EVENING


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
    assert cost.worst is not None
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
    assert not any("budget" in warning for warning in warnings)
    few = replace(enough, crowd_size=6)
    warnings = campaign_warnings(few, price(few, on=TODAY))
    assert any("6 workers cannot give 7 answers each" in warning for warning in warnings)


def test_no_loss_expects_no_replacement() -> None:
    """Nothing lost, nothing asked for again."""
    assert expected_replacements(campaign(60), on=TODAY) == (0, 0)


@pytest.mark.parametrize("loss", [0.05, 0.17, 0.4])
@pytest.mark.parametrize(
    "belonging",
    [
        {},
        {"one_value_per_hit": "pair"},
        {"one_value_per_hit": "third"},
        {"group_by": "pair"},
        {"group_by": "third"},
    ],
)
def test_the_expected_replacements_are_what_chance_makes_of_them(
    loss: float, belonging: dict[str, str]
) -> None:
    """A little below the mean of 300 campaigns drawn by another way.

    Wholes leave gaps in HITs, which a lower bound does not count.
    """
    example = changed(campaign(60, **belonging), expected_loss=loss)  # type: ignore[arg-type]
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
    least = 0.8 if "group_by" in belonging else 0.85
    assert least * mean <= expected <= 1.03 * mean


@pytest.mark.parametrize("key", ["", "group_by", "one_value_per_hit"])
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12),
    st.integers(1, 4),
    st.none() | st.integers(1, 6),
)
def test_no_round_is_dearer_than_the_worst(
    key: str, items: list[tuple[int, int]], per_hit: int, crowd: int | None
) -> None:
    """Whatever is missing in whatever way, its HITs cost no more.

    An item is what it lacks and its value of the key. Of a known crowd, too few may be
    left for the items of a HIT together.
    """
    example = campaign(
        len(items),
        batches=1,
        items_per_hit=per_hit,
        group_by="value" if key == "group_by" else "",
        one_value_per_hit="value" if key == "one_value_per_hit" else "",
    )
    valued = tuple(
        replace(item, columns={"value": str(value)})
        for item, (_, value) in zip(example.items, items, strict=True)
    )
    example = replace(
        example,
        items=valued,
        crowd_size=crowd,
        posting=replace(example.posting, max_rounds=1),
    )
    missing = {item.item_id: lacks for item, (lacks, _) in zip(valued, items, strict=True)}

    def free(item_ids: Sequence[ItemId]) -> int:
        return 99 if crowd is None or len(item_ids) == 1 else 0

    hits = replacements(example, 1, 1, missing, on=TODAY, limits=Limits(free=free))
    assert sum(hit.cost_cents for hit in hits) <= worst_replacements(example, on=TODAY)


@pytest.mark.parametrize(
    ("belonging", "hits"),
    [
        ({}, 12),
        # 30 pairs, each apart, or as wholes: four items in each HIT.
        ({"one_value_per_hit": "pair"}, 30),
        ({"group_by": "pair"}, 15),
    ],
)
def test_the_worst_is_no_more_than_belonging_together_costs(
    belonging: dict[str, str], hits: int
) -> None:
    """One answer is wanted, so that every HIT is of the same kind."""
    example = campaign(60, batches=1, **belonging)  # type: ignore[arg-type]
    example = replace(example, posting=replace(example.posting, assignments=1, max_rounds=1))
    assert worst_replacements(example, on=TODAY) == hits * 120


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
    assert fees.source.startswith("MTurk's last price list")


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


SIXTY_FORTY = Crowds(percent=(("prolific", 60), ("connect", 40)))
CHEAPEST = Crowds(cheapest=("prolific", "connect"), within_seconds=3600)


def fees(percent: int) -> FeeSchedule:
    """A percentage alone."""
    return FeeSchedule(percent=Decimal(percent), extra_percent_for_many=Decimal(0), minimum_cents=0)


def at_two(crowds: Crowds, *, items: int = 10) -> Campaign:
    """Each item a HIT of five assignments of a dollar; 40 % at Prolific, else 20 %."""
    whole = replace(campaign(items, batches=1, items_per_hit=1), crowds=crowds)
    rewards = replace(whole.rewards, fees_by_market=(("prolific", fees(40)), ("connect", fees(20))))
    return replace(whole, rewards=rewards)


def with_cap(whole: Campaign, name: str, cents: int) -> Campaign:
    """The campaign with another cap."""
    return replace(whole, rewards=replace(whole.rewards, **{name: cents}))  # type: ignore[arg-type]


def test_each_market_costs_what_it_charges() -> None:
    """6 HITs of 5 x 140 cents are 4,200; 4 of 5 x 120 are 2,400."""
    prolific, connect = market_prices(at_two(SIXTY_FORTY), on=TODAY)
    assert (prolific.market, prolific.hits, prolific.assignments) == ("prolific", 6, 30)
    assert (prolific.fee_percent, prolific.fee_cents) == (Decimal(40), 40)
    assert (prolific.hit_cents, prolific.cents) == (700, 4200)
    # All ten HITs there: 50 x 140, and 50 x 120.
    assert prolific.whole_cents == 7000
    assert (connect.hits, connect.cents, connect.whole_cents) == (4, 2400, 6000)
    cost = price(at_two(SIXTY_FORTY), on=TODAY)
    assert (cost.rewards, cost.fees, cost.plain) == (5000, 1600, 6600)


def test_the_cheapest_is_priced_with_everything() -> None:
    """Nothing is known of any pace before the first HIT."""
    prolific, connect = market_prices(at_two(CHEAPEST), on=TODAY)
    assert (prolific.hits, prolific.cents) == (0, 0)
    assert (connect.hits, connect.cents) == (10, 6000)
    assert price(at_two(CHEAPEST), on=TODAY).plain == 6000


def test_a_campaign_without_markets_has_no_such_prices() -> None:
    """Nothing changes for it."""
    assert market_prices(campaign(3), on=TODAY) == ()
    assert {hit.market for hit in all_first_rounds(campaign(3), on=TODAY)[0]} == {""}


def test_caps_count_on_the_most_expensive_market() -> None:
    """A HIT may go there: 5 x 140 cents."""
    assert hit_cost_cents(at_two(CHEAPEST), 5, on=TODAY) == 700
    whole = at_two(SIXTY_FORTY)
    short = replace(whole, rewards=replace(whole.rewards, budget_cents=6599))
    with pytest.raises(BudgetExceeded, match=r"\$65.99, but the campaign costs \$66"):
        check_caps(short, at=EVENING)
    enough = replace(whole, rewards=replace(whole.rewards, budget_cents=6600))
    check_caps(enough, at=EVENING)
    # A HIT may go to Connect for 600 cents, and another one to Prolific for 700.
    for name in ("day_budget_cents", "month_budget_cents"):
        check_caps(with_cap(whole, name, 700), at=EVENING)
        with pytest.raises(BudgetExceeded, match="HIT alone costs"):
            check_caps(with_cap(whole, name, 699), at=EVENING)


def test_the_cheapest_may_cost_what_the_most_expensive_market_does() -> None:
    """Every HIT may go to Prolific for 700 cents; a derived budget pays for that.

    Then Prolific takes 100 %: a fifth more than 6,000 cents would not pay for it.
    """
    whole = at_two(CHEAPEST)
    cost = price(with_cap(whole, "budget_cents", 1_000_000), on=TODAY)
    assert cost.plain == 6000
    assert cost.worst == cost.at_most == 7000 + worst_replacements(whole, on=TODAY)
    for name, enough in (
        ("budget_cents", 7000),
        ("batch_budget_cents", 7000),
        ("day_budget_cents", 700),
        ("month_budget_cents", 700),
    ):
        check_caps(with_cap(whole, name, enough), at=EVENING)
        with pytest.raises(BudgetExceeded, match="at its most expensive market"):
            check_caps(with_cap(whole, name, enough - 1), at=EVENING)
    dear = (("prolific", fees(100)), ("connect", fees(20)))
    rewards = replace(whole.rewards, fees_by_market=dear, budget_is_derived=True)
    derived = with_derived_budget(replace(whole, rewards=rewards))
    assert derived.rewards.budget_cents == 12_000  # ten HITs of 1,000 cents, and a fifth
    check_caps(derived, at=EVENING)


def test_losses_and_bonuses_are_expected_by_the_shares() -> None:
    """A third of one answer is lost once: 1/3 x (100 + 0.6 x 40 + 0.4 x 20) cents.

    Half an hour at 3 dollars is 150 cents: a bonus of 50, with a fee of 20 or 10 cents,
    which is 16 on average; 1 + 1/3 assignments of 66 cents are 88.
    """
    whole = at_two(SIXTY_FORTY, items=1)
    posting = replace(whole.posting, assignments=1, max_rounds=1)
    rewards = replace(
        whole.rewards, expected_loss=1 / 3, expected_seconds=1800, wage_floor_cents_per_hour=300
    )
    cost = price(replace(whole, posting=posting, rewards=rewards), on=TODAY)
    assert cost.replacements == 44
    assert cost.bonuses == 88


def test_added_slots_stay_at_their_market() -> None:
    """Their price is that market's; a HIT of another price would not be extended."""
    whole = at_two(SIXTY_FORTY, items=2)
    first = [
        replace(hit, hit_id=HitId(f"H{number}"))
        for number, hit in enumerate(all_first_rounds(whole, on=TODAY)[0])
    ]
    assert [hit.market for hit in first] == ["prolific", "connect"]
    missing = {hit.item_ids[0]: 1 for hit in first}
    added = replacements(whole, 1, 1, missing, on=TODAY, extendable=first)
    assert [(more.extends, more.market, more.fee_cents) for more in added] == [
        (first[0].hit_key, "prolific", 40),
        (first[1].hit_key, "connect", 20),
    ]


def _listed(**delays: int) -> PriceList:
    return PriceList(
        currency="USD",
        fees=fees(40),
        longest_approval_seconds=86_400,
        crowds=tuple(
            CrowdPrices(
                market=market, currency="USD", fees=fees(40), longest_approval_seconds=seconds
            )
            for market, seconds in delays.items()
        ),
    )


def test_the_shortest_of_its_markets_delays_applies() -> None:
    """That of a market without a limit, or of one that it does not name, does not."""
    whole = at_two(SIXTY_FORTY)
    posting = replace(whole.posting, auto_approval_delay_seconds=30 * 86_400)
    whole = replace(whole, posting=posting)

    def delay(**delays: int) -> int:
        priced = with_prices(whole, _listed(**delays))
        return priced.posting.auto_approval_delay_seconds // 86_400

    assert delay(prolific=20 * 86_400, connect=14 * 86_400) == 14
    assert delay(prolific=20 * 86_400, connect=0, panel=86_400) == 20
    assert delay(prolific=0, connect=0) == 30


def test_a_marketplace_without_crowds_gets_no_markets() -> None:
    """Only one that lets in a crowd has any."""
    whole = at_two(SIXTY_FORTY)
    assert without_markets(whole, _listed()).crowds is None
    assert without_markets(whole, None).crowds is None
    assert without_markets(whole, _listed(connect=0)).crowds == SIXTY_FORTY


def test_money_is_kept_back_for_the_most_expensive_market() -> None:
    """A later batch of the cheapest may still go there: five HITs of 700 cents."""
    assert first_rounds_cost_cents(at_two(CHEAPEST, items=5), [1], on=TODAY) == 3500
    # Three of 700 cents and two of 600.
    assert first_rounds_cost_cents(at_two(SIXTY_FORTY, items=5), [1], on=TODAY) == 3300
    assert first_rounds_cost_cents(at_two(CHEAPEST), [], on=TODAY) == 0


def test_a_plan_that_cannot_work_is_a_warning() -> None:
    """Filters for a market that is not named, and one batch before any pace."""

    def warned(whole: Campaign) -> str:
        return "; ".join(campaign_warnings(whole, price(whole, on=TODAY)))

    age = QualificationRequirement(
        qualification_type_id=QualificationTypeId(f"{PROLIFIC}AGE"),
        comparator="LessThan",
        integer_values=(40,),
    )
    panel = replace(at_two(Crowds(percent=(("panel", 100),))), requirements=(age,))
    assert "[prolific] has no effect: markets names only panel" in warned(panel)
    shares = warned(replace(at_two(SIXTY_FORTY), requirements=(age,)))
    assert "[prolific]" not in shares
    assert "cheapest_within_hours" not in shares
    assert "cheapest_within_hours: with batches = 1" in warned(at_two(CHEAPEST))


def test_filters_of_prolific_name_prolific_without_the_table() -> None:
    """The marketplace takes such HITs for Prolific's, whichever market was first."""
    whole = replace(at_two(SIXTY_FORTY), crowds=None)
    prices = replace(
        _listed(connect=0, prolific=0),
        fees=fees(20),
        crowds=(
            CrowdPrices(market="connect", currency="USD", fees=fees(20)),
            CrowdPrices(market="prolific", currency="USD", fees=fees(40)),
        ),
    )
    age = QualificationRequirement(
        qualification_type_id=QualificationTypeId(f"{PROLIFIC}AGE"),
        comparator="LessThan",
        integer_values=(40,),
    )
    asked = replace(whole, requirements=(age,))
    of_first, of_prolific = (
        with_prices(each, prices).rewards.fees_on(TODAY) for each in (whole, asked)
    )
    assert of_first.takes_as(fees(20))
    assert of_prolific.takes_as(fees(40))
