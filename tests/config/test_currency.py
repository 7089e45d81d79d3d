"""The currency of a campaign file: one for all its money."""

from pathlib import Path

import pytest

from tests.config.test_campaign_file import GOOD, faults_of, read

POUNDS = GOOD.replace("[rewards]", '[rewards]\ncurrency = "GBP"')
FEES = """
[[rewards.fees]]
valid_from = 2020-01-01
percent = 42.8
minimum = "0.03"
source = "the marketplace's price list"
"""


def test_money_is_in_dollars_unless_the_file_says_pounds(tmp_path: Path) -> None:
    """All amounts alike; a sign of the currency may stand before one."""
    assert read(tmp_path, GOOD).rewards.currency == "USD"
    rewards = read(tmp_path, POUNDS.replace('"0.55"', '"£0.55"') + FEES).rewards
    assert (rewards.currency, rewards.reward_cents) == ("GBP", 55)
    assert (rewards.fees[0].minimum_cents, rewards.fees_are_listed) == (3, False)
    assert rewards.shown(rewards.budget_cents) == "£20.00"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (POUNDS.replace('"20"', '"$20"'), "birds.toml:10: rewards.budget: '$20' is not in pounds"),
        (GOOD.replace('"20"', '"£20"'), "rewards.budget: '£20' is not in US dollars"),
        (
            POUNDS.replace('reward = "0.55"\n', ""),
            (
                "birds.toml:8: rewards.currency: the task's own reward is in "
                "dollars: set rewards.reward in GBP"
            ),
        ),
        (
            POUNDS.replace('"GBP"', '"EUR"'),
            (
                "birds.toml:8: rewards.currency: piecework does not know this currency"
                '; write "GBP" or "USD" (found \'EUR\')'
            ),
        ),
        (POUNDS.replace('"GBP"', "7"), "rewards.currency: piecework does not know"),
    ],
)
def test_two_currencies_never_meet(tmp_path: Path, text: str, fault: str) -> None:
    """What is said in another currency is one fault with its line."""
    (message,) = faults_of(tmp_path, text)
    assert fault in message


def test_faults_of_money_come_with_all_others(tmp_path: Path) -> None:
    """An amount in another currency hides no fault beside it."""
    text = POUNDS.replace('"20"', '"$20"\nbudgt = "1"')
    assert len(faults_of(tmp_path, text)) == 2
