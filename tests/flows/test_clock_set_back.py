"""A machine's clock that is set back between two batches changes no decision."""

import csv
import io
from dataclasses import replace
from datetime import timedelta

import pytest

from domain.clock import FixedClock, OnwardClock
from flows.steps.decision_file import read_decisions, waiting_csv
from flows.workplace import Workplace
from tests.crash import people as script
from tests.flows.conftest import Open, one_pass


def _keep_all(place: Workplace) -> None:
    """A person keeps everything that waits."""
    rows = list(csv.DictReader(io.StringIO(waiting_csv(place)[0].decode())))
    for row in rows:
        verdict = "approve" if row["subject_kind"] == "assignment" else "keep"
        row["verdict"], row["because"] = verdict, ""
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    read_decisions(place, out.getvalue(), decided_by="ada", name="d.csv")


def test_a_worker_who_was_kept_is_judged_again_although_the_clock_went_back(
    at_work: Open, campaign_text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ada keeps bob in batch 1; an hour earlier, by the clock, batch 2 asks again."""
    pages = (("ann", "good"), ("bob", "shout"), ("ann", "good"), ("bob", "shout"))
    monkeypatch.setattr(script, "SCRIPT", pages)
    with at_work(campaign_text.replace('by = "policy"', 'by = "person"')) as (
        opened,
        people,
    ):
        machine = FixedClock(opened.clock.now())
        place = replace(opened, clock=OnwardClock(machine, None))
        one_pass(place)
        people.work()
        one_pass(place)
        _keep_all(place)
        machine.moment -= timedelta(hours=1)
        assert one_pass(place).batch == 2
        people.work()
        one_pass(place)
        # Bob's assignment, his two answers, and whether he shall be excluded.
        assert one_pass(place).to_decide == 4
