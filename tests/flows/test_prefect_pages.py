"""What Prefect's pages show of a campaign, and what its logs say of an expected failure."""

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from piecework.domain.errors import ConfigError
from piecework.domain.progress import Progress, SourceState
from piecework.flows import prefect_pages, prefect_tasks

_PROGRESS = Progress(
    items=60,
    batches=5,
    hits_posted=9,
    replaced=0,
    submitted=6,
    flagged=2,
    surplus=0,
    rejected=0,
    rewards_cents=0,
    bonuses_cents=0,
    fees_cents=0,
    to_decide=0,
    campaign="birds_2",
    is_rehearsal=False,
    batch=2,
    hits_open=3,
    answers=60,
    accepted=50,
    dropped=4,
    missing=250,
    excluded=1,
    held_cents=1200,
    budget_cents=13000,
    currency="USD",
    waiting_for="workers",
    cap_reached=False,
    stopped_by="",
    goes_on_at="",
    due_at="",
)


def _status(changed: dict[str, Any]) -> str:
    return prefect_pages._status(replace(_PROGRESS, **changed), Path("/srv/birds.toml"), None)


def test_a_status_says_what_is_done_what_it_cost_what_is_left_and_what_comes_next() -> None:
    """Of 300 answers 50 are accepted, 4 set aside and 6 of 60 not judged yet."""
    shown = _status({"rewards_cents": 4000})
    assert (
        "| Done | 50 of 300 answers accepted, 6 not judged yet, 4 set aside, 1 worker excluded |"
        in shown
    )
    assert "| Cost | $40.00 of $130.00 spent, $12.00 held for open HITs |" in shown
    assert "| Left | 250 answers, $78.00 |" in shown
    assert "**Next:** workers, on 3 open HITs." in shown


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"to_decide": 7}, "a person: 7 decisions in `piecework review /srv/birds.toml`"),
        ({"waiting_for": "nobody", "missing": 0}, "nothing"),
        (
            {"waiting_for": "nobody", "cap_reached": True},
            "a person: a cap is reached, and 250 answers are missing",
        ),
        (
            {"waiting_for": "the next day", "reason": "budget.day is *spent*"},
            r"the next day: budget.day is \*spent\*",
        ),
    ],
)
def test_a_status_names_who_acts_next(changed: dict[str, Any], expected: str) -> None:
    """With the command for a person; a reason is text, not markup."""
    assert f"**Next:** {expected}." in _status(changed)


def test_a_status_says_what_is_wrong_with_a_source() -> None:
    """A row's fault may quote what a stranger wrote."""
    source = SourceState(
        waiting=2,
        fault="",
        unfinished="",
        quarantined=1,
        faults=("row 7: <b>",),
        changed=0,
        withdrawn=0,
    )
    shown = _status({"source": source})
    assert "**Look at:** 2 rows of the source wait for a batch" in shown
    assert r"**Look at:** 1 row cannot be used: row 7: \<b\>" in shown


def test_an_expected_failure_of_a_step_is_logged_on_one_line() -> None:
    """As its message with the next step; a fault of the code keeps its traceback."""
    log = logging.getLogger("prefect.task_runs")
    expected = ConfigError(["no reward", "no items"], next_step="piecework check")
    records = [
        log.makeRecord(log.name, logging.ERROR, "x", 1, "%r", (fault,), (type(fault), fault, None))
        for fault in (expected, KeyError("x"))
    ]
    assert prefect_tasks._on_one_line in log.filters
    assert all(map(log.filter, records))
    assert records[0].getMessage() == (
        "Failed: 2 faults: (1) no reward; (2) no items; next: piecework check"
    )
    assert [record.exc_info is None for record in records] == [True, False]


def test_log_lines_of_a_run_have_no_secret_of_an_address() -> None:
    """Prefect's server keeps them, and shows them to everyone who reaches it."""
    record = logging.LogRecord("x", logging.INFO, "x", 1, "read %s", ("s3://AK:hush@b/x",), None)
    assert "s3://AK:***@b/x" in prefect_tasks._ToRun("run").format(record)
