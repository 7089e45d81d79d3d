"""When answers are judged: with their whole batch, or before the platform does it.

A batch is judged as one, for evidence is in the company that an answer keeps (the same
sentence under many pictures). But MTurk approves by itself what nobody judged in time,
and then it is too late to reject; so while HITs of the batch are still open, whatever
has waited for three quarters of that time is judged by what is known so far.
"""

from datetime import datetime, timedelta

from domain.assignment import Assignment
from domain.ids import AssignmentId
from flows.steps.state import State
from flows.workplace import Workplace

SHARE_OF_DELAY = 0.75
"""Of the auto-approval delay; the rest is for passes that come late, and for people."""


def ripe(place: Workplace, state: State) -> frozenset[AssignmentId]:
    """Assignments of the batch at work that are to be judged now and are not yet."""
    now, is_whole = place.clock.now(), state.is_collected(state.batch)
    return frozenset(
        one.assignment_id
        for one in _undecided(state)
        if is_whole or _ripens_at(place, one) <= now
    )


def next_ripening(place: Workplace, state: State) -> datetime | None:
    """When the next assignment of an open batch is to be judged, if nothing happens."""
    if state.is_collected(state.batch):
        return None
    now = place.clock.now()
    moments = (_ripens_at(place, one) for one in _undecided(state))
    return min((moment for moment in moments if moment > now), default=None)


def _undecided(state: State) -> list[Assignment]:
    lacking = {
        answer.assignment_id
        for answer in state.answers.values()
        if ("answer", answer.answer_id) not in state.decisions
    }
    return [
        one
        for one in state.assignments.values()
        if ("assignment", one.assignment_id) not in state.decisions
        or one.assignment_id in lacking
    ]


def _ripens_at(place: Workplace, assignment: Assignment) -> datetime:
    delay = place.campaign.posting.auto_approval_delay_seconds
    return assignment.submitted_at + timedelta(seconds=SHARE_OF_DELAY * delay)
