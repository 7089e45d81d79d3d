"""Separate types for ids, so that they cannot be mixed up."""

from typing import NewType

ItemId = NewType("ItemId", str)
"""The requester's own id of one thing to work on (for captions: an image)."""

HitKey = NewType("HitKey", str)
"""piecework's stable name for a HIT, known before it is posted: `birds.b2.r0.0007`."""

HitId = NewType("HitId", str)
HitTypeId = NewType("HitTypeId", str)
AssignmentId = NewType("AssignmentId", str)
WorkerId = NewType("WorkerId", str)
QualificationTypeId = NewType("QualificationTypeId", str)

AnswerId = NewType("AnswerId", str)
"""One worker's answer to one item: `<assignment id>.<position in the HIT>`."""


def answer_id(assignment_id: AssignmentId, position: int) -> AnswerId:
    """Return the id of the answer at `position` (from 1) of an assignment."""
    return AnswerId(f"{assignment_id}.{position}")
