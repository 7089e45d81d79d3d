"""What a platform can do, and its limits.

They are facts about a platform, not settings. Campaign files are checked against
`MTURK`, because piecework posts everything through MTurk's requester API. Code that
runs on a platform uses that platform's own (`platforms.ports.Platform.capabilities`).
"""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What one platform allows.

    Attributes:
        shortest_reason: and `longest_reason`: limits in characters of the reason that a
            worker reads for a rejection, for taking it back, or for a bonus.
        question_bytes: the longest question, in bytes of UTF-8.
        unreject_window: how long after a submission a rejection can be taken back;
            `None`: never.
        bonus_window: how long after a submission a bonus can be paid.
        keeps_bonus_reason: whether the list of bonuses includes their reasons. Without
            them, equal amounts for one assignment cannot be told apart.
    """

    shortest_reason: int
    longest_reason: int
    question_bytes: int
    unreject_window: timedelta | None
    bonus_window: timedelta
    keeps_bonus_reason: bool

    def allows_reason(self, reason: str) -> bool:
        """Whether a reason is one line with a length that the platform accepts."""
        return self.shortest_reason <= len(reason) <= self.longest_reason and reason.isprintable()


MTURK = Capabilities(
    shortest_reason=1,
    longest_reason=1024,  # RequesterFeedback, API reference of 2017-01-17
    question_bytes=65_535,  # Question, the same
    unreject_window=timedelta(days=30),  # ApproveAssignment, the same
    bonus_window=timedelta(days=183),  # six months, developer guide
    keeps_bonus_reason=True,  # ListBonusPayments, API reference
)
"""MTurk's requester API, and every marketplace that speaks it."""
