"""Submissions: taken, ended, judged, listed."""

from typing import Any

import httpx
import pytest

from offline_markets_tests.prolific.people import CODE, START, STUDY, UNIT, Refused, Researcher
from offline_markets_tests.prolific.test_studies import BALANCE, REJECTION


def _study_with(researcher: Researcher, *actions: dict[str, Any], actor: str) -> str:
    code = {"code": "OTHER", "code_type": "OTHER", "actions": list(actions), "actor": actor}
    return researcher.study(completion_codes=[*STUDY["completion_codes"], code])


def test_a_place_leads_to_the_work_with_the_three_ids(researcher: Researcher) -> None:
    """SESSION_ID is the submission's id."""
    study_id, someone = researcher.study(), researcher.participant()
    taken = someone.ask("POST", f"/studies/{study_id}", {})
    assert dict(httpx.URL(taken["url"]).params) == {
        "PROLIFIC_PID": someone.participant_id,
        "STUDY_ID": study_id,
        "SESSION_ID": taken["submission_id"],
    }
    submission = researcher.submission(taken["submission_id"])
    assert (submission["status"], submission["started_at"]) == (
        "ACTIVE",
        "2026-01-05T09:00:00.000000Z",
    )
    assert START.isoformat() == "2026-01-05T09:00:00+00:00"


def test_a_reserved_place_becomes_active(researcher: Researcher) -> None:
    """By its participant, or by START."""
    study_id = researcher.study()
    first, second = researcher.participant(), researcher.participant()
    for someone in (first, second):
        someone.ask("POST", f"/studies/{study_id}", {"reserve": True})
    [mine] = first.ask("GET", "/submissions")["results"]
    assert mine["status"] == "RESERVED"
    assert first.take(study_id) == mine["id"]
    [theirs] = second.ask("GET", "/submissions")["results"]
    assert researcher.judge(theirs["id"], "START") == "ACTIVE"


def test_a_reservation_lapses_after_ten_minutes(researcher: Researcher) -> None:
    """Its place is free again, nothing is paid, and it cannot be started late."""
    study_id = researcher.study(total_available_places=1)
    first, second = researcher.participant(), researcher.participant()
    first.ask("POST", f"/studies/{study_id}", {"reserve": True})
    [mine] = first.ask("GET", "/submissions")["results"]
    researcher.wait(minutes=9, seconds=59)
    assert researcher.submission(mine["id"])["status"] == "RESERVED"
    assert second.studies() == []
    researcher.wait(seconds=1)
    assert researcher.submission(mine["id"])["status"] == "TIMED-OUT"
    with pytest.raises(Refused, match="TIMED-OUT cannot be changed"):
        researcher.judge(mine["id"], "START")
    with pytest.raises(Refused, match="TIMED-OUT cannot be completed"):
        first.complete(mine["id"])
    second.do(study_id)
    assert researcher.status(study_id) == "AWAITING REVIEW"
    assert researcher.balance()[1] == UNIT
    assert researcher.books()["bonus_payments"] == []


def test_the_time_limit_begins_when_the_study_is_opened(researcher: Researcher) -> None:
    """Nine minutes of reservation do not count; the study allows thirty."""
    study_id, someone = researcher.study(), researcher.participant()
    someone.ask("POST", f"/studies/{study_id}", {"reserve": True})
    researcher.wait(minutes=9)
    submission_id = someone.take(study_id)
    assert researcher.submission(submission_id)["started_at"].startswith("2026-01-05T09:09:00")
    researcher.wait(minutes=29)
    assert researcher.submission(submission_id)["status"] == "ACTIVE"
    researcher.wait(minutes=1)
    assert researcher.submission(submission_id)["status"] == "TIMED-OUT"


def test_nobody_takes_a_place_twice_or_beyond_the_last(researcher: Researcher) -> None:
    """Until one is returned, or somebody is too slow."""
    study_id = researcher.study(total_available_places=1)
    first, second = researcher.participant(), researcher.participant()
    taken = first.take(study_id)
    with pytest.raises(Refused):
        second.take(study_id)
    assert first.give_back(taken) == "RETURNED"
    with pytest.raises(Refused):
        first.take(study_id)
    assert second.studies() == [study_id]
    second.take(study_id)


