"""Acts of a reviewer: one key, one button, some decisions; undone as a whole.

An act is refused when somebody else has decided meanwhile what it would decide, so that
two people never overwrite each other. It can be undone by who made it as long as
nothing has followed from it: no pass has begun to pay, reject or exclude, and no HIT
was posted to replace an answer.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.errors import ConfigError
from piecework.domain.ids import AssignmentId, WorkerId
from piecework.domain.review import Review
from piecework.domain.verdicts import Decision, Subject, SubjectKind, Verdict
from piecework.results.answers_shown import Work
from piecework.review.model.consequences import Consequences, consequences
from piecework.review.model.deciding import (
    ALL_LOOKED_AT,
    by_subject,
    contradictions,
    decided,
    taken_along,
    waiting_among,
)
from piecework.store import assignments, decisions, hits, intents, reviews
from piecework.store.database import writing
from piecework.store.settlements import settlement_key

View = Literal["answer", "assignment", "worker", "item"]
VIEWS: tuple[View, ...] = ("answer", "assignment", "worker", "item")

ActName = Literal["keep", "drop", "approve", "reject", "exclude", "stay"]
ACTS: Mapping[ActName, tuple[SubjectKind, Verdict]] = {
    "keep": ("answer", "keep"),
    "drop": ("answer", "drop"),
    "approve": ("assignment", "approve"),
    "reject": ("assignment", "reject"),
    "exclude": ("worker", "exclude"),
    "stay": ("worker", "keep"),
}
"""What each act decides; `stay` is to keep a worker who was to be excluded."""

_OUT: tuple[Verdict, ...] = ("exclude", "block")


class DecidedMeanwhile(Exception):  # noqa: N818 - nothing is wrong; somebody was faster
    """Somebody else decided what an act would decide.

    Attributes:
        decisions: what was decided, those alike as one with their number.
    """

    def __init__(self, made: Sequence[tuple[Decision, int]]) -> None:
        super().__init__("decided meanwhile")
        self.decisions = made


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The answers that a card shows together, and that an act is about.

    Attributes:
        view: what they have in common.
        key: its id; of a worker the pseudonym.
        rows: their numbers in the table of answers; all those of the assignment, the
            worker or the item, waiting or not.
        subjects: ids by kind of the answers, and of whose and what they are part of.
    """

    view: View
    key: str
    rows: tuple[int, ...]
    subjects: Mapping[SubjectKind, Sequence[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What an act would decide.

    Attributes:
        chosen: what the reviewer says.
        along: what follows from that.
        follows: in money and work.
    """

    chosen: tuple[Decision, ...]
    along: tuple[Decision, ...]
    follows: Consequences


def group_of(work: Work, view: View, key: str) -> Group | None:
    """The group of this name; `None` if nothing is known by it."""
    if view == "item":
        rows = work.rows_of_item(key)
    elif view == "worker":
        worker_id = work.worker_of(key)
        rows = [] if worker_id is None else work.rows("worker", worker_id)
    else:
        rows = work.rows(view, key)
    if not rows:
        return None
    return Group(view=view, key=key, rows=tuple(rows), subjects=work.subjects(rows))


def waiting_in(
    group: Group, waiting: Mapping[Subject, Decision]
) -> dict[Subject, Decision]:
    """Of all proposals by subject those that an act about the group can touch."""
    if not waiting:
        return {}
    return {
        subject: waiting[subject] for subject in _subjects(group) if subject in waiting
    }


def may_decide(group: Group, kind: SubjectKind) -> bool:
    """Whether a group's act may decide this; an item's assignments have other items."""
    return group.view != "item" or kind == "answer"


def targets(
    opened: OpenedCampaign,
    work: Work,
    group: Group,
    act: ActName,
    *,
    waiting: Mapping[Subject, Decision],
) -> list[Decision]:
    """The proposals that an act decides; none if there is nothing to decide.

    Args:
        opened: the campaign.
        work: its answers.
        group: what the act is about.
        act: keep, drop, and so on.
        waiting: `waiting_in` the group.
    """
    wanted = ACTS[act][0]
    if not may_decide(group, wanted):
        return []
    proposals = [proposal for (kind, _), proposal in waiting.items() if kind == wanted]
    if act == "exclude" and not proposals:
        return _unasked_exclusion(opened, work.worker_id(group.rows[0]))
    return proposals


def plan(
    opened: OpenedCampaign,
    work: Work,
    group: Group,
    act: ActName,
    *,
    because: str,
    by: str,
    waiting: Mapping[Subject, Decision] | None = None,
) -> Plan:
    """What an act would decide; nothing is stored.

    Args:
        opened: the campaign.
        work: its answers.
        group: what the act is about.
        act: keep, drop, and so on.
        because: the reason.
        by: the reviewer.
        waiting: `waiting_in` the group; without it the store is asked.

    Raises:
        ConfigError: the reason cannot be used, or it contradicts what is decided.
        DecidedMeanwhile: nothing of it waits any more.
    """
    if waiting is None:
        waiting = waiting_among(opened, _subjects(group))
    proposals = targets(opened, work, group, act, waiting=waiting)
    if not proposals:
        raise DecidedMeanwhile(decided_in(opened, group))
    try:
        made = [
            decided(opened, proposal, ACTS[act][1], because, by=by)
            for proposal in proposals
        ]
    except ValueError as fault:
        raise ConfigError([str(fault)]) from fault
    chosen = by_subject(made)
    if faults := contradictions(opened, chosen):
        raise ConfigError(faults)
    along = taken_along(opened, chosen, waiting=waiting)
    return Plan(
        chosen=tuple(made),
        along=tuple(along),
        follows=consequences(opened, work, [*made, *along]),
    )


def carry_out(
    opened: OpenedCampaign,
    work: Work,
    group: Group,
    act: ActName,
    *,
    because: str,
    by: str,
    seen: str,
) -> int:
    """Store what an act decides; the act's number, for undoing it.

    Args:
        opened: the campaign.
        work: its answers.
        group: what the act is about.
        act: keep, drop, and so on.
        because: the reason; for a drop or a rejection, what the worker may read.
        by: the reviewer.
        seen: `state_of` the group when the reviewer looked at it.

    Raises:
        ConfigError: the reason cannot be used, or it contradicts what is decided.
        DecidedMeanwhile: somebody else was faster.
    """
    with writing(opened.store):
        is_about_one = group.view == "answer" and ACTS[act][0] == "answer"
        if not is_about_one and seen != state_of(opened, group):
            raise DecidedMeanwhile(decided_in(opened, group))
        planned = plan(opened, work, group, act, because=because, by=by)
        return reviews.add(opened.store, planned.chosen, along=planned.along)


def state_of(opened: OpenedCampaign, group: Group) -> str:
    """A fingerprint of all that is decided about a group and its whole assignments."""
    named = group.subjects
    workers = map(WorkerId, named["worker"] if may_decide(group, "worker") else ())
    whole = map(AssignmentId, named["assignment"])
    parts = decisions.marks(opened.store, whole, *workers)
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def decided_in(opened: OpenedCampaign, group: Group) -> list[tuple[Decision, int]]:
    """What is decided about the group itself, those alike as one with their number."""
    named = dict(group.subjects)
    if not may_decide(group, "worker"):
        del named["worker"]
    return decisions.alike(opened.store, named)


def undo(opened: OpenedCampaign, *, by: str) -> list[Review]:
    """Take the reviewer's last act back; what waits again.

    Raises:
        ConfigError: there is none, or something has followed from it.
    """
    with writing(opened.store):
        act = reviews.last_act(opened.store, by)
        if act is None:
            raise ConfigError(["there is nothing to undo"])
        undone = reviews.of_act(opened.store, act)
        if fault := _what_followed(opened, undone):
            raise ConfigError([fault])
        reviews.take_back(opened.store, act, at=opened.clock.now())
    return undone


def _subjects(group: Group) -> list[Subject]:
    """All that an act about a group can touch; an item's worker is nobody."""
    return [
        (kind, name)
        for kind, names in group.subjects.items()
        if kind != "worker" or may_decide(group, kind)
        for name in names
    ]


def _unasked_exclusion(opened: OpenedCampaign, worker_id: WorkerId) -> list[Decision]:
    """What excluding a worker is who is in and whom no rule speaks of."""
    latest = decisions.latest(opened.store, [("worker", worker_id)])
    if latest and latest[0].verdict in _OUT:
        return []
    return [
        Decision(
            subject_kind="worker",
            subject_id=worker_id,
            verdict="exclude",
            decided_by="",
            decided_at=opened.clock.now(),
            because="",
        )
    ]


def _what_followed(opened: OpenedCampaign, undone: Sequence[Review]) -> str:
    """Why an act cannot be undone any more, in a sentence; or nothing."""
    made = [review for review in undone if review.decision_id is not None]
    latest = by_subject(
        decisions.latest(opened.store, [review.subject for review in made])
    )
    for review in made:
        decision = latest.get(review.subject)
        if decision is None or decision.decided_at != review.reviewed_at:
            return "somebody has decided it anew since; undo that first"
        if review.subject_kind == "answer":
            if hits.posted_since(opened.store, review.reviewed_at):
                return "a pass has posted HITs since, which count on it"
            continue
        times = 1
        if review.subject_kind == "worker":
            worker_id = WorkerId(review.subject_id)
            times = decisions.times(opened.store, worker_id, review.verdict)
        if intents.is_declared(opened.store, settlement_key(decision, times=times)):
            return f"a pass has carried it out since ({review.verdict})"
    return _what_others_added(opened, made)


def _what_others_added(opened: OpenedCampaign, made: Sequence[Review]) -> str:
    """Who has approved an assignment since with its last answers, in a sentence."""
    own = {review.subject for review in made}
    answers = [review.subject_id for review in made if review.subject_kind == "answer"]
    whole: list[Subject] = [
        ("assignment", name)
        for name in assignments.assignments_of(opened.store, answers)
    ]
    for decision in decisions.latest(opened.store, set(whole) - own):
        if decision.verdict == "approve" and decision.because == ALL_LOOKED_AT:
            return (
                f"{decision.decided_by} has decided the rest of its assignment since, "
                "which is approved with it; that has to be undone first"
            )
    return ""
