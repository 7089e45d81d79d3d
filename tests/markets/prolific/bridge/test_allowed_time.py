"""How long a visit may take: always less than the 24 hours that Prolific asks for."""

import logging
import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.markets.prolific.bridge.test_pay import check, decide
from tests.markets.prolific.bridge.town import Town, a_town

HOUR, WEEK = 3600, 7 * 24 * 3600
LONGEST = 24 * 60 - 1


def test_a_week_for_an_assignment_is_less_than_a_day_at_prolific(
    town: Town, caplog: pytest.LogCaptureFixture
) -> None:
    """Participants are told so, both sides end a visit then, and a log line says it."""
    with caplog.at_level(logging.WARNING):
        town.post(hits=2, assignments=2, AssignmentDurationInSeconds=WEEK)
        town.settle()
    study = town.study()
    assert town.researcher.get(f"/studies/{study}/")["maximum_allowed_time"] == LONGEST
    assert "may take 1439 minutes at Prolific, not 20160" in caplog.text
    ann, bob = town.visitor(), town.visitor()
    link = ann.open(study)
    page = ann.http.get("/visit/arrive", params=link, headers={"accept": "text/html"})
    assert re.search(r"At most</dt><dd>1439 minutes", page.text)
    for someone in (ann, bob):
        taken = link if someone is ann else someone.open(study)
        form = {**taken, "agreed": "1"}
        assert someone.http.post("/visit/arrive", data=form).status_code == 201
        someone.answer()
    shown = ann.visit()["assignment"]
    accepted, deadline = (
        datetime.fromisoformat(shown[name]) for name in ("accepted_at", "deadline")
    )
    assert deadline - accepted < timedelta(hours=24)
    town.wait(hours=23, minutes=50)
    ann.complete(ann.submission_id, ann.answer()["code"])
    town.wait(minutes=15)
    town.settle()
    assert bob.visit()["stage"] == "Late"
    statuses = [
        town.researcher.submission(someone.submission_id)["status"] for someone in (ann, bob)
    ]
    assert statuses == ["AWAITING REVIEW", "TIMED-OUT"]
    [worker] = town.rows("SELECT worker_id FROM workers ORDER BY id LIMIT 1")
    ann.worker_id = worker["worker_id"]
    decide(town, ann, "approve", 0, 1)
    check(town)


def test_a_visit_that_begins_late_ends_before_its_submission_all_the_same(town: Town) -> None:
    """Its time counts from when the participant took the place at Prolific."""
    town.post(hits=2, assignments=2, AssignmentDurationInSeconds=WEEK)
    town.settle()
    ann = town.visitor()
    link = ann.open(town.study())
    started = datetime.fromisoformat(
        str(town.researcher.submission(ann.submission_id)["started_at"])
    )
    town.wait(hours=2)
    form = {**link, "agreed": "1"}
    assert ann.http.post("/visit/arrive", data=form).status_code == 201
    deadline = datetime.fromisoformat(ann.visit()["assignment"]["deadline"])
    assert deadline < started + timedelta(minutes=LONGEST)


def test_a_visit_has_as_many_hits_as_a_day_is_long_enough_for(tmp_path: Path) -> None:
    """Though more were asked for; more than twice ten hours have to be allowed."""
    with a_town(tmp_path, hit_seconds=5 * HOUR, hits_per_visit=4) as town:
        town.post(hits=4, AssignmentDurationInSeconds=8 * HOUR)
        town.settle()
        [study] = town.rows("SELECT hits_per_visit, most_minutes FROM studies")
        assert study == {"hits_per_visit": 2, "most_minutes": 1251}


def test_hits_that_take_too_long_for_prolific_are_not_published(tmp_path: Path) -> None:
    """Half a day is too long: twice the time is to be allowed, and less than a day."""
    with a_town(tmp_path, hit_seconds=12 * HOUR) as town:
        town.post(hits=2, AssignmentDurationInSeconds=WEEK)
        town.settle()
        assert town.studies() == []
        [row] = town.rows("SELECT trouble FROM studies")
        assert "720 minutes" in row["trouble"]
        assert "692" in row["trouble"]
