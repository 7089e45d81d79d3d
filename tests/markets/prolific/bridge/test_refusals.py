"""A call that Prolific refuses changes nothing here, and a sentence says so."""

from pathlib import Path

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
