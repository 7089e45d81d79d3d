"""Amounts are whole minor units of a currency, read and written exactly."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.foundation.client.calls import Money
from piecework.foundation.client.errors import Unreadable, Unusable
from piecework.markets.prolific.resources.submissions import csv_bonuses
from tests.answering import Answer
from tests.markets.prolific.calls import ID
from tests.markets.prolific.stub import Stub

_IDS = st.text("0123456789abcdef", min_size=24, max_size=24)


@given(st.dictionaries(_IDS, st.integers(1, 10**9), min_size=1, max_size=20))
def test_what_a_batch_says_is_what_was_meant(minors: dict[str, int]) -> None:
    """The lines add up to the amounts, by id, to the penny."""
    text = csv_bonuses({each: Money(minor=minor, currency="USD") for each, minor in minors.items()})
    lines = dict(line.split(",") for line in text.split("\n"))
    assert {each: Decimal(amount) * 100 for each, amount in lines.items()} == minors


@pytest.mark.parametrize(
    ("amounts", "reason"),
    [
        ({}, "1 to 200"),
        ({f"{n:024x}": Money(minor=1, currency="GBP") for n in range(201)}, "1 to 200"),
        ({ID: Money(minor=0, currency="GBP")}, "above zero"),
        ({ID: Money(minor=-5, currency="GBP")}, "above zero"),
        ({ID: Money(minor=5, currency="JPY")}, "not in JPY"),
        (
            {ID: Money(minor=5, currency="GBP"), "b": Money(minor=5, currency="USD")},
            "not in GBP, USD",
        ),
        ({f"{ID},99\nx": Money(minor=5, currency="GBP")}, "- and _"),
    ],
)
def test_a_batch_that_could_pay_something_else_is_not_made(
    stub: Stub, amounts: dict[str, Money], reason: str
) -> None:
    """Nothing is sent."""
    with pytest.raises(Unusable, match=reason):
        stub.client().bonuses.create(ID, amounts)
    assert stub.asked == []


@pytest.mark.parametrize("amount", ["1.5", "true", '"7"', "1e300", "null"])
def test_an_amount_that_is_no_whole_number_of_pence_is_not_guessed(stub: Stub, amount: str) -> None:
    """It may be in pounds, who knows."""
    text = json.dumps({"id": ID, "total_amount": 0}).replace(": 0", f": {amount}")
    stub.answer(Answer(201, text=text))
    with pytest.raises(Unreadable, match="total_amount"):
        stub.client().bonuses.create(ID, {ID: Money(minor=5, currency="GBP")})


def test_a_cost_with_a_fraction_of_a_penny_is_rounded_up(stub: Stub) -> None:
    """What is agreed to must cover it."""
    stub.answer(Answer(document={"total_cost": 4284.01}))
    cost = stub.client().studies.calculated_cost_minor(reward_minor=150, places=20)
    assert cost == 4285


def test_money_is_shown_with_its_currency() -> None:
    """Pounds, dollars, and what is neither."""
    shown = [
        str(Money(minor=minor, currency=currency))
        for minor, currency in (*((123456, "GBP"), (-5, "USD"), (7, "JPY")),)
    ]
    assert shown == ["£1,234.56", "-$0.05", "7 minor units of JPY"]
