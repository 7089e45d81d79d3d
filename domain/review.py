"""What one person said of a subject, whether or not it became the decision."""

from dataclasses import dataclass
from datetime import datetime

from domain.verdicts import SubjectKind, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A verdict of a reviewer, part of one act.

    Attributes:
        act: what was done with one key or one button; it is undone as a whole.
        is_along: the verdict follows from another of the same act.
        is_second: a second person's, asked for to compare the two; it decides nothing.
        decision_id: the decision that it made; `None` of a second one.
        proposed: the verdict that the policy proposed; `None` if it proposed none.
        proposed_because: and its reason.
    """

    act: int
    subject_kind: SubjectKind
    subject_id: str
    verdict: Verdict
    because: str
    reviewer: str
    reviewed_at: datetime
    is_along: bool = False
    is_second: bool = False
    decision_id: int | None = None
    proposed: Verdict | None = None
    proposed_because: str | None = None

    @property
    def subject(self) -> tuple[SubjectKind, str]:
        """What it is about."""
        return self.subject_kind, self.subject_id
