"""Acts of a reviewer: one key or button makes some decisions, undone together.

An act is refused if another person has meanwhile decided what it would decide, so that
two people never overwrite each other. Its author can undo it until something follows
from it: a pass has begun to pay, reject or exclude, or has posted a HIT to replace an
answer.

A second person's verdict about a reviewed answer decides nothing. The page does not say
that it is a second opinion. It measures how far reviewers agree.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from piecework.campaign.opened import OpenedCampaign
from piecework.domain.errors import ConfigError
from piecework.domain.ids import AssignmentId, WorkerId
from piecework.domain.verdicts import Decision, Review, Subject, SubjectKind, Verdict
from piecework.results.answers_shown import Work
from piecework.review.model.deciding import (
    ALL_LOOKED_AT,
    GOOD,
    Consequences,
    by_subject,
    contradictions,
    decided,
    fault_of_reason,
    foresee_consequences,
    reasons_as_decided,
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
"""What each act decides; `stay` keeps a worker whose exclusion is proposed."""

_OUT: tuple[Verdict, ...] = ("exclude", "block")


class DecidedMeanwhile(Exception):  # noqa: N818 - not an error; another person was faster
    """Another person decided what an act would decide.

    Attributes:
        decisions: their decisions, equal ones once with their number.
    """

    def __init__(self, made: Sequence[tuple[Decision, int]]) -> None:
        super().__init__("decided meanwhile")
        self.decisions = made


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """The answers that a card shows together, and that an act decides.

    Attributes:
        work: all answers of the campaign.
        view: what the answers have in common.
        key: its id; for a worker, the pseudonym.
        rows: row numbers of all answers of the assignment, the worker or the item,
            waiting or not.
        subjects: the ids of the answers, their assignments and their workers, by kind.
    """

    work: Work = field(repr=False, compare=False)
    view: View
    key: str
    rows: tuple[int, ...]
    subjects: Mapping[SubjectKind, Sequence[str]]

    @property
    def opened(self) -> OpenedCampaign:
        """The campaign of the answers."""
        return self.work.opened


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What an act would decide.

    Attributes:
        chosen: the reviewer's decisions.
        along: the decisions that follow from them.
        follows: the results in money and work.
    """

    chosen: tuple[Decision, ...]
    along: tuple[Decision, ...]
    follows: Consequences


def group_of(work: Work, view: View, key: str) -> Group | None:
    """Return the group with this key, or `None` if no group has it.

    The key of an answer or an assignment may be its pseudonym in the dataset.
    """
    if view == "item":
        rows = work.rows_of_item(key)
    elif view == "worker":
        worker_id = work.worker_of(key)
        rows = [] if worker_id is None else work.rows("worker", worker_id)
    else:
        rows = work.rows(view, key)
        if not rows and (named := work.named_by(view, key)):
            key, rows = named, work.rows(view, named)
    if not rows:
        return None
    return Group(work=work, view=view, key=key, rows=tuple(rows), subjects=work.subjects(rows))


def waiting_in(group: Group, waiting: Mapping[Subject, Decision]) -> dict[Subject, Decision]:
    """Return the proposals that an act about the group can decide."""
    if not waiting:
        return {}
    return {subject: waiting[subject] for subject in _subjects(group) if subject in waiting}


def may_decide(group: Group, kind: SubjectKind) -> bool:
    """Return whether an act may decide this; an item's assignments have other items."""
    return group.view != "item" or kind == "answer"


def targets(group: Group, act: ActName, *, waiting: Mapping[Subject, Decision]) -> list[Decision]:
    """Return the proposals that an act decides; empty if there is nothing to decide.

    Args:
        group: the group that the act is about.
        act: keep, drop, and so on.
        waiting: `waiting_in` the group.
    """
    wanted = ACTS[act][0]
    if not may_decide(group, wanted):
        return []
    proposals = [proposal for (kind, _), proposal in waiting.items() if kind == wanted]
    if act == "exclude" and not proposals:
        return _unasked_exclusion(group.opened, group.work.worker_id(group.rows[0]))
    return proposals


