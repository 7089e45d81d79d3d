"""When answers are judged: with their whole batch, or before the auto-approval.

A batch is judged as a whole, because the evidence is in other answers (the same
sentence under many pictures). But MTurk approves automatically what is not judged in
time, and then it is too late to reject. So while HITs of the batch are still open, an
assignment that has waited for three quarters of that time is judged by what is known.
"""

from datetime import datetime, timedelta

from piecework.domain.campaign import Posting

SHARE_OF_DELAY = 0.75
"""Share of the auto-approval delay; the rest is for late passes and for people."""


def decision_deadline(posting: Posting, submitted_at: datetime) -> datetime:
    """Return the latest time to judge an assignment, by what is known then."""
    return submitted_at + _patience(posting)


def due_since(posting: Posting, now: datetime) -> datetime:
    """Return the time up to which submitted assignments are due for a decision."""
    return now - _patience(posting)


def _patience(posting: Posting) -> timedelta:
    return timedelta(seconds=SHARE_OF_DELAY * posting.auto_approval_delay_seconds)
