"""Assignments as requesters see and judge them, over the wire."""

from datetime import timedelta

import pytest
from botocore.exceptions import ClientError
from defusedxml.ElementTree import fromstring

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.state.backend import Backend
from piecework.marketplace.workers.assignment_actions import MOST_HELD, any_assignment
from tests.marketplace.market import Market, post, refusal

ANSWERS = (
    "{http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"
    "2005-10-01/QuestionFormAnswers.xsd}"
)


def test_an_answer_comes_back_as_it_was_typed(standing: Market) -> None:
    """Markup, quotes, line ends and other scripts survive; repeats are joined."""
    client, ann = standing.requester(), standing.worker()
    made = post(client)
    typed = 'A <b>bird</b> & "cage" ]]>\r\n\tünïcødé 🐦'
    assignment = ann.accept(made["HITGroupId"]).json()["assignment_id"]
    form: dict[str, str | list[str]] = {
        "caption.1": typed,
        "flaws.1": ["blur", "dark"],
        "comment": "",
        "hitId": "kept",
    }
    ann.submit(assignment, **form)
    answer_xml = client.get_assignment(AssignmentId=assignment)["Assignment"]["Answer"]
    root = fromstring(answer_xml)
    answers = {
        answer.findtext(f"{ANSWERS}QuestionIdentifier"): answer.findtext(f"{ANSWERS}FreeText")
        for answer in root.iter(f"{ANSWERS}Answer")
    }
    assert root.tag == f"{ANSWERS}QuestionFormAnswers"
    assert answers == {"caption.1": typed, "flaws.1": "blur|dark", "comment": "", "hitId": "kept"}


def test_an_assignment_tells_its_times(market: Market) -> None:
    """Accept, submit, deadline and auto-approval are what the clock said."""
    client, ann = market.requester(), market.worker()
    made = post(client)
    accepted_at = market.now()
    assignment = ann.accept(made["HITGroupId"]).json()["assignment_id"]
    market.wait(seconds=45)
    ann.submit(assignment)
    reply = client.get_assignment(AssignmentId=assignment)
    details = reply["Assignment"]
    assert details["WorkerId"] == ann.worker_id
    assert details["AssignmentStatus"] == "Submitted"
    assert details["AcceptTime"] == accepted_at
    assert details["SubmitTime"] == accepted_at + timedelta(seconds=45)
    assert details["Deadline"] == accepted_at + timedelta(seconds=600)
    assert details["AutoApprovalTime"] == details["SubmitTime"] + timedelta(seconds=3600)
    assert reply["HIT"]["HITId"] == made["HITId"]


def test_an_accepted_assignment_is_not_for_requesters(standing: Market) -> None:
    """Until it is submitted it can be neither read, nor listed, nor judged."""
    client, ann = standing.requester(), standing.worker()
    made = post(client)
    assignment = ann.accept(made["HITGroupId"]).json()["assignment_id"]
    with pytest.raises(ClientError) as caught:
        client.get_assignment(AssignmentId=assignment)
    kind, _, message = refusal(caught.value)
    assert kind == "RequestError"
    assert "with a status of: Reviewable,Approved,Rejected" in message
    with pytest.raises(ClientError) as caught:
        client.approve_assignment(AssignmentId=assignment)
    assert "with a status of: Submitted" in refusal(caught.value)[2]
    listed = client.list_assignments_for_hit(HITId=made["HITId"])
    assert listed["Assignments"] == []


def test_a_worker_holds_at_most_25_hits_at_once(market: Market) -> None:
    """What is submitted, returned or run out frees a place; other workers are free."""
    client, ann, bea = market.requester(), market.worker(), market.worker()
    (group, *_) = [post(client)["HITGroupId"] for _ in range(MOST_HELD + 4)]
    held = [ann.accept(group).json()["assignment_id"] for _ in range(MOST_HELD)]
    refused = ann.accept(group)
    assert refused.status_code == 409
    assert refused.json()["error"] == "TooManyHits"
    assert bea.accept(group).status_code == 201
    for free in (ann.submit, ann.give_back):
        free(held.pop())
        held.append(ann.accept(group).json()["assignment_id"])
        assert ann.accept(group).status_code == 409
    market.wait(seconds=601)
    assert ann.accept(group).status_code == 201


