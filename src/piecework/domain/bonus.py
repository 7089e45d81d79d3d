"""Money on top of a reward, for one assignment of one worker."""

from dataclasses import dataclass

from piecework.domain.ids import AssignmentId, WorkerId


@dataclass(frozen=True, slots=True, kw_only=True)
class Bonus:
    """One payment; the worker reads the reason. Fees come on top."""

    assignment_id: AssignmentId
    worker_id: WorkerId
    cents: int
    reason: str
