"""The AWS CLI's commands about assignments, money and workers."""

import pytest

from tests.clients.scene import Scene

pytestmark = pytest.mark.full


def test_get_account_balance_starts_a_rehearsal_with_ten_thousand(scene: Scene) -> None:
    """A new requester has $10,000.00 and nothing on hold."""
    balance = scene.aws("get-account-balance").document
    assert balance == {"AvailableBalance": "10000.00", "OnHoldBalance": "0.00"}


def test_list_assignments_for_hit_shows_the_answer(scene: Scene) -> None:
    """What the worker typed is in it; a filter for approved ones finds nothing yet."""
    hit, worker, assignment_id = scene.done_hit()
    command = "list-assignments-for-hit --hit-id {hit}"
    assignments = scene.aws(command, hit=hit["HITId"]).document["Assignments"]
    assert [(assignment["AssignmentId"], assignment["WorkerId"]) for assignment in assignments] == [
        (assignment_id, worker.worker_id)
    ]
    assert "<FreeText>A red bird.</FreeText>" in assignments[0]["Answer"]
    approved = f"{command} --assignment-statuses Approved"
    assert scene.aws(approved, hit=hit["HITId"]).document["Assignments"] == []


def test_get_assignment_shows_it_with_its_hit(scene: Scene) -> None:
    """Both the assignment and the HIT that it belongs to."""
    hit, _worker, assignment_id = scene.done_hit()
    command = "get-assignment --assignment-id {id}"
    document = scene.aws(command, id=assignment_id).document
    assert document["Assignment"]["AssignmentStatus"] == "Submitted"
    assert document["HIT"]["HITId"] == hit["HITId"]


def test_get_assignment_is_refused_while_the_worker_works(scene: Scene) -> None:
    """An accepted assignment is not shown; the words are those that clients know."""
    hit = scene.hit()
    accepted = scene.market.worker().accept(hit["HITGroupId"]).json()
    command = "get-assignment --assignment-id {id}"
    refused = scene.aws(command, id=accepted["assignment_id"])
    assert refused.is_refused("with a status of: Reviewable,Approved,Rejected")


def test_approve_assignment_pays_once(scene: Scene) -> None:
    """0.55 and 0.11 have left the account; a second approval names the state."""
    _hit, _worker, assignment_id = scene.done_hit()
    command = "approve-assignment --assignment-id {id} --requester-feedback 'Well done'"
    assert scene.aws(command, id=assignment_id).document == {}
    assignment = scene.boto.get_assignment(AssignmentId=assignment_id)["Assignment"]
    assert assignment["AssignmentStatus"] == "Approved"
    assert assignment["RequesterFeedback"] == "Well done"
    assert scene.boto.get_account_balance()["AvailableBalance"] == "9999.34"
    again = scene.aws(command, id=assignment_id)
    assert again.is_refused("RequestError", "with a status of: Submitted", "Approved")


def test_reject_assignment_is_overridden_by_approval(scene: Scene) -> None:
    """Rejected work costs nothing; --override-rejection pays it after all."""
    _hit, _worker, assignment_id = scene.done_hit()
    rejected = scene.aws(
        "reject-assignment --assignment-id {id} --requester-feedback 'No caption'", id=assignment_id
    )
    assert rejected.document == {}
    assert scene.boto.get_account_balance()["AvailableBalance"] == "10000.00"
    paid = scene.aws(
        "approve-assignment --assignment-id {id} --override-rejection", id=assignment_id
    )
    assert paid.document == {}
    assert scene.boto.get_account_balance()["AvailableBalance"] == "9999.34"


def test_send_bonus_is_paid_once_for_a_token(scene: Scene) -> None:
    """1.00 and its fee of 0.20 once; the repeat quotes the token."""
    _hit, worker, assignment_id = scene.done_hit()
    values = {"worker": worker.worker_id, "id": assignment_id}
    command = (
        "send-bonus --worker-id {worker} --bonus-amount 1.00 --assignment-id {id} "
        "--reason 'Fine words' --unique-request-token bonus-1"
    )
    assert scene.aws(command, **values).document == {}
    again = scene.aws(command, **values)
    assert again.is_refused("idempotency token", '"bonus-1"', "already been processed")
    # 10,000.00 less 0.66 that is held for the assignment, less 1.20.
    assert scene.boto.get_account_balance()["AvailableBalance"] == "9998.14"


def test_list_bonus_payments_tells_what_was_paid(scene: Scene) -> None:
    """By HIT; without HIT and assignment it is refused."""
    hit, worker, assignment_id = scene.done_hit()
    scene.boto.send_bonus(
        WorkerId=worker.worker_id,
        AssignmentId=assignment_id,
        BonusAmount="0.25",
        Reason="Fine words",
    )
    listed = scene.aws("list-bonus-payments --hit-id {hit}", hit=hit["HITId"])
    [payment] = listed.document["BonusPayments"]
    assert (payment["BonusAmount"], payment["Reason"]) == ("0.25", "Fine words")
    assert payment["WorkerId"] == worker.worker_id
    assert scene.aws("list-bonus-payments").is_refused("ListBonusPayments")


def test_get_file_upload_url_is_given_or_refused_loudly(scene: Scene) -> None:
    """The service itself has retired it: an answer must not be silent."""
    _hit, _worker, assignment_id = scene.done_hit()
    reply = scene.aws(
        "get-file-upload-url --assignment-id {id} --question-identifier picture",
        id=assignment_id,
    )
    assert reply.is_refused("GetFileUploadURL") or reply.document["FileUploadURL"]


def test_create_worker_block_bars_the_worker(scene: Scene) -> None:
    """Whom a requester blocked cannot take his HITs."""
    hit, worker = scene.hit(), scene.market.worker()
    command = "create-worker-block --worker-id {worker} --reason 'Sent spam'"
    assert scene.aws(command, worker=worker.worker_id).document == {}
    assert worker.accept(hit["HITGroupId"]).status_code == 409


def test_delete_worker_block_lets_the_worker_in(scene: Scene) -> None:
    """A repeat is no error: the service documents it so."""
    hit, worker = scene.hit(), scene.market.worker()
    scene.boto.create_worker_block(WorkerId=worker.worker_id, Reason="Sent spam")
    command = "delete-worker-block --worker-id {worker} --reason 'Was no spam'"
    assert scene.aws(command, worker=worker.worker_id).document == {}
    assert scene.aws(command, worker=worker.worker_id).document == {}
    assert worker.accept(hit["HITGroupId"]).status_code == 201


def test_list_worker_blocks_tells_whom_and_why(scene: Scene) -> None:
    """The reason is the requester's own note."""
    worker = scene.market.worker()
    scene.boto.create_worker_block(WorkerId=worker.worker_id, Reason="Sent spam")
    assert scene.aws("list-worker-blocks").document["WorkerBlocks"] == [
        {"WorkerId": worker.worker_id, "Reason": "Sent spam"}
    ]


def test_notify_workers_tells_who_was_not_reached(scene: Scene) -> None:
    """Somebody whose work was judged is reached; while absent, it fails by name."""
    _hit, worker, assignment_id = scene.done_hit()
    scene.boto.approve_assignment(AssignmentId=assignment_id)
    reply = scene.aws(
        "notify-workers --subject 'More birds' --message-text 'There are more.' "
        "--worker-ids {worker}",
        worker=worker.worker_id,
    )
    assert reply.document.get("NotifyWorkersFailureStatuses", []) == []