def test_several_visits_are_allowed_up_to_the_stated_number(researcher: Researcher) -> None:
    """They are siblings in the list."""
    config = {"max_submissions_per_participant": 2}
    study_id = researcher.study(submissions_config=config)
    someone = researcher.participant()
    someone.do(study_id)
    someone.do(study_id)
    with pytest.raises(Refused):
        someone.take(study_id)
    listed = researcher.get("/submissions/", study=study_id)["results"]
    assert [submission["has_siblings"] for submission in listed] == [True, True]


def test_visits_may_be_without_a_limit(researcher: Researcher) -> None:
    """Up to the places of the study; none at all is no number of visits."""
    config = {"max_submissions_per_participant": -1}
    study_id = researcher.study(submissions_config=config)
    someone = researcher.participant()
    for _ in range(3):
        someone.do(study_id)
    assert researcher.status(study_id) == "AWAITING REVIEW"
    with pytest.raises(Refused) as caught:
        researcher.draft(submissions_config={"max_submissions_per_participant": 0})
    assert list(caught.value.detail) == ["submissions_config"]


def test_only_so_many_take_part_at_once(researcher: Researcher) -> None:
    """The others see the study when somebody is done."""
    config = {"max_concurrent_submissions": 1}
    study_id = researcher.study(submissions_config=config)
    first, second = researcher.participant(), researcher.participant()
    first.ask("POST", f"/studies/{study_id}", {"reserve": True})
    assert second.studies() == []
    taken = first.take(study_id)
    assert second.studies() == []
    first.complete(taken)
    assert second.studies() == [study_id]


def test_who_takes_longer_than_allowed_is_timed_out(researcher: Researcher) -> None:
    """The place is free again; a late code is refused, unless the switch is on."""
    study_id = researcher.study(total_available_places=1)
    slow, other = researcher.participant(), researcher.participant()
    taken = slow.take(study_id)
    researcher.wait(minutes=29, seconds=59)
    assert researcher.submission(taken)["status"] == "ACTIVE"
    researcher.wait(seconds=1)
    assert researcher.submission(taken)["status"] == "TIMED-OUT"
    assert other.studies() == [study_id]
    with pytest.raises(Refused):
        slow.complete(taken)
    researcher.control("PUT", "/switches", {"late_completion": True})
    assert slow.complete(taken) == "AWAITING REVIEW"


def test_who_is_late_is_paid_as_anybody_if_that_is_allowed(researcher: Researcher) -> None:
    """Also when the place went to somebody else: the reward is held once more."""
    researcher.control("PUT", "/switches", {"late_completion": True})
    code = {
        "code": CODE,
        "code_type": "COMPLETED",
        "actions": [{"action": "AUTOMATICALLY_APPROVE"}],
    }
    study_id = researcher.study(total_available_places=1, completion_codes=[code])
    late = researcher.participant()
    taken = late.take(study_id)
    researcher.wait(minutes=30)
    researcher.participant().do(study_id)
    assert late.complete(taken) == "APPROVED"
    assert researcher.balance() == (BALANCE - 2 * UNIT, 0)
    researcher.books()


@pytest.mark.parametrize(("code", "shown"), [(None, "NOCODE"), ("", "NOCODE"), ("WR0NG", "WR0NG")])
def test_no_code_and_a_wrong_code_are_reviewed(
    researcher: Researcher, code: str | None, shown: str
) -> None:
    """The requester sees what was entered."""
    study_id = researcher.study()
    submission_id = researcher.participant().do(study_id, code)
    submission = researcher.submission(submission_id)
    assert (submission["status"], submission["entered_code"]) == ("AWAITING REVIEW", shown)


