"""Files in answers, which the service retired."""

from typing import Any

from piecework.marketplace.exceptions import request_error
from piecework.marketplace.requester.judging import own_assignment
from piecework.marketplace.state.transaction import Transaction

Members = dict[str, Any]


def get_file_upload_url(
    transaction: Transaction, requester: int, members: Members
) -> dict[str, Any]:
    """GetFileUploadURL: always refused, since no question has a FileUploadAnswer."""
    row = own_assignment(transaction, requester, members["AssignmentId"])
    raise request_error(
        "InvalidParameterValue",
        f"The question {members['QuestionIdentifier'][:60]!a} of assignment "
        f"{row['assignment_id']} is not a FileUploadAnswer question.",
    )
