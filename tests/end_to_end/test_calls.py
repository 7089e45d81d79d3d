"""What a campaign costs its marketplace in calls."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from piecework.simulation.rehearsals.campaign import prepare
from piecework.simulation.rehearsals.rehearsal import rehearsal_of, work_through
from tests.end_to_end.conftest import ROOT

pytestmark = [pytest.mark.flow, pytest.mark.full]


def test_an_accepted_assignment_takes_a_call_and_a_half(tmp_path: Path) -> None:
    """600 pictures of the demo, ten of 48 workers bad; it was 1.35 calls."""
    text = (ROOT / "config/campaigns/demo.toml").read_text(encoding="utf-8")
    text = text.replace("scenes = 60", "scenes = 600")
    text = text.replace('"130.00"', '"1800.00"')
    campaign = tmp_path / "demo.toml"
    campaign.write_text(text, encoding="utf-8")
    with rehearsal_of(prepare(campaign)) as (run, crowd):
        reached = work_through(run, crowd)
    with closing(sqlite3.connect(campaign.parent / "out/demo/marketplace.db")) as books:
        calls = dict(books.execute("SELECT operation, times FROM calls"))
    assert reached.accepted == 3000
    assert calls["ApproveAssignment"] > 600
    assert sum(calls.values()) / calls["ApproveAssignment"] <= 1.5