def test_a_code_may_approve_at_once(researcher: Researcher) -> None:
    """And pays."""
    study_id = _study_with(researcher, {"action": "AUTOMATICALLY_APPROVE"}, actor="participant")
    submission_id = researcher.participant().do(study_id, "OTHER")
    assert researcher.submission(submission_id)["status"] == "APPROVED"
    assert researcher.balance() == (BALANCE - 3 * UNIT, 2 * UNIT)


def test_a_code_may_ask_for_a_return(researcher: Researcher) -> None:
    """The participant is told why, and may return what waits for review."""
    action = {"action": "REQUEST_RETURN", "return_reason": "No consent."}
    study_id = _study_with(researcher, action, actor="participant")
    someone = researcher.participant()
    submission_id = someone.do(study_id, "OTHER")
    assert researcher.submission(submission_id)["return_requested"]
    [message] = someone.ask("GET", "/messages")["results"]
    assert "No consent." in message["body"]
    assert someone.give_back(submission_id) == "RETURNED"


def test_a_researcher_s_code_is_none_for_participants(researcher: Researcher) -> None:
    """COMPLETE takes it, and pays the share that is said: 40 % of 150 are 60.

    60 costs 60 + 20 (19.8) + 4: 84. The rest of the place's money is let go.
    """
    study_id = _study_with(researcher, {"action": "DYNAMIC_PAYMENT"}, actor="researcher")
    submission_id = researcher.participant().do(study_id, "OTHER")
    assert researcher.submission(submission_id)["status"] == "AWAITING REVIEW"
    with pytest.raises(Refused):
        researcher.judge(submission_id, "COMPLETE", completion_code=CODE)
    data = {"percentage_of_reward": 40}
    path = f"/submissions/{submission_id}/transition/"
    done = researcher.http.post(
        f"/api/v1{path}",
        json={"action": "COMPLETE", "completion_code": "OTHER", "completion_code_data": data},
    ).json()
    assert done["status"] == "PARTIALLY APPROVED"
    assert researcher.balance() == (BALANCE - 84 - 2 * UNIT, 2 * UNIT)


def test_silence_approves_after_21_days(researcher: Researcher) -> None:
    """Not a second before."""
    study_id = researcher.study()
    submission_id = researcher.participant().do(study_id)
    researcher.wait(days=21, seconds=-1)
    assert researcher.submission(submission_id)["status"] == "AWAITING REVIEW"
    researcher.wait(seconds=1)
    assert researcher.submission(submission_id)["status"] == "APPROVED"
    researcher.books()


def test_silence_counts_anew_after_a_rejection_was_taken_back(researcher: Researcher) -> None:
    """The 21 days that began before it are over."""
    submission_id = researcher.participant().do(researcher.study())
    researcher.wait(days=1)
    researcher.judge(submission_id, "REJECT", **REJECTION)
    researcher.judge(submission_id, "UNREJECT")
    researcher.wait(days=20)
    assert researcher.submission(submission_id)["status"] == "AWAITING REVIEW"
    researcher.wait(days=1)
    assert researcher.submission(submission_id)["status"] == "APPROVED"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"message": "x" * 99}, "message"),
        ({"message": None}, "message"),
        ({"rejection_category": "BORING"}, "rejection_category"),
        ({"rejection_category": None}, "rejection_category"),
    ],
)
def test_a_rejection_needs_a_reason(
    researcher: Researcher, change: dict[str, Any], field: str
) -> None:
    """A hundred characters for the participant, and a category."""
    submission_id = researcher.participant().do(researcher.study())
    with pytest.raises(Refused) as caught:
        researcher.judge(submission_id, "REJECT", **{**REJECTION, **change})
    assert list(caught.value.detail) == [field]
    assert researcher.submission(submission_id)["status"] == "AWAITING REVIEW"


def test_the_same_transition_twice_pays_once(researcher: Researcher) -> None:
    """The second is ignored; another one is refused."""
    submission_id = researcher.participant().do(researcher.study())
    for _ in range(2):
        assert researcher.judge(submission_id, "APPROVE") == "APPROVED"
    [submission] = researcher.books()["submissions"]
    assert submission["reward_paid"] == 150
    with pytest.raises(Refused) as caught:
        researcher.judge(submission_id, "REJECT", **REJECTION)
    assert caught.value.status == 400


