"""Money on top of a reward, for one assignment of one worker, or for none."""

from dataclasses import dataclass

from piecework.domain.ids import AssignmentId, WorkerId


@dataclass(frozen=True, slots=True, kw_only=True)
class Bonus:
    """One payment; the worker reads the reason. Fees come on top."""

    assignment_id: AssignmentId
    worker_id: WorkerId
    cents: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Compensation:
    """One payment for no assignment, to a person whom our own faults hurt.

    Attributes:
        name: what the platform knows it by; each name is paid once.
    """

    name: str
    worker_id: WorkerId
    cents: int
    reason: str
