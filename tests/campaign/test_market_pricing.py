"""What each market costs, by hand; and caps that count on the most expensive one."""

from dataclasses import replace
from decimal import Decimal

import pytest

from piecework.campaign.caps import check_caps
from piecework.campaign.dealing import (
    all_first_rounds,
    first_rounds_cost_cents,
    hit_cost_cents,
    replacements,
)
from piecework.campaign.market_pricing import market_prices
from piecework.campaign.prices import with_prices, without_markets
from piecework.campaign.pricing import price
from piecework.campaign.warnings import campaign_warnings
from piecework.domain.campaign import Campaign
from piecework.domain.crowds import Crowds
from piecework.domain.errors import BudgetExceeded
from piecework.domain.hit import PROLIFIC, QualificationRequirement
from piecework.domain.ids import HitId, QualificationTypeId
from piecework.domain.money import CrowdPrices, FeeSchedule, PriceList
from tests.campaign.campaigns import TODAY, campaign
from tests.engine.two_markets import EVENING

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
    assert "requirements.prolific has no effect: [crowds] names only panel" in warned(panel)
    shares = warned(replace(at_two(SIXTY_FORTY), requirements=(age,)))
    assert "requirements.prolific" not in shares
    assert "crowds.cheapest" not in shares
    assert "crowds.cheapest: with posting.batches = 1" in warned(at_two(CHEAPEST))


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