def test_what_is_not_finished_is_not_judged(researcher: Researcher) -> None:
    """Neither approved nor rejected while somebody works."""
    submission_id = researcher.participant().take(researcher.study())
    for action, more in (("APPROVE", {}), ("REJECT", REJECTION), ("UNREJECT", {})):
        with pytest.raises(Refused):
            researcher.judge(submission_id, action, **more)


def test_a_rejection_is_taken_back_where_that_is_possible(researcher: Researcher) -> None:
    """A switch; the reward is held again."""
    study_id = researcher.study(total_available_places=1)
    submission_id = researcher.participant().do(study_id)
    researcher.judge(submission_id, "REJECT", **REJECTION)
    assert researcher.balance() == (BALANCE, 0)
    researcher.control("PUT", "/switches", {"unreject": False})
    with pytest.raises(Refused):
        researcher.judge(submission_id, "UNREJECT")
    researcher.control("PUT", "/switches", {"unreject": True})
    assert researcher.judge(submission_id, "UNREJECT") == "AWAITING REVIEW"
    assert researcher.balance() == (BALANCE - UNIT, UNIT)
    assert researcher.judge(submission_id, "APPROVE") == "APPROVED"
    researcher.books()


def test_judgements_change_what_is_known_of_a_participant(researcher: Researcher) -> None:
    """Approvals and rejections, which filters look at."""
    someone = researcher.participant(approvals=10, rejections=0)
    researcher.judge(someone.do(researcher.study()), "APPROVE")
    researcher.judge(someone.do(researcher.study()), "REJECT", **REJECTION)
    now = someone.ask("GET", "")
    assert (now["approvals"], now["rejections"]) == (11, 1)


def test_many_are_approved_a_little_later(researcher: Researcher) -> None:
    """The answer comes first; what cannot be approved is left as it is."""
    researcher.control("PUT", "/switches", {"settling_seconds": 30})
    study_id = researcher.study(total_available_places=4)
    people = [researcher.participant() for _ in range(4)]
    done = [someone.do(study_id) for someone in people[:3]]
    taken = people[3].take(study_id)
    assert researcher.post("/submissions/bulk-approve/", submission_ids=[*done, taken])
    assert researcher.submission(done[0])["status"] == "AWAITING REVIEW"
    researcher.wait(seconds=30)
    counts = researcher.get(f"/studies/{study_id}/submissions/counts/")
    assert (counts["APPROVED"], counts["ACTIVE"], counts["TOTAL"]) == (3, 1, 4)
    researcher.books()


def test_many_are_approved_by_their_participants(researcher: Researcher) -> None:
    """Who did not take part is named, and nobody is approved."""
    study_id = researcher.study()
    first, stranger = researcher.participant(), researcher.participant()
    first.do(study_id)
    body = {"study_id": study_id, "participant_ids": [first.participant_id]}
    researcher.post("/submissions/bulk-approve/", **body)
    assert researcher.get(f"/studies/{study_id}/submissions/counts/")["APPROVED"] == 1
    body["participant_ids"] = [stranger.participant_id]
    with pytest.raises(Refused) as caught:
        researcher.post("/submissions/bulk-approve/", **body)
    assert stranger.participant_id in str(caught.value.detail)


def test_a_return_is_asked_for_and_may_be_granted(researcher: Researcher) -> None:
    """The place is free, and the participant is paid nothing."""
    study_id, someone = researcher.study(), researcher.participant()
    submission_id = someone.do(study_id)
    asked = researcher.post(
        f"/submissions/{submission_id}/request-return/", request_return_reasons=["Withdrew consent"]
    )
    assert asked["return_requested"]
    assert someone.give_back(submission_id) == "RETURNED"
    assert researcher.balance() == (BALANCE - 3 * UNIT, 3 * UNIT)