def test_assignments_are_listed_by_submission_and_status(market: Market) -> None:
    """Oldest submission first, whoever accepted first; the status filter holds."""
    client, ann, bob = market.requester(), market.worker(), market.worker()
    made = post(client, MaxAssignments=3)
    group = made["HITGroupId"]
    anns = ann.accept(group).json()["assignment_id"]
    bobs = bob.do(group)
    market.wait(seconds=1)
    ann.submit(anns)
    client.approve_assignment(AssignmentId=bobs, RequesterFeedback="Thanks")

    def listed(*statuses: str) -> list[str]:
        reply = client.list_assignments_for_hit(
            HITId=made["HITId"],
            AssignmentStatuses=list(statuses),  # type: ignore[arg-type]
        )
        return [assignment["AssignmentId"] for assignment in reply["Assignments"]]

    assert listed() == [bobs, anns]
    assert listed("Submitted") == [anns]
    assert listed("Approved", "Rejected") == [bobs]


def test_judgements_are_final_but_for_the_override(standing: Market) -> None:
    """A second judgement is an error that names the state; OverrideRejection pays."""
    client, ann = standing.requester(), standing.worker()
    made = post(client)
    assignment = ann.do(made["HITGroupId"])
    client.reject_assignment(AssignmentId=assignment, RequesterFeedback="Empty.")
    for judge in (client.approve_assignment, client.reject_assignment):
        with pytest.raises(ClientError) as caught:
            judge(AssignmentId=assignment, RequesterFeedback="Again.")
        assert refusal(caught.value)[1] == "InvalidAssignmentState"
        assert "'Rejected'" in refusal(caught.value)[2]
    client.approve_assignment(AssignmentId=assignment, OverrideRejection=True)
    details = client.get_assignment(AssignmentId=assignment)["Assignment"]
    assert details["AssignmentStatus"] == "Approved"
    assert details["RequesterFeedback"] == "Empty."
    assert client.get_account_balance()["AvailableBalance"] == "9999.34"  # 0.55 + 0.11
    with pytest.raises(ClientError):
        client.approve_assignment(AssignmentId=assignment, OverrideRejection=True)


def test_a_rejection_stands_after_thirty_days(market: Market) -> None:
    """The override has a window from the submission."""
    client, ann = market.requester(), market.worker()
    assignment = ann.do(post(client)["HITGroupId"])
    client.reject_assignment(AssignmentId=assignment, RequesterFeedback="Empty.")
    market.wait(days=30, seconds=1)
    with pytest.raises(ClientError) as caught:
        client.approve_assignment(AssignmentId=assignment, OverrideRejection=True)
    assert refusal(caught.value)[1] == "InvalidAssignmentState"


def test_silence_approves(market: Market) -> None:
    """After the auto-approval delay the work is paid, as of that moment."""
    client, ann = market.requester(), market.worker()
    assignment = ann.do(post(client)["HITGroupId"])
    submitted_at = market.now()
    market.wait(seconds=3599.999)
    details = client.get_assignment(AssignmentId=assignment)["Assignment"]
    assert details["AssignmentStatus"] == "Submitted"
    market.wait(days=5)
    details = client.get_assignment(AssignmentId=assignment)["Assignment"]
    assert details["AssignmentStatus"] == "Approved"
    assert details["ApprovalTime"] == submitted_at + timedelta(seconds=3600)
    assert "RequesterFeedback" not in details


def test_a_delay_of_nothing_approves_at_once(standing: Market) -> None:
    """AutoApprovalDelayInSeconds=0 is zero, not the default."""
    client, ann = standing.requester(), standing.worker()
    assignment = ann.do(post(client, AutoApprovalDelayInSeconds=0)["HITGroupId"])
    details = client.get_assignment(AssignmentId=assignment)["Assignment"]
    assert details["AssignmentStatus"] == "Approved"


def test_feedback_with_control_characters_is_refused(standing: Market) -> None:
    """And nothing is judged by a refused call."""
    client, ann = standing.requester(), standing.worker()
    assignment = ann.do(post(client)["HITGroupId"])
    for feedback in ("bell \x07", "x" * 1025):
        with pytest.raises(ClientError) as caught:
            client.reject_assignment(AssignmentId=assignment, RequesterFeedback=feedback)
        assert refusal(caught.value)[0] == "InvalidParameterValue"
    details = client.get_assignment(AssignmentId=assignment)["Assignment"]
    assert details["AssignmentStatus"] == "Submitted"


