"""What people change at Prolific or here, at any moment, and what is taken in of it."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from piecework.cli.main import main
from piecework.foundation.client.calls import Request
from piecework.foundation.client.transport import Transport
from piecework.markets.prolific.bridge.bridge import Bridge
from piecework.markets.prolific.bridge.serving import step
from piecework.markets.prolific.bridge.status import read_status
from piecework.markets.prolific.calling import Token
from piecework.markets.prolific.client import Prolific
from tests.markets.prolific.bridge.calls import call_name
from tests.markets.prolific.bridge.long_campaign import LONG_AGO
from tests.markets.prolific.bridge.test_pay import LATER, answer_all, check, decide, pass_days
from tests.markets.prolific.bridge.town import Town, a_town


def _statuses(town: Town) -> list[str]:
    return sorted(str(study["status"]) for study in town.studies())


def test_nothing_is_published_without_leave(tmp_path: Path) -> None:
    """A draft says what it would cost; it goes when its work goes."""
    with a_town(tmp_path, is_live=False) as town:
        hits = town.post(hits=2, assignments=2)
        town.settle()
        assert _statuses(town) == ["UNPUBLISHED"]
        [row] = town.rows("SELECT trouble FROM studies")
        assert "£3.06; nothing is published without --live" in row["trouble"]
        shown = CliRunner().invoke(
            main, ["market", "prolific", "status", "--database", str(tmp_path / "market.db")]
        )
        assert f"\n  {row['trouble']}\n" in shown.output
        for hit_id in hits:
            town.requester.update_expiration_for_hit(HITId=hit_id, ExpireAt=LONG_AGO)
        town.settle()
        assert town.studies() == []
        assert town.researcher.balance() == (1_000_000, 0)


def test_a_campaign_in_pounds_is_not_published_in_a_workspace_of_dollars(tmp_path: Path) -> None:
    """Before a penny is held."""
    with a_town(tmp_path, currency="USD") as town:
        town.post(hits=2)
        town.settle()
        assert _statuses(town) == ["UNPUBLISHED"]
        [row] = town.rows("SELECT trouble FROM studies")
        assert "the workspace is now in GBP, not in USD" in row["trouble"]


def test_nothing_is_spent_beyond_the_cap(tmp_path: Path) -> None:
    """Neither on places, nor on more places, nor on bonuses."""
    with a_town(tmp_path, spend_at_most_cents=2 * 1_54 + 20) as town:
        town.post(hits=2, assignments=2, **LATER)
        town.settle()
        study = town.study()
        ann = town.visitor()
        ann.work(study)
        decide(town, ann, "approve", 0, 1)
        [assignment, _] = town.submitted(
            *(row["hit_id"] for row in town.rows("SELECT hit_id FROM hits"))
        )
        town.requester.send_bonus(
            WorkerId=ann.worker_id,
            AssignmentId=assignment["AssignmentId"],
            BonusAmount="0.20",
            Reason="Thank you",
        )
        for row in town.rows("SELECT hit_id FROM hits"):
            town.requester.create_additional_assignments_for_hit(
                HITId=row["hit_id"], NumberOfAdditionalAssignments=1
            )
        town.settle()
        assert town.studies()[0]["total_available_places"] == 2
        assert town.researcher.books()["bonus_payments"] == []
        [trouble] = town.rows("SELECT trouble FROM bonus_batches")
        assert "of the limit of £3.28 is already spent" in trouble["trouble"]
        [trouble] = town.rows("SELECT trouble FROM studies")
        assert "1 places would cost £1.53" in trouble["trouble"]


def test_what_is_approved_or_rejected_by_hand_is_taken_in(town: Town) -> None:
    """On Prolific's own pages: a rejection holds here, a payment is booked here."""
    town.post(hits=2, assignments=2, **LATER)
    town.settle()
    study = town.study()
    ann, bob = town.visitor(), town.visitor()
    for someone in (ann, bob):
        someone.work(study)
    town.researcher.judge(ann.submission_id, "APPROVE")
    town.researcher.judge(
        bob.submission_id,
        "REJECT",
        message="What was sent is not what was asked for. " * 3,
        rejection_category="OTHER",
    )
    town.settle()
    rows = town.rows(
        "SELECT worker_id, assignments.status, feedback FROM assignments "
        "JOIN workers ON workers.id = worker"
    )
    assert {(row["worker_id"], row["status"]) for row in rows} == {
        (ann.worker_id, "Submitted"),
        (bob.worker_id, "Rejected"),
    }
    assert "rejected at Prolific" in str(rows)
    decide(town, ann, "approve", 0, 1)
    check(town)


