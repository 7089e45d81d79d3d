"""`check` says what a visit is at each market with a bridge, without asking the market."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from piecework.cli.main import main
from piecework.markets.registry import markets

_CAMPAIGN = """
description = "Twelve drawn pictures, a HIT each, so that a visit has several."
task = "caption"
batches = 2
answers = 3
reward = "$0.40"
budget = "60.00"
hourly_wage = "9.00"
minutes = 1
[items]
scenes = 12
[posting]
items_per_hit = 1
[markets]
{name} = 100
"""
_BRIDGED = [market.name for market in markets() if market.has_bridge]
_HITS = {"prolific": "3 HITs (3 items), gets $1.20", "connect": "5 HITs (5 items), gets $2.00"}
"""A visit has three minutes, or five."""


@pytest.mark.parametrize("name", _BRIDGED)
def test_check_says_what_a_visit_is(tmp_path: Path, name: str) -> None:
    """Of six HITs of a minute in a batch, each for three people."""
    path = tmp_path / "visited.toml"
    path.write_text(_CAMPAIGN.format(name=name), encoding="utf-8")
    done = CliRunner().invoke(main, ["check", str(path)])
    assert done.exit_code == 0, done.output
    (line,) = (line for line in done.output.splitlines() if " for the largest batch: " in line)
    assert f"participants, each does {_HITS[name]}, about" in line
