"""The currency of a campaign file: one for all its money."""

from pathlib import Path

import pytest

from tests.config.test_campaign_file import GOOD, faults_of, read

POUNDS = GOOD.replace('reward = "', 'reward = "£')
FEES = """
[[fees]]
valid_from = 2020-01-01
percent = 42.8
minimum = "0.03"
source = "the marketplace's price list"
"""


def test_money_is_in_dollars_unless_the_file_says_pounds(tmp_path: Path) -> None:
    """All amounts alike; a sign of the currency may stand before one."""
    assert read(tmp_path, GOOD).rewards.currency == "USD"
    rewards = read(tmp_path, POUNDS, machine=FEES).rewards
    assert (rewards.currency, rewards.reward_cents) == ("GBP", 55)
    assert (rewards.fees[0].minimum_cents, rewards.fees_are_listed) == (3, False)
    assert rewards.shown(rewards.budget_cents) == "£20.00"


def test_the_sign_of_an_amount_says_the_currency_of_all(tmp_path: Path) -> None:
    """Of the reward, the wage or a cap; no key repeats it."""
    for before in ('"0.55"', '"9.50"', '"20"'):
        rewards = read(tmp_path, GOOD.replace(before, before.replace('"', '"£', 1))).rewards
        assert (rewards.currency, rewards.budget_cents) == ("GBP", 2000)
    capped = read(tmp_path, GOOD.replace('"20"', '{ total = "20", day = "£5" }')).rewards
    assert (capped.currency, capped.day_budget_cents) == ("GBP", 500)
    assert read(tmp_path, POUNDS.replace('"20"', '"£20"')).rewards.currency == "GBP"
    (fault,) = faults_of(tmp_path, f'currency = "GBP"\n{GOOD}')
    assert "birds.toml:1: currency: no such key; the sign of an amount says it" in fault


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            POUNDS.replace('"20"', '"$20"'),
            'birds.toml:6: budget: "$20" is in US dollars, but reward = "£0.55" (line 5) is in',
        ),
        (
            GOOD.replace('"20"', '"£20"').replace('"0.55"', '"$0.55"'),
            'birds.toml:6: budget: "£20" is in pounds, but reward = "$0.55" (line 5) is in US',
        ),
        (
            GOOD.replace('"20"', '{ total = "20", day = "£5" }').replace('"9.50"', '"$9.50"'),
            'birds.toml:6: budget.day: "£5" is in pounds, but hourly_wage = "$9.50" (line 7)',
        ),
        (
            GOOD.replace('reward = "0.55"\n', "")
            .replace('hourly_wage = "9.50"\n', "")
            .replace('"20"', '"£20"'),
            "birds.toml:5: budget: the task's own reward is in dollars: set reward or",
        ),
        (GOOD.replace('"20"', "20"), "budget: write an amount as text, for example"),
        (GOOD.replace('"20"', '{ dy = "5" }'), "birds.toml:6: budget.dy: no such key"),
        (GOOD.replace('"20"', '{ total = "20", week = "5" }'), "budget.week: no such key"),
    ],
)
def test_two_currencies_never_meet(tmp_path: Path, text: str, fault: str) -> None:
    """What is said in another currency is one fault with its line."""
    (message,) = faults_of(tmp_path, text)
    assert fault in message


def test_fees_of_the_machine_are_in_the_campaign_s_currency(tmp_path: Path) -> None:
    """An amount with another sign is a fault of the machine's file, with its line."""
    (fault,) = faults_of(tmp_path, POUNDS, machine=FEES.replace('"0.03"', '"$0.03"'))
    assert "piecework.toml:5: fees[1].minimum: " in fault
    assert '"$0.03" is in US dollars, but the campaign is in pounds' in fault
    fees = FEES.replace('"0.03"', '"£0.03"')
    assert read(tmp_path, POUNDS, machine=fees).rewards.fees[0].minimum_cents == 3


def test_faults_of_money_come_with_all_others(tmp_path: Path) -> None:
    """An amount in another currency hides no fault beside it."""
    text = POUNDS.replace('"20"', '"$20"\nbudgt = "1"')
    assert len(faults_of(tmp_path, text)) == 2
