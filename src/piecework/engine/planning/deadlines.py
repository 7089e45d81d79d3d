"""When answers are judged: with their whole batch, or before the platform does it.

A batch is judged as one, for evidence is in the company that an answer keeps (the same
sentence under many pictures). But MTurk approves by itself what was not judged in time,
and then it is too late to reject; so while HITs of the batch are still open, whatever
has waited for three quarters of that time is judged by what is known so far.
"""

from datetime import datetime, timedelta

from piecework.domain.campaign import Posting

SHARE_OF_DELAY = 0.75
"""Of the auto-approval delay; the rest is for passes that come late, and for people."""


def decision_deadline(posting: Posting, submitted_at: datetime) -> datetime:
    """When an assignment is judged at the latest, by what is known then."""
    return submitted_at + _patience(posting)


def due_since(posting: Posting, now: datetime) -> datetime:
    """What was submitted at this moment or before is due for a decision now."""
    return now - _patience(posting)


def _patience(posting: Posting) -> timedelta:
    return timedelta(seconds=SHARE_OF_DELAY * posting.auto_approval_delay_seconds)
