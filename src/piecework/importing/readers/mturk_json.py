"""Read the JSON of `list-assignments-for-hit` from MTurk's API.

It comes from the AWS CLI or boto3, as pages of the listing, a list of assignments or
one per line. Output about HITs (`get-hit`, `list-hits`) may be in between and adds the
reward.
"""

from collections.abc import Iterator
from pathlib import Path

from piecework.domain.assignment import fields_of
from piecework.domain.money import cents_from_wire
from piecework.importing.readers.crowd_form import CROWD, flattened
from piecework.importing.readers.head import Head
from piecework.importing.readers.moments import moment
from piecework.importing.readers.rows import ImportedRow, Read, Unreadable
from piecework.importing.readers.tables import Document, objects_of, text_in

NAME = "MTurk API (JSON)"


def fits(head: Head) -> bool:
    """Recognise the members of the first object."""
    first = head.first_object
    if not isinstance(first, dict):
        return False
    return (
        {"AssignmentId", "WorkerId"} <= first.keys()
        or "Assignments" in first
        or ("HIT" in first and isinstance(first["HIT"], dict))
        or "HITs" in first
    )


def read(path: Path, head: Head) -> Iterator[Read]:
    """Yield a row per assignment."""
    rewards: dict[str, int] = {}
    for number, document in objects_of(path, head):
        if isinstance(document, str):
            yield Unreadable(line=number, fault=document)
            continue
        for hit in (document.get("HIT"), *_listed(document, "HITs")):
            if isinstance(hit, dict):
                rewards |= _reward(hit)
        many = _listed(document, "Assignments")
        for assignment in many or ([document] if "AssignmentId" in document else []):
            yield assignment_row(number, assignment, rewards)


def assignment_row(number: int, assignment: object, rewards: dict[str, int]) -> Read:
    """Return the row of an assignment from the API.

    Args:
        number: its line or position.
        assignment: its JSON object.
        rewards: the rewards of HITs, in cents.
    """
    if not isinstance(assignment, dict) or not text_in(assignment, "AssignmentId"):
        fault = "not an assignment: it has no AssignmentId"
        return Unreadable(line=number, column="AssignmentId", fault=fault)
    document, worker_id = text_in(assignment, "Answer"), text_in(assignment, "WorkerId")
    sent = dict(fields_of(document)) if document else {}
    if document and not sent and "<Answer>" in document:
        fault = "the answer document (QuestionFormAnswers) cannot be read"
        cells = (document[:1000],)
        return Unreadable(
            line=number, column="Answer", fault=fault, cells=cells, worker_id=worker_id
        )
    column = "Answer"
    try:
        if CROWD in sent:
            sent |= flattened(sent.pop(CROWD))
        column = "AcceptTime"
        accepted = moment(text_in(assignment, "AcceptTime"))
        column = "SubmitTime"
        submitted = moment(text_in(assignment, "SubmitTime"))
    except ValueError as fault:
        return Unreadable(line=number, column=column, fault=str(fault), worker_id=worker_id)
    hit_id = text_in(assignment, "HITId")
    return ImportedRow(
        line=number,
        hit_id=hit_id,
        assignment_id=text_in(assignment, "AssignmentId"),
        worker_id=worker_id,
        accepted_at=accepted,
        submitted_at=submitted,
        outcome=text_in(assignment, "AssignmentStatus"),
        feedback=text_in(assignment, "RequesterFeedback"),
        reward_cents=rewards.get(hit_id),
        sent=sent,
    )


def _listed(document: Document, name: str) -> list[object]:
    value = document.get(name)
    return value if isinstance(value, list) else []


def _reward(hit: Document) -> dict[str, int]:
    try:
        return {text_in(hit, "HITId"): cents_from_wire(text_in(hit, "Reward"))}
    except ValueError:
        return {}
