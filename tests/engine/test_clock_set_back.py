"""A machine's clock that is set back between two batches changes no decision."""

import csv
import io
from dataclasses import replace
from datetime import timedelta

import pytest

from piecework.campaign.opened import CampaignRun
from piecework.domain.clock import FixedClock, MonotonicClock
from piecework.engine.run_pass import run_pass
from piecework.review.model.decisions_csv import read_decisions, waiting_csv
from tests.crash import people as script
from tests.engine.conftest import Open


def _keep_all(run: CampaignRun) -> None:
    """A person keeps everything that waits."""
    rows = list(csv.DictReader(io.StringIO(waiting_csv(run)[0].decode())))
    for row in rows:
        verdict = "approve" if row["subject_kind"] == "assignment" else "keep"
        row["verdict"], row["because"] = verdict, ""
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    read_decisions(run, out.getvalue(), decided_by="ada", name="d.csv")


def test_a_worker_who_was_kept_is_judged_again_although_the_clock_went_back(
    at_work: Open, campaign_text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ada keeps bob in batch 1; an hour earlier, by the clock, batch 2 asks again."""
    pages = (("ann", "good"), ("bob", "shout"), ("ann", "good"), ("bob", "shout"))
    monkeypatch.setattr(script, "SCRIPT", pages)
    with at_work(campaign_text.replace('by = "policy"', 'by = "person"')) as (opened, people):
        machine = FixedClock(opened.clock.now())
        run = replace(opened, clock=MonotonicClock(machine, None))
        run_pass(run)
        people.work()
        run_pass(run)
        _keep_all(run)
        machine.moment -= timedelta(hours=1)
        assert run_pass(run).batch == 2
        people.work()
        run_pass(run)
        # Bob's assignment, his two answers, and whether he shall be excluded.
        assert run_pass(run).to_decide == 4