def plan(
    group: Group,
    act: ActName,
    *,
    because: str,
    by: str,
    waiting: Mapping[Subject, Decision] | None = None,
    is_blind: bool = False,
) -> Plan:
    """Return what an act would decide, without storing it.

    A blind card lets everybody keep a worker, so that it does not tell whether an exclusion
    is proposed. If none is, that decides nothing.

    Args:
        group: the group that the act is about.
        act: keep, drop, and so on.
        because: the reason.
        by: the reviewer.
        waiting: `waiting_in` the group; read from the store if not given.
        is_blind: whether the reviewer does not see what is proposed, nor its reason.

    Raises:
        ConfigError: the reason cannot be used, or it contradicts what is decided.
        DecidedMeanwhile: nothing in the group waits any more.
    """
    opened = group.opened
    if waiting is None:
        waiting = waiting_among(opened, _subjects(group))
    proposals = targets(group, act, waiting=waiting)
    if not proposals and is_blind and act == "stay" and may_decide(group, "worker"):
        return Plan(chosen=(), along=(), follows=Consequences(staying=1))
    if not proposals:
        raise DecidedMeanwhile(decided_in(group))
    try:
        made = [
            decided(opened, proposal, ACTS[act][1], because, by=by, is_blind=is_blind)
            for proposal in proposals
        ]
    except ValueError as fault:
        raise ConfigError([str(fault)]) from fault
    chosen = reasons_as_decided(opened, by_subject(made))
    if faults := contradictions(opened, chosen):
        raise ConfigError(faults)
    along = taken_along(opened, chosen, waiting=waiting)
    return Plan(
        chosen=tuple(chosen.values()),
        along=tuple(along),
        follows=foresee_consequences(group.work, [*chosen.values(), *along]),
    )


def carry_out(
    group: Group, act: ActName, *, because: str, by: str, seen: str, is_blind: bool = False
) -> int:
    """Store what an act decides; return the act's number, for undoing it.

    Args:
        group: the group that the act is about.
        act: keep, drop, and so on.
        because: the reason, which the worker may read after a rejection.
        by: the reviewer.
        seen: `state_of` the group when the reviewer looked at it.
        is_blind: whether the reviewer does not see what is proposed, nor its reason.

    Raises:
        ConfigError: the reason cannot be used, or it contradicts what is decided.
        DecidedMeanwhile: another person was faster.
    """
    with writing(group.opened.store):
        is_about_one = group.view == "answer" and ACTS[act][0] == "answer"
        if not is_about_one and seen != state_of(group):
            raise DecidedMeanwhile(decided_in(group))
        waiting = waiting_among(group.opened, _subjects(group))
        planned = plan(group, act, because=because, by=by, waiting=waiting, is_blind=is_blind)
        if not planned.chosen:
            # Undoing takes back this act, and not the one before it.
            return reviews.add_second_opinions(group.opened.store, [_kept_unasked(group, by=by)])
        return reviews.add_reviews(group.opened.store, planned.chosen, along=planned.along)


def state_of(group: Group) -> str:
    """Return a fingerprint of all decisions about a group and its assignments."""
    named = group.subjects
    workers = map(WorkerId, named["worker"] if may_decide(group, "worker") else ())
    whole = map(AssignmentId, named["assignment"])
    parts = decisions.marks(group.opened.store, whole, *workers)
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


def decided_in(group: Group) -> list[tuple[Decision, int]]:
    """Return the decisions about the group, equal ones once with their number."""
    named = dict(group.subjects)
    if not may_decide(group, "worker"):
        del named["worker"]
    return decisions.alike(group.opened.store, named)


def undo(opened: OpenedCampaign, *, by: str) -> list[Review]:
    """Undo the reviewer's last act; return what waits again.

    Raises:
        ConfigError: there is no act, or something has followed from it.
    """
    with writing(opened.store):
        act = reviews.last_act(opened.store, by)
        if act is None:
            raise ConfigError(["there is nothing to undo"])
        return _undone(opened, act, by=by)


def undo_for(group: Group, *, act: int, by: str) -> None:
    """Undo the newest act about a group, of any reviewer.

    Args:
        group: the group.
        act: the act that the person saw.
        by: the person who undoes it.

    Raises:
        ConfigError: the act is no longer the newest, or something has followed from it.
    """
    with writing(group.opened.store):
        if act != reviews.last_act_about(group.opened.store, _subjects(group)):
            raise ConfigError(["another decision was made or undone meanwhile"])
        _undone(group.opened, act, by=by)


