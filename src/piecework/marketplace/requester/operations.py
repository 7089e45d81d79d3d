"""Maps operations to functions; everything else about them is elsewhere.

An operation of the service model that is missing in this table is refused by name.
"""

from collections.abc import Callable
from typing import Any

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.requester import (
    blocks,
    bonuses,
    extensions,
    finding,
    granting,
    hit_types,
    judging,
    notifying,
    posting,
    qualification_types,
    reviews,
    uploads,
)
from piecework.marketplace.requester.model import input_shape, operation_names
from piecework.marketplace.requester.validation import validate
from piecework.marketplace.state.transaction import Transaction

Operation = Callable[[Transaction, int, dict[str, Any]], dict[str, Any]]

OPERATIONS: dict[str, Operation] = {
    "AcceptQualificationRequest": granting.accept_qualification_request,
    "ApproveAssignment": judging.approve_assignment,
    "AssociateQualificationWithWorker": granting.associate_qualification,
    "CreateAdditionalAssignmentsForHIT": posting.create_additional_assignments,
    "CreateHIT": posting.create_hit,
    "CreateHITType": hit_types.create_hit_type,
    "CreateHITWithHITType": posting.create_hit_with_hit_type,
    "CreateQualificationType": qualification_types.create_qualification_type,
    "CreateWorkerBlock": blocks.create_worker_block,
    "DeleteHIT": finding.delete_hit,
    "DeleteQualificationType": qualification_types.delete_qualification_type,
    "DeleteWorkerBlock": blocks.delete_worker_block,
    "DisassociateQualificationFromWorker": granting.disassociate_qualification,
    "GetAccountBalance": bonuses.get_account_balance,
    "GetAssignment": judging.get_assignment,
    "GetFileUploadURL": uploads.get_file_upload_url,
    "GetHIT": finding.get_hit,
    "GetQualificationScore": granting.get_qualification_score,
    "GetQualificationType": qualification_types.get_qualification_type,
    "ListAssignmentsForHIT": judging.list_assignments_for_hit,
    "ListBonusPayments": bonuses.list_bonus_payments,
    "ListHITs": finding.list_hits,
    "ListHITsForQualificationType": finding.list_hits_for_qualification_type,
    "ListQualificationRequests": granting.list_qualification_requests,
    "ListQualificationTypes": qualification_types.list_qualification_types,
    "ListReviewPolicyResultsForHIT": reviews.list_review_policy_results,
    "ListReviewableHITs": finding.list_reviewable_hits,
    "ListWorkerBlocks": blocks.list_worker_blocks,
    "ListWorkersWithQualificationType": granting.list_workers_with_qualification_type,
    "NotifyWorkers": notifying.notify_workers,
    "RejectAssignment": judging.reject_assignment,
    "RejectQualificationRequest": granting.reject_qualification_request,
    "SendBonus": bonuses.send_bonus,
    "SendTestEventNotification": notifying.send_test_event_notification,
    "UpdateExpirationForHIT": posting.update_expiration,
    "UpdateHITReviewStatus": finding.update_hit_review_status,
    "UpdateHITTypeOfHIT": posting.update_hit_type_of_hit,
    "UpdateNotificationSettings": notifying.update_notification_settings,
    "UpdateQualificationType": qualification_types.update_qualification_type,
}


def check_operation(operation: str) -> None:
    """Refuse an operation that this marketplace does not offer.

    Raises:
        Refusal: the operation is not in the API, or not offered here.
    """
    if operation not in operation_names():
        raise Refusal(
            "UnknownOperationException", f"The requester API has no operation {operation[:80]!a}."
        )
    if operation not in OPERATIONS:
        raise Refusal(
            "NotImplementedException",
            f"This marketplace does not offer {operation}; "
            "docs/reference/marketplace.md lists the operations that it offers.",
        )


def perform(
    transaction: Transaction, requester: int, operation: str, document: object
) -> dict[str, Any]:
    """Validate a request and perform it.

    Raises:
        Refusal: the request was refused; the transaction must then be rolled back.
    """
    document, asked = extensions.split(operation, document)
    call = extensions.Call(
        perform=OPERATIONS[operation],
        transaction=transaction,
        requester=requester,
        members=validate(
            input_shape(operation), document, spared=extensions.spared(operation, asked)
        ),
    )
    return extensions.carry_out(operation, call, asked)
