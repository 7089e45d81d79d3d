"""A call that Prolific refuses changes nothing here, and a sentence says so."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from piecework.foundation.client.errors import NoAccess
from piecework.markets.prolific.bridge.serving import step
from piecework.markets.prolific.bridge.status import committed_cents, read_status
from tests.markets.prolific.bridge.long_campaign import LONG_AGO
from tests.markets.prolific.bridge.test_pay import LATER, check, decide, pass_days
from tests.markets.prolific.bridge.town import Town, a_town

COST, BONUS = 110 + 36 + 7, 50 + 17 + 3
"""A visit of two HITs of 55 pence, and a bonus of 50 pence, with fees and tax."""


def _refuse(town: Town, operation: str, times: int = 999) -> None:
    fault = {"kind": "refuse", "operation": operation, "times": times}
    town.researcher.control("PUT", "/faults", [fault])


def _relent(town: Town) -> None:
    town.researcher.control("PUT", "/faults", [])


def _trouble(town: Town) -> str:
    [row] = town.rows("SELECT trouble FROM studies")
    return str(row["trouble"])


def _troubles(town: Town) -> tuple[str, ...]:
    with town.bridge.backend.transaction() as transaction:
        return read_status(transaction).troubles


def _committed(town: Town) -> int:
    with town.bridge.backend.transaction() as transaction:
        return committed_cents(transaction)


def test_a_refused_rise_of_places_holds_back_no_bonus(tmp_path: Path) -> None:
    """What is committed is as before."""
    with a_town(tmp_path, spend_at_most_cents=4 * COST + BONUS - 1) as town:
        hits = town.post(hits=2, assignments=2, **LATER)
        town.settle()
        ann = town.visitor()
        ann.work(town.study())
        decide(town, ann, "approve", 0, 1)
        town.settle()
        _refuse(town, "update-study")
        later = town.post(hits=4, **LATER)
        town.requester.send_bonus(
            WorkerId=ann.worker_id,
            AssignmentId=town.submitted(*hits)[0]["AssignmentId"],
            BonusAmount="0.50",
            Reason="Thank you",
        )
        step(town.bridge)
        assert "refuses this call" in _trouble(town)
        town.settle()
        assert town.researcher.submission(ann.submission_id)["bonus_payments"] == [50]
        assert town.rows("SELECT places FROM studies") == [{"places": 2}]
        assert _committed(town) == 2 * COST + BONUS
        _relent(town)
        for hit_id in later[:2]:
            town.requester.update_expiration_for_hit(HITId=hit_id, ExpireAt=LONG_AGO)
        town.settle()
        assert town.rows("SELECT places, trouble FROM studies") == [{"places": 3, "trouble": ""}]
        town.visitor().work(town.study())
        check(town)


def test_a_refused_rise_of_places_is_said_in_each_step(town: Town) -> None:
    """No step clears the sentence while the refusal lasts."""
    town.post(hits=2, **LATER)
    town.settle()
    _refuse(town, "update-study")
    town.post(hits=4, **LATER)
    for _ in range(3):
        step(town.bridge)
        [study] = town.rows("SELECT places, status, trouble FROM studies")
        assert (study["places"], study["status"]) == (1, "ACTIVE")
        assert "refuses this call" in study["trouble"]
    _relent(town)
    town.settle()
    assert town.rows("SELECT places, trouble FROM studies") == [{"places": 3, "trouble": ""}]


def test_a_refused_stop_is_said_until_it_succeeds(town: Town) -> None:
    """The study goes on admitting people meanwhile."""
    hits = town.post(hits=2, **LATER)
    town.settle()
    _refuse(town, "publish-study")
    for hit_id in hits:
        town.requester.update_expiration_for_hit(HITId=hit_id, ExpireAt=LONG_AGO)
    for _ in range(3):
        town.settle()
        assert "refuses this call" in _trouble(town)
    _relent(town)
    town.settle()
    assert _trouble(town) == ""
    assert [each["status"] for each in town.studies()] == ["COMPLETED"]


def test_rejected_work_is_rejected_though_its_return_cannot_be_asked_for(town: Town) -> None:
    """After the same seven days; otherwise Prolific would pay it after 21."""
    town.post(hits=2, **LATER)
    town.settle()
    ann = town.visitor()
    ann.work(town.study())
    _refuse(town, "request-submission-return")
    decide(town, ann, "reject", 0, 1)
    town.settle()
    [sentence] = _troubles(town)
    assert ann.submission_id in sentence
    assert "refuses this call" in sentence
    pass_days(town, 6)
    assert town.researcher.submission(ann.submission_id)["status"] == "AWAITING REVIEW"
    asked = town.researcher.control("GET", "/calls")["request-submission-return"]
    assert asked == 1
    pass_days(town, 2)
    assert town.researcher.submission(ann.submission_id)["status"] == "REJECTED"
    [message] = [each["body"] for each in ann.ask("GET", "/messages")["results"]]
    assert "single words were given" in message
    assert "asked you to return it" not in message
    assert _troubles(town) == ()
    _relent(town)
    check(town)


def test_a_refused_rejection_is_said_until_it_succeeds(town: Town) -> None:
    """A person has to know before Prolific pays by itself."""
    town.post(hits=2, **LATER)
    town.settle()
    ann = town.visitor()
    ann.work(town.study())
    decide(town, ann, "reject", 0, 1)
    town.settle()
    _refuse(town, "transition-submission")
    pass_days(town, 8)
    [sentence] = _troubles(town)
    assert f"Prolific refused a call about {ann.submission_id}" in sentence
    _relent(town)
    town.settle()
    assert town.researcher.submission(ann.submission_id)["status"] == "REJECTED"
    assert _troubles(town) == ()
    check(town)


def test_a_refused_approval_keeps_no_other_from_pay(town: Town) -> None:
    """Prolific refuses all of them together, and then one of them alone."""
    town.post(hits=2, assignments=3, **LATER)
    town.settle()
    study = town.study()
    people = [town.visitor() for _ in range(3)]
    for someone in people:
        someone.work(study)
        decide(town, someone, "approve", 0, 1)
    _refuse(town, "bulk-approve-submissions", times=2)
    # One step: the call for all is refused, then the first of those for one each.
    step(town.bridge)
    [sentence] = _troubles(town)
    assert f"Prolific refused a call about {people[0].submission_id}" in sentence
    statuses = [town.researcher.submission(each.submission_id)["status"] for each in people]
    assert statuses == ["AWAITING REVIEW", "APPROVED", "APPROVED"]
    town.settle()
    assert town.researcher.submission(people[0].submission_id)["status"] == "APPROVED"
    assert _troubles(town) == ()
    check(town)


@pytest.mark.parametrize("status", [401, 404])
def test_a_submission_that_is_not_there_keeps_no_other_from_pay(
    town: Town, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    """A bad token is no reason to try each."""
    town.post(hits=2, assignments=2, **LATER)
    town.settle()
    study = town.study()
    ann, bob = town.visitor(), town.visitor()
    for someone in (ann, bob):
        someone.work(study)
        decide(town, someone, "approve", 0, 1)
    real, calls = town.bridge.prolific.submissions.bulk_approve, 0

    def approve(submission_ids: Sequence[str]) -> None:
        nonlocal calls
        calls += 1
        if status == 401 or ann.submission_id in submission_ids:
            raise NoAccess("no such submission", status=status)
        real(submission_ids)

    with monkeypatch.context() as patch:
        patch.setattr(town.bridge.prolific.submissions, "bulk_approve", approve)
        step(town.bridge)
    town.settle() if status == 401 else step(town.bridge)
    assert calls == (1 if status == 401 else 3)
    assert town.researcher.submission(bob.submission_id)["status"] == "APPROVED"
    check(town)


@pytest.mark.parametrize("kind", ["refuse", "lose_request"])
def test_who_was_turned_away_is_asked_for_the_return_until_it_is_asked(
    town: Town, kind: str
) -> None:
    """Once a day, as long as the request does not show at Prolific, and then no more."""
    town.post(hits=4, assignments=2, **LATER)
    town.settle()
    study = town.study()
    ann = town.visitor()
    ann.work(study)
    town.settle()
    town.requester.create_worker_block(WorkerId=ann.worker_id, Reason="Spam")
    assert ann.arrive(study).status_code == 201
    assert ann.visit()["stage"] == "TurnedAway"
    ann.complete(ann.submission_id, "NOCODE")
    fault = {"kind": kind, "operation": "request-submission-return", "times": 999}
    town.researcher.control("PUT", "/faults", [fault])
    for _ in range(3):
        town.settle()
    _relent(town)

    def asked() -> int:
        messages = ann.ask("GET", "/messages")["results"]
        return sum("no work left" in message["body"] for message in messages)

    town.settle()
    assert asked() == 0
    pass_days(town, 2)
    assert asked() == 1
    assert _troubles(town) == ()
    pass_days(town, 5)
    assert asked() == 1
    assert town.researcher.submission(ann.submission_id)["status"] == "AWAITING REVIEW"


def _deny(*_: object, status: int = 404) -> None:
    raise NoAccess("it does not exist, or this token may not see it", status=status)


def test_work_is_rejected_though_prolific_does_not_know_whom_to_ask(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A 404 is as final as another refusal."""
    town.post(hits=2, **LATER)
    town.settle()
    ann = town.visitor()
    ann.work(town.study())
    decide(town, ann, "reject", 0, 1)
    monkeypatch.setattr(town.bridge.prolific.submissions, "request_return", _deny)
    town.settle()
    assert town.rows("SELECT 1 FROM visits WHERE return_asked_ms IS NULL") == []
    pass_days(town, 8)
    assert town.researcher.submission(ann.submission_id)["status"] == "REJECTED"
    check(town)


@pytest.mark.parametrize("status", [401, 404])
def test_only_a_draft_that_is_not_there_counts_as_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    """With a bad token, it may be there."""
    with a_town(tmp_path, is_live=False) as town:
        hits = town.post(hits=2, **LATER)
        town.settle()
        for hit_id in hits:
            town.requester.update_expiration_for_hit(HITId=hit_id, ExpireAt=LONG_AGO)
        deny = partial(_deny, status=status)
        monkeypatch.setattr(town.bridge.prolific.studies, "delete", deny)
        town.settle()
        stage = "Draft" if status == 401 else "Retired"
        assert town.rows("SELECT stage FROM studies") == [{"stage": stage}]