def test_a_worker_does_a_hit_once(market: Market) -> None:
    """Neither with the HIT in hand, nor after submitting, nor after a rejection."""
    client, ann = market.requester(), market.worker()
    made = post(client, MaxAssignments=5)
    group, hit_id = made["HITGroupId"], made["HITId"]
    assignment = ann.accept(group).json()["assignment_id"]
    assert ann.accept(group).json()["error"] == "NoHitsAvailable"
    assert ann.accept(group, hit_id=hit_id).json()["error"] == "AlreadyDone"
    ann.submit(assignment)
    assert ann.accept(group, hit_id=hit_id).json()["error"] == "AlreadyDone"
    client.reject_assignment(AssignmentId=assignment, RequesterFeedback="Empty.")
    assert ann.accept(group, hit_id=hit_id).json()["error"] == "AlreadyDone"
    assert ann.groups() == []


def test_a_returned_hit_comes_back_only_by_name(market: Market) -> None:
    """The next accept gives another HIT; the returned one is had by its id."""
    client, ann = market.requester(), market.worker()
    first, second = post(client), post(client)
    group = first["HITGroupId"]
    took = ann.accept(group).json()
    assert took["hit_id"] == first["HITId"]  # the oldest
    ann.give_back(took["assignment_id"])
    assert [group["available"] for group in ann.groups()] == [1]
    assert ann.accept(group).json()["hit_id"] == second["HITId"]
    again = ann.accept(group, hit_id=first["HITId"])
    assert again.status_code == 201
    assert again.json()["assignment_id"] != took["assignment_id"]
    assert ann.submit(took["assignment_id"]).status_code == 409
    assert ann.submit(again.json()["assignment_id"]).status_code == 200


def test_each_reason_to_refuse_a_worker_s_act_has_a_name(standing: Market) -> None:
    """Programs decide by it; nothing was accepted or submitted."""
    client, ann, bob = standing.requester(), standing.worker(), standing.worker()
    made = post(client)
    careful = client.create_qualification_type(
        Name="Careful", Description="Works well.", QualificationTypeStatus="Active"
    )["QualificationType"]["QualificationTypeId"]
    closed = post(
        client,
        Title="For careful workers",
        QualificationRequirements=[
            {"QualificationTypeId": careful, "Comparator": "Exists", "ActionsGuarded": "Accept"}
        ],
    )
    hidden = post(
        client,
        Title="For careful workers alone",
        QualificationRequirements=[
            {
                "QualificationTypeId": careful,
                "Comparator": "Exists",
                "ActionsGuarded": "DiscoverPreviewAndAccept",
            }
        ],
    )
    bobs = bob.accept(made["HITGroupId"]).json()["assignment_id"]
    group = made["HITGroupId"]
    for reply, reason in (
        (ann.accept(closed["HITGroupId"]), "DoesNotMeetRequirements"),
        (ann.accept(hidden["HITGroupId"]), "GroupDoesNotExist"),
        (ann.accept(group, hit_id=closed["HITId"]), "HitDoesNotExist"),
        (ann.accept(group), "NoHitsAvailable"),
        (bob.accept(group, hit_id=made["HITId"]), "AlreadyDone"),
        (ann.submit(bobs), "NotYours"),
        (ann.http.post("/mturk/externalSubmit", data={"caption": "a"}), "BadForm"),
    ):
        assert (reply.is_client_error, reply.json()["error"]) == (True, reason)
    assert client.list_assignments_for_hit(HITId=made["HITId"])["Assignments"] == []
    bob.submit(bobs)
    again = bob.submit(bobs)
    assert (again.status_code, again.json()["error"]) == (409, "AssignmentNotOpen")


def test_a_form_of_a_preview_is_no_answer(backend: Backend) -> None:
    """It names no assignment, so the page says to accept the HIT first."""
    with (
        backend.transaction() as transaction,
        pytest.raises(Refusal, match="First accept the HIT") as refused,
    ):
        any_assignment(transaction, "ASSIGNMENT_ID_NOT_AVAILABLE")
    assert (refused.value.kind, refused.value.status) == ("PreviewOnly", 409)