def test_a_draft_that_was_deleted_by_hand_is_made_again(tmp_path: Path) -> None:
    """Its work is still to be done."""
    with a_town(tmp_path, is_live=False) as town:
        town.post(hits=2)
        town.settle()
        [draft] = town.studies()
        town.researcher.ask("DELETE", f"/studies/{draft['id']}/")
        town.settle()
        [again] = town.studies()
        assert again["id"] != draft["id"]
        assert not step(town.bridge)


def test_a_draft_that_was_published_by_hand_is_at_work(tmp_path: Path) -> None:
    """A person may press the button; the people who come then are paid."""
    with a_town(tmp_path, is_live=False) as town:
        town.post(hits=2)
        town.settle()
        [draft] = town.studies()
        town.researcher.move(draft["id"], "PUBLISH")
        town.settle()
        ann = town.visitor()
        ann.work(draft["id"])
        decide(town, ann, "approve", 0, 1)
        town.settle()
        check(town)


def test_three_weeks_of_silence_pay_the_participant(town: Town) -> None:
    """We approve before Prolific would, though the requester asked for 30 days."""
    town.post(hits=2, AutoApprovalDelayInSeconds=30 * 24 * 3600)
    town.settle()
    ann = town.visitor()
    ann.work(town.study())
    pass_days(town, 20)
    assert town.researcher.submission(ann.submission_id)["status"] == "APPROVED"
    check(town)


def test_three_weeks_without_the_bridge_pay_the_participant_too(town: Town) -> None:
    """Prolific approves by itself, also what was rejected here."""
    town.post(hits=2, assignments=2, **LATER)
    town.settle()
    study = town.study()
    ann, bob = town.visitor(), town.visitor()
    for someone in (ann, bob):
        someone.work(study)
    decide(town, bob, "reject", 0, 1)
    town.wait(days=22)
    town.settle()
    for someone in (ann, bob):
        status = town.researcher.submission(someone.submission_id)["status"]
        assert status == "APPROVED"
    assert [row["outcome"] for row in town.rows("SELECT outcome FROM visits")] == ["Paid", "Paid"]
    town.check_books()


def test_approval_without_delay(town: Town) -> None:
    """Zero seconds: paid with the next step."""
    town.post(hits=2, AutoApprovalDelayInSeconds=0)
    town.settle()
    ann = town.visitor()
    ann.work(town.study())
    town.settle()
    assert town.researcher.submission(ann.submission_id)["status"] == "APPROVED"
    check(town)


def test_hits_that_pay_nothing_are_not_recruited_for(town: Town) -> None:
    """Prolific has no study without a reward; others go on."""
    town.post(hits=2, Reward="0.00", Title="For nothing")
    town.post(hits=2)
    town.settle()
    [study] = town.studies()
    assert study["name"] == "Describe a picture"


def test_titles_with_markup_are_text(town: Town) -> None:
    """Descriptions are HTML at Prolific; a requester's is text."""
    town.post(hits=2, Title="<b>a & b</b>", Description="1 < 2 <script>x</script>")
    town.settle()
    study = town.researcher.get(f"/studies/{town.study()}/")
    assert study["name"] == "<b>a & b</b>"
    assert study["description"] == "1 &lt; 2 &lt;script&gt;x&lt;/script&gt;"


def test_hits_that_are_deleted_once_they_were_approved_are_paid(town: Town) -> None:
    """A requester tidies up before the bridge has made a step."""
    hits = town.post(hits=2)
    town.settle()
    ann = town.visitor()
    ann.work(town.study())
    decide(town, ann, "approve", 0, 1)
    for hit_id in hits:
        town.requester.delete_hit(HITId=hit_id)
    town.settle()
    assert town.researcher.submission(ann.submission_id)["status"] == "APPROVED"
    check(town)