def test_lists_are_filtered(researcher: Researcher) -> None:
    """By status in either spelling, by yes and no, by the day of completion."""
    study_id = researcher.study(total_available_places=4)
    people = [researcher.participant() for _ in range(3)]
    people[0].take(study_id)
    waiting = people[1].do(study_id)
    researcher.wait(hours=24)
    approved = people[2].do(study_id)
    researcher.judge(approved, "APPROVE")

    def filtered(**query: object) -> list[str]:
        listed = researcher.get("/submissions/", study=study_id, **query)["results"]
        return [submission["id"] for submission in listed]

    assert filtered(status="AWAITING_REVIEW") == [waiting]
    assert filtered(status="timed-out") == filtered(timeout="yes")
    assert filtered(approved="false", completed="true") == [waiting]
    assert filtered(submitted_from="06/01/2026") == [approved]
    assert filtered(submitted_before="06/01/2026") == [waiting]
    assert filtered(ordering="-started_at", completed=1) == [approved, waiting]
    for wrong in (
        {"status": "HAPPY"},
        {"approved": "maybe"},
        {"submitted_from": "2026-01-06"},
        {"ordering": "ip"},
    ):
        with pytest.raises(Refused) as caught:
            filtered(**wrong)
        assert list(caught.value.detail) == list(wrong)


def test_the_study_s_own_list_is_the_same(researcher: Researcher) -> None:
    """With pages, too, and orders of its own."""
    study_id = researcher.study()
    done = [researcher.participant().do(study_id) for _ in range(3)]
    path = f"/studies/{study_id}/submissions/"
    listed = researcher.get(path, page_size=2, ordering="-completed_at")
    assert [submission["id"] for submission in listed["results"]] == done[:0:-1]
    with pytest.raises(Refused) as caught:
        researcher.get(path, page=2)
    assert caught.value.status == 404


def test_a_code_is_entered_in_a_browser(researcher: Researcher) -> None:
    """At the address to which the requester's page leads, by who is named there."""
    study_id, someone = researcher.study(), researcher.participant()
    taken = someone.ask("POST", f"/studies/{study_id}", {})
    page = httpx.get(
        taken["complete_url"], params={"cc": CODE, "participant": someone.participant_id}
    )
    assert page.status_code == 200
    assert "AWAITING REVIEW" in page.text
    assert researcher.submission(taken["submission_id"])["entered_code"] == CODE
    again = httpx.get(
        taken["complete_url"], params={"cc": CODE, "participant": someone.participant_id}
    )
    assert again.status_code == 400


def test_whoever_took_the_place_is_known_at_the_end(researcher: Researcher) -> None:
    """By the cookie that came with it: a requester's page names nobody."""
    study_id, someone = researcher.study(), researcher.participant()
    submission_id = someone.take(study_id)
    page = researcher.http.get("/submissions/complete", params={"cc": "WR0NG"})
    assert "AWAITING REVIEW" in page.text
    assert researcher.submission(submission_id)["entered_code"] == "WR0NG"
    stranger = httpx.get(f"{researcher.url}/submissions/complete", params={"cc": CODE})
    assert stranger.status_code == 404
    assert "This browser has taken no place" in stranger.text


def test_what_belongs_to_another_is_not_touched(researcher: Researcher) -> None:
    """A participant ends their own submissions only."""
    taken = researcher.participant().take(researcher.study())
    with pytest.raises(Refused) as caught:
        researcher.participant().complete(taken)
    assert caught.value.status == 404


def test_a_participant_has_one_place_of_a_study_at_a_time(researcher: Researcher) -> None:
    """However many submissions one may have; the next comes when that has ended."""
    config = {"max_submissions_per_participant": 3}
    study_id, ann = (researcher.study(submissions_config=config), researcher.participant())
    first = ann.take(study_id)
    assert ann.studies() == []
    with pytest.raises(Refused) as refused:
        ann.take(study_id)
    assert "already has a place" in str(refused.value.detail)
    ann.complete(first)
    assert ann.studies() == [study_id]
    assert ann.take(study_id) != first
