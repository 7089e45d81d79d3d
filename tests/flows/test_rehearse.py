"""A rehearsal's marketplace has what the campaign may take."""

from pathlib import Path

import pytest

from flows.passes import run_pass
from flows.rehearse import prepare, rehearsal_of
from marketplace.state import clock
from platforms import virtual_clock

CAMPAIGN = """
name = "dear"
description = "More than the ten thousand dollars that a sandbox gives everybody."
task = "caption"
[items]
scenes = 5
[posting]
batches = 1
assignments = 5
items_per_hit = 5
[rewards]
reward_usd = "{reward}"
budget_usd = "{budget}"
wage_floor_usd_per_hour = "5.00"
[output]
folder = "out"
"""


@pytest.mark.parametrize(
    ("reward", "budget", "balance"),
    [("2400.00", "16000.00", "1600.00"), ("1.00", "10.00", "9994.00")],
)
def test_a_rehearsal_can_spend_its_whole_budget(
    tmp_path: Path, reward: str, budget: str, balance: str
) -> None:
    """Five assignments and their fees of a fifth are held, whatever they cost."""
    path = tmp_path / "dear.toml"
    path.write_text(CAMPAIGN.format(reward=reward, budget=budget))
    with rehearsal_of(prepare(path)) as (run, _):
        assert run_pass(run).waiting_for == "workers"
        held = run.platform._client.get_account_balance()  # type: ignore[attr-defined]
        assert held["AvailableBalance"] == balance


def test_virtual_time_begins_at_one_moment() -> None:
    """The marketplace may not import ours, so the constant stands there as well."""
    assert clock.DEFAULT_START == virtual_clock.START
