"""Ids as types of their own, so that a worker never passes for an assignment."""

from typing import NewType

ItemId = NewType("ItemId", str)
"""The requester's own id of one thing to be worked on (for captions: an image)."""

HitKey = NewType("HitKey", str)
"""Our stable name of a HIT, known before it is posted: `birds.b2.r0.0007`."""

HitId = NewType("HitId", str)
HitTypeId = NewType("HitTypeId", str)
AssignmentId = NewType("AssignmentId", str)
WorkerId = NewType("WorkerId", str)
QualificationTypeId = NewType("QualificationTypeId", str)

AnswerId = NewType("AnswerId", str)
"""One worker's answer about one item: `<assignment id>.<position in the HIT>`."""


def answer_id(assignment_id: AssignmentId, position: int) -> AnswerId:
    """The id of the answer at `position` (from 1) of an assignment."""
    return AnswerId(f"{assignment_id}.{position}")
