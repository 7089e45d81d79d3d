"""A bridge that is really killed (SIGKILL), again and again, in one campaign."""

import json
import os
import signal
import subprocess
import sys

import pytest

from tests.marketplace.market import START
from tests.markets.connect.town import TERMS, Town


def _bridge(town: Town, name: str, moment: str) -> int:
    """Let another process be the bridge until it is killed; its exit code."""
    database = town.bridge.backend.database
    file = database.with_name("killed.json")
    settings = {
        "database": str(database),
        "url": town.connect.address,
        "start": START.isoformat(),
        "terms": {**TERMS, "site_url": town.bridge.terms.site_url},
        "name": name,
        "moment": moment,
    }
    file.write_text(json.dumps(settings))
    command = [sys.executable, "-m", "tests.markets.connect.killed", str(file)]
    # pytest adds folders to the path, which the other process does not know.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(command, check=False, env=environment, timeout=120).returncode


@pytest.mark.full
def test_eleven_kills_publish_nothing_twice_and_pay_everyone_once(town: Town) -> None:
    """At each call that creates, publishes, decides or pays."""
    hits = town.post(4)
    for name in ("create-project", "update-status Live"):
        for moment in ("before", "after"):
            assert _bridge(town, name, moment) == -signal.SIGKILL
    assert _bridge(town, "nothing", "before") == 0
    good, bad = town.visitor(), town.visitor()
    for visitor in (good, bad):
        visitor.work(town.project())
    for assignment in town.submitted(*hits):
        row = town.requester.get_assignment(AssignmentId=assignment)["Assignment"]
        if row["WorkerId"] == bad.worker_id:
            town.requester.reject_assignment(
                AssignmentId=assignment, RequesterFeedback="Not about the picture."
            )
            continue
        town.requester.approve_assignment(AssignmentId=assignment)
        town.requester.send_bonus(
            WorkerId=good.worker_id, BonusAmount="0.30", AssignmentId=assignment, Reason="Good."
        )
    town.requester.notify_workers(
        Subject="Thanks", MessageText="Well done.", WorkerIds=[good.worker_id]
    )
    for name in ("reject", "approve", "bonus", "send-message"):
        for moment in ("before", "after") if name != "send-message" else ("after",):
            assert _bridge(town, name, moment) == -signal.SIGKILL, (name, moment)
            town.wait(minutes=11)  # A payment with a lost reply is made once more.
    assert _bridge(town, "nothing", "before") == 0
    town.wait(minutes=11)
    assert _bridge(town, "nothing", "before") == 0
    town.settle()
    assert town.status_of(good.assignment_id)["status"] == "Approved"
    assert town.status_of(good.assignment_id)["bonus"] == 60
    assert town.status_of(bad.assignment_id)["status"] == "Rejected"
    published = [each for each in town.projects() if each["status"] != "Unpublished"]
    assert len(published) == 1
    kinds = [each["kind"] for each in town.connect.messages(good.participant_id)]
    assert kinds.count("message") <= 1
    town.check_books()