def last_act_about(group: Group) -> tuple[int, str] | None:
    """Return the number and the author of the newest act about a group, if any."""
    act = reviews.last_act_about(group.opened.store, _subjects(group))
    if act is None:
        return None
    return act, reviews.reviews_of_act(group.opened.store, act)[0].reviewer


def _undone(opened: OpenedCampaign, act: int, *, by: str) -> list[Review]:
    """Undo an act in the caller's transaction; return what waits again."""
    undone = reviews.reviews_of_act(opened.store, act)
    if fault := _what_followed(opened, undone):
        raise ConfigError([fault])
    reviews.take_back(opened.store, act, at=opened.clock.now(), by=by)
    return undone


def _subjects(group: Group) -> list[Subject]:
    """Return the subjects that an act can decide; an item has no worker."""
    return [
        (kind, name)
        for kind, names in group.subjects.items()
        if kind != "worker" or may_decide(group, kind)
        for name in names
    ]


def _unasked_exclusion(opened: OpenedCampaign, worker_id: WorkerId) -> list[Decision]:
    """Return the exclusion of a worker without a proposal, unless they are excluded."""
    latest = decisions.latest_decisions(opened.store, [("worker", worker_id)])
    if latest and latest[0].verdict in _OUT:
        return []
    return [_about_worker(opened, worker_id, "exclude", because="", by="")]


def _kept_unasked(group: Group, *, by: str) -> Decision:
    worker_id = group.work.worker_id(group.rows[0])
    return _about_worker(group.opened, worker_id, "keep", because=GOOD, by=by)


def _about_worker(
    opened: OpenedCampaign, worker_id: WorkerId, verdict: Verdict, *, because: str, by: str
) -> Decision:
    return Decision(
        subject_kind="worker",
        subject_id=worker_id,
        verdict=verdict,
        decided_by=by,
        decided_at=opened.clock.now(),
        because=because,
    )


def _what_followed(opened: OpenedCampaign, undone: Sequence[Review]) -> str:
    """Return why an act can no longer be undone; "" if it can."""
    made = [review for review in undone if review.decision_id is not None]
    latest = by_subject(
        decisions.latest_decisions(opened.store, [review.subject for review in made])
    )
    workers = [WorkerId(review.subject_id) for review in made if review.subject_kind == "worker"]
    times = decisions.times(opened.store, workers)
    for review in made:
        decision = latest.get(review.subject)
        if decision is None or decision.decided_at != review.reviewed_at:
            return "another decision about it was made since; undo that one first"
        if review.subject_kind == "answer":
            if hits.posted_since(opened.store, review.reviewed_at):
                return "a pass has posted HITs since, based on this decision"
            continue
        number = times.get((review.subject_id, review.verdict), 1)
        if intents.declared(opened.store, [settlement_key(decision, times=number)]):
            return f"a pass has carried it out since ({review.verdict})"
    return _what_others_added(opened, made)


def _what_others_added(opened: OpenedCampaign, made: Sequence[Review]) -> str:
    """Return who has approved the assignment since with its last answers; or ""."""
    own = {review.subject for review in made}
    answers = [review.subject_id for review in made if review.subject_kind == "answer"]
    whole: list[Subject] = [
        ("assignment", name) for name in assignments.assignments_of(opened.store, answers)
    ]
    for decision in decisions.latest_decisions(opened.store, set(whole) - own):
        if decision.verdict == "approve" and decision.because == ALL_LOOKED_AT:
            return (
                f"{decision.decided_by} has decided the rest of its assignment since, "
                "which approved the assignment; undo that first"
            )
    return ""


def give_second_opinion(
    opened: OpenedCampaign, answer_id: str, verdict: Verdict, *, because: str, by: str
) -> int:
    """Store a second verdict about an answer; return the act's number.

    Raises:
        ConfigError: the verdict is not one about an answer, or lacks its reason.
    """
    if verdict not in {"keep", "drop"}:
        raise ConfigError(["keep or drop this answer; no other decision is asked for"])
    if fault := fault_of_reason(opened.capabilities, verdict, because):
        raise ConfigError([fault])
    with writing(opened.store):
        return reviews.add_second_opinions(
            opened.store,
            [
                Decision(
                    subject_kind="answer",
                    subject_id=answer_id,
                    verdict=verdict,
                    decided_by=by,
                    decided_at=opened.clock.now(),
                    because=because,
                )
            ],
        )
