"""A bridge that is really killed (SIGKILL), again and again, in one campaign."""

import dataclasses
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.marketplace.market import START
from tests.markets.prolific.bridge.long_campaign import check_answers, check_pay, check_studies
from tests.markets.prolific.bridge.test_pay import LATER, decide
from tests.markets.prolific.bridge.town import Town, a_town


def _killed(town: Town, name: str, moment: str) -> int:
    """Let another process be the bridge until it is killed; its exit code."""
    database = town.bridge.backend.database
    file = database.with_name("killed.json")
    file.write_text(
        json.dumps(
            {
                "database": str(database),
                "url": town.researcher.url,
                "start": START.isoformat(),
                "terms": dataclasses.asdict(town.bridge.terms),
                "name": name,
                "moment": moment,
            }
        )
    )
    command = [sys.executable, "-m", "tests.markets.prolific.bridge.killed", str(file)]
    # pytest adds folders to the path, which the other process does not know.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(command, check=False, env=environment, timeout=120).returncode


@pytest.mark.full
@pytest.mark.parametrize(
    ("recruiting", "paying"),
    [
        (
            (("publish-study PUBLISH", "after"),),
            (("bulk-approve-submissions", "after"), ("pay-bonus-payments", "after")),
        ),
        pytest.param(
            (
                ("create-participant-group", "before"),
                ("create-participant-group", "after"),
                ("create-study", "before"),
                ("create-study", "after"),
                ("get-workspace-balance", "after"),
                ("publish-study PUBLISH", "before"),
            ),
            (
                ("transition-submission COMPLETE", "before"),
                ("transition-submission COMPLETE", "after"),
                ("bulk-approve-submissions", "before"),
                ("create-bonus-payments", "before"),
                ("create-bonus-payments", "after"),
                ("get-submission", "after"),
                ("send-message", "after"),
            ),
            marks=pytest.mark.full,
        ),
    ],
)
def test_a_bridge_that_is_killed_pays_once_and_publishes_once(
    tmp_path: Path, recruiting: tuple[tuple[str, str], ...], paying: tuple[tuple[str, str], ...]
) -> None:
    """Each process begins where the one before it was killed."""
    with a_town(tmp_path) as town:
        town.post(hits=2, assignments=2, **LATER)
        for name, moment in recruiting:
            assert _killed(town, name, moment) == -signal.SIGKILL, name
        assert _killed(town, "", "") == 0
        ann, bob = town.visitor(), town.visitor()
        study = town.study()
        ann.work(study)
        bob.arrive(study)
        while bob.visit()["stage"] == "Open":
            bob.answer()
        town.wait(minutes=5)
        for someone in (ann, bob):
            decide(town, someone, "approve", 0, 1)
        [first, *_] = town.rows("SELECT assignment_id FROM assignments ORDER BY id")
        town.requester.send_bonus(
            WorkerId=ann.worker_id,
            AssignmentId=first["assignment_id"],
            BonusAmount="0.25",
            Reason="Thank you",
        )
        town.requester.notify_workers(
            Subject="Hello", MessageText="Thank you.", WorkerIds=[ann.worker_id]
        )
        for name, moment in paying:
            assert _killed(town, name, moment) == -signal.SIGKILL, name
        assert _killed(town, "", "") == 0
        for someone in (ann, bob):
            submission = town.researcher.submission(someone.submission_id)
            assert submission["status"] == "APPROVED"
        assert len(ann.ask("GET", "/messages")["results"]) == 1
        check_studies(town)
        check_answers(town)
        check_pay(town)
        town.check_books()
