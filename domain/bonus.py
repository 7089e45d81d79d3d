"""Money on top of a reward, for one worker's one assignment."""

from dataclasses import dataclass
from datetime import timedelta

from domain.ids import AssignmentId, WorkerId

BONUS_WINDOW = timedelta(days=183)
"""MTurk pays bonuses up to six months after a submission (developer guide)."""

OVERRIDE_WINDOW = timedelta(days=30)
"""MTurk takes rejections back up to 30 days after a submission (API reference)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bonus:
    """One payment; the worker reads the reason. Fees come on top."""

    assignment_id: AssignmentId
    worker_id: WorkerId
    cents: int
    reason: str