def test_hits_that_move_to_another_type_are_recruited_for_there(town: Town) -> None:
    """Who has begun goes on, and is paid."""
    hits = town.post(hits=4, **LATER)
    town.settle()
    study = town.study()
    ann = town.visitor()
    assert ann.arrive(study).status_code == 201
    other = town.requester.create_hit_type(
        Title="Moved", Description="Elsewhere.", Reward="0.55", AssignmentDurationInSeconds=600
    )["HITTypeId"]
    begun = town.rows("SELECT hit_id FROM hits JOIN assignments ON hit = hits.id")
    for hit_id in set(hits) - {row["hit_id"] for row in begun}:
        town.requester.update_hit_type_of_hit(HITId=hit_id, HITTypeId=other)
    town.settle()
    while ann.visit()["stage"] == "Open":
        ann.answer()
    ann.complete(ann.submission_id, ann.visit()["code"])
    decide(town, ann, "approve", 0, 1)
    town.settle()
    [moved] = [study for study in town.studies() if study["name"] == "Moved"]
    town.visitor().work(moved["id"])
    town.wait(days=21)
    town.settle()
    check(town)


def test_more_of_what_a_participant_has_done_is_for_others(town: Town) -> None:
    """Nobody is let in for HITs that he has done."""
    hits = town.post(hits=2, **LATER)
    town.settle()
    ann = town.visitor()
    ann.work(town.study())
    for hit_id in hits:
        town.requester.create_additional_assignments_for_hit(
            HITId=hit_id, NumberOfAdditionalAssignments=1
        )
    town.settle()
    assert town.study() not in ann.studies()
    town.visitor().work(town.study())


@pytest.mark.parametrize(
    "moment", ["create-study", "publish-study PUBLISH", "count-study-submissions-by-status"]
)
def test_what_a_requester_wants_while_a_step_runs_is_done_by_the_next(
    town: Town, moment: str
) -> None:
    """All work is withdrawn at this call; nobody is let in for nothing."""
    hits = town.post(hits=2)

    def withdraw() -> None:
        for hit_id in hits:
            town.requester.update_expiration_for_hit(HITId=hit_id, ExpireAt=LONG_AGO)

    with Telling(town, moment, withdraw) as bridge:
        for _ in range(8):
            step(bridge)
    assert not [study for study in town.studies() if study["status"] == "ACTIVE"]
    assert town.researcher.balance() == (1_000_000, 0)


def test_what_participants_do_while_a_step_runs_is_not_lost(town: Town) -> None:
    """Somebody sends in between the two halves of a reading."""
    town.post(hits=2)
    town.settle()
    ann = town.visitor()
    answer_all(ann, town.study())
    code = ann.visit()["code"]

    def send_in() -> None:
        ann.complete(ann.submission_id, code)

    with Telling(town, "get-submissions", send_in) as bridge:
        step(bridge)
    decide(town, ann, "approve", 0, 1)
    town.settle()
    assert town.researcher.submission(ann.submission_id)["status"] == "APPROVED"
    check(town)


class Telling:
    """A bridge that does something else in the middle of the first call of a name."""

    def __init__(self, town: Town, name: str, act: Callable[[], None]) -> None:
        self._name, self._act, self._left = name, act, threading.Semaphore(1)
        self._transport = Transport(
            town.researcher.url, Token("rehearsal-token"), heard=self._heard
        )
        here = town.bridge
        self._bridge = Bridge(here.backend, Prolific(self._transport), here.terms)

    def __enter__(self) -> Bridge:
        return self._bridge

    def __exit__(self, *_: object) -> None:
        self._transport.close()
        assert not self._left.acquire(blocking=False), "the call was never made"

    def _heard(self, request: Request) -> None:
        if call_name(request) == self._name and self._left.acquire(blocking=False):
            self._act()


def test_who_was_paid_without_answers_is_told(town: Town) -> None:
    """A code was told; nobody was there to reject it within Prolific's 21 days."""
    town.post(hits=2, assignments=2)
    town.settle()
    study = town.study()
    [code] = town.rows("SELECT code FROM studies")
    ida, ann = town.visitor(), town.visitor()
    ida.open(study)
    ida.complete(ida.submission_id, code["code"])
    ann.work(study)
    decide(town, ann, "approve", 0, 1)
    town.settle()
    town.researcher.wait(days=22)
    town.settle()
    assert town.researcher.submission(ida.submission_id)["status"] == "APPROVED"
    with town.bridge.backend.reading() as transaction:
        [sentence] = read_status(transaction).troubles
    assert sentence.startswith(f"Prolific paid for 1 of the visits to {study}")
    town.check_books()
