"""Find where a store and its marketplace disagree, without changing either.

HITs and assignments are compared by id, payments by what was paid. A difference counts
as lost by one side only if that side can be the older copy: with another requester's
keys every HIT of ours is unknown to the marketplace, and still live.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain

from piecework.campaign.opened import CampaignRun
from piecework.domain.assignment import Assignment
from piecework.domain.errors import PlatformRefused
from piecework.domain.hit import HitStatus, PlannedHit, PostedHit
from piecework.domain.ids import AssignmentId, HitId, QualificationTypeId, WorkerId
from piecework.domain.money import Bonus, Compensation
from piecework.domain.verdicts import Decision, Verdict
from piecework.engine.payments import compensations
from piecework.engine.payments.pay import recorded_bonuses
from piecework.engine.recover.adopting import (
    bonuses_there,
    unknown_bonuses,
    unknown_hits,
)
from piecework.store import assignments, campaign_facts, decisions, hits, intents
from piecework.store.settlements import DONE, FORGET, FORGOTTEN, PAID_ALREADY, forget_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The differences; "here" is the store, "there" is the marketplace.

    Attributes:
        unknown_hits: HITs there that this store posted and does not know.
        added_slots: slots there that HITs do not have here.
        lost_hits: HITs here that are unknown there.
        lost_assignments: assignments here that are unknown there.
        returned_hits: HITs that were given up here as lost and exist there again.
        returned_assignments: assignments, likewise.
        reopened: HITs that are collected here and get more answers there.
        undone: decisions that were carried out here and are open there.
        unknown_bonuses: bonuses that were paid there and are not in the ledger here.
        lost_bonuses: bonuses in the ledger here that were not paid there, by key.
        bonuses_there: all bonuses that were paid there.
        unknown_compensations: compensations that were paid there and are not in the
            ledger here.
        lost_compensations: compensations in the ledger here that were not paid there,
            by key.
        unknown_exclusions: workers who are kept out there and not here.
        lost_exclusions: decisions to keep workers out, or to let them in again, that are
            not in force there.
        is_exclusion_lost: whether the qualification type that keeps workers out is
            unknown there.
    """

    unknown_hits: tuple[PostedHit, ...]
    added_slots: int
    lost_hits: tuple[PlannedHit, ...]
    lost_assignments: tuple[Assignment, ...]
    returned_hits: tuple[PlannedHit, ...]
    returned_assignments: tuple[Assignment, ...]
    reopened: tuple[PlannedHit, ...]
    undone: tuple[Decision, ...]
    unknown_bonuses: tuple[Bonus, ...]
    lost_bonuses: Mapping[str, Bonus]
    bonuses_there: tuple[Bonus, ...]
    unknown_compensations: tuple[Compensation, ...]
    lost_compensations: Mapping[str, Compensation]
    unknown_exclusions: tuple[WorkerId, ...]
    lost_exclusions: tuple[Decision, ...]
    is_exclusion_lost: bool

    @property
    def is_equal(self) -> bool:
        """Whether the two agree."""
        return not any(
            (
                *(self.unknown_hits, self.added_slots, self.lost_hits),
                *(self.returned_hits, self.returned_assignments),
                *(self.lost_assignments, self.reopened, self.undone),
                *(self.unknown_bonuses, self.lost_bonuses),
                *(self.unknown_compensations, self.lost_compensations),
                *(self.unknown_exclusions, self.lost_exclusions),
                self.is_exclusion_lost,
            )
        )


def compare_with_marketplace(run: CampaignRun, *, may_have_lost: bool) -> Comparison:
    """Compare all that the store and the marketplace know about the campaign.

    Args:
        run: the campaign on its marketplace.
        may_have_lost: whether the marketplace is known to lack data that it had.

    Raises:
        PlatformRefused: the marketplace does not know a HIT that it cannot have lost.
    """
    forgotten = {each.key for each in intents.load_intents(run.store, FORGET, is_done=True)}
    lost_before = hits.lost_ids(run.store)
    here = {hit.hit_id: hit for hit in hits.load_hits(run.store) if hit.hit_id}
    there = {posted.hit_id: posted for posted in run.platform.find_hits()}
    status = _status_of_unlisted(
        run,
        [hit for hit_id, hit in here.items() if hit_id not in there and hit_id not in lost_before],
    )
    lost = tuple(hit for hit in here.values() if status.get(hit.hit_id) == "unknown")
    if lost and not may_have_lost:
        raise PlatformRefused(
            f"this campaign posted HIT {lost[0].hit_id}, but the marketplace does not "
            "know it and has lost no data",
            code="HITDoesNotExist",
            kind="hit_unknown",
            next_step="check AWS_ACCESS_KEY_ID: the keys are another requester's",
        )
    alive = {hit_id: hit for hit_id, hit in here.items() if hit_id in there}
    listed = _assignments_there(run, alive, there)
    is_gone = frozenset(hit.hit_id for hit in lost)
    known: list[Assignment] = []
    given_up: list[Assignment] = []
    for assignment in assignments.load_assignments(run.store):
        is_given_up = forget_key(assignment.assignment_id) in forgotten
        (given_up if is_given_up else known).append(assignment)
    paid_there = bonuses_there(run, alive)
    compensated = compensations.compensations_there(run)
    exclusions = _compare_exclusions(run, may_have_lost=may_have_lost)
    return Comparison(
        unknown_hits=tuple(posted for posted, _ in unknown_hits(run)),
        added_slots=sum(
            max(there[hit_id].slots - hit.max_assignments, 0) for hit_id, hit in alive.items()
        ),
        lost_hits=lost,
        lost_assignments=tuple(
            assignment
            for assignment in known
            if assignment.hit_id in is_gone
            or (assignment.hit_id in alive and assignment.assignment_id not in listed)
        ),
        returned_hits=tuple(alive[hit_id] for hit_id in alive if hit_id in lost_before),
        returned_assignments=tuple(
            assignment for assignment in given_up if assignment.assignment_id in listed
        ),
        reopened=tuple(_reopened(run, alive, there, listed, known)),
        undone=tuple(_undone(run, known, listed)),
        unknown_bonuses=tuple(unknown_bonuses(run, paid_there)),
        lost_bonuses=_lost_bonuses(run, paid_there, listed),
        bonuses_there=tuple(paid_there),
        unknown_compensations=tuple(compensations.unknown_compensations(run, compensated)),
        lost_compensations=compensations.lost_compensations(run, compensated),
        unknown_exclusions=exclusions[0],
        lost_exclusions=exclusions[1],
        is_exclusion_lost=exclusions[2],
    )


def _status_of_unlisted(
    run: CampaignRun, unlisted: Iterable[PlannedHit]
) -> dict[HitId | None, HitStatus | str]:
    """Return the status of HITs that are in no list: disposed of, or "unknown"."""

    def ask(hit: PlannedHit) -> HitStatus | str:
        try:
            return run.platform.hit_status(HitId(str(hit.hit_id)))
        except PlatformRefused as refusal:
            if refusal.kind != "hit_unknown":
                raise
            return "unknown"

    unlisted = list(unlisted)
    with ThreadPoolExecutor(run.most_calls, thread_name_prefix="compare") as pool:
        states = pool.map(ask, unlisted)
        return {hit.hit_id: state for hit, state in zip(unlisted, states, strict=True)}


def _assignments_there(
    run: CampaignRun, alive: Mapping[HitId, PlannedHit], there: Mapping[HitId, PostedHit]
) -> dict[AssignmentId, Assignment]:
    slots = {hit_id: max(hit.max_assignments, there[hit_id].slots) for hit_id, hit in alive.items()}
    parts = run.platform.in_one_call(slots) if slots else []
    with ThreadPoolExecutor(run.most_calls, thread_name_prefix="compare") as pool:
        fetched = pool.map(run.platform.assignments, parts)
        return {
            assignment.assignment_id: assignment
            for part in fetched
            for assignment in chain.from_iterable(part.values())
        }


def _reopened(
    run: CampaignRun,
    alive: Mapping[HitId, PlannedHit],
    there: Mapping[HitId, PostedHit],
    listed: Mapping[AssignmentId, Assignment],
    known: Iterable[Assignment],
) -> Iterator[PlannedHit]:
    """Yield HITs that are collected here and get more answers there.

    Either a worker has answered there since, or slots there are free or in work.
    """
    arrived = Counter(assignment.hit_id for assignment in listed.values())
    ids = {assignment.assignment_id for assignment in known}
    answered_since = {assignment.hit_id for name, assignment in listed.items() if name not in ids}
    for hit_id, hit in alive.items():
        if hit.collected_at is None:
            continue
        if hit_id in answered_since:
            yield hit
        elif arrived[hit_id] >= there[hit_id].slots:
            continue
        elif run.platform.hit_status(hit_id) in ("Assignable", "Unassignable"):
            yield hit


def _undone(
    run: CampaignRun, known: Iterable[Assignment], listed: Mapping[AssignmentId, Assignment]
) -> Iterator[Decision]:
    """Yield approvals and rejections carried out here, for work still open there.

    Work that the platform approved before it could be rejected is to be approved again:
    its worker was told of the payment, and the ledger has it. A rejection that was carried
    out stays one, although a market paid it all the same.
    """
    for assignment in known:
        name = assignment.assignment_id
        if name not in listed or listed[name].status != "Submitted":
            continue
        verdict, outcome = assignments.verdict_and_outcome(run.store, name)
        if verdict in ("approve", "reject") and outcome in (DONE, PAID_ALREADY):
            for decision in decisions.latest_decisions(run.store, [("assignment", name)]):
                is_late = intents.outcome(run.store, f"{verdict}:{name}") == PAID_ALREADY
                yield replace(decision, verdict="approve") if is_late else decision


def _lost_bonuses(
    run: CampaignRun, there: Iterable[Bonus], listed: Mapping[AssignmentId, Assignment]
) -> dict[str, Bonus]:
    """Return unpaid bonuses of the ledger for work that is known there, by key."""
    paid = Counter(there)
    lost = {}
    for key, bonus in recorded_bonuses(run).items():
        if paid[bonus]:
            paid[bonus] -= 1
        elif bonus.assignment_id in listed:
            lost[key] = bonus
    return lost


def _compare_exclusions(
    run: CampaignRun, *, may_have_lost: bool
) -> tuple[tuple[WorkerId, ...], tuple[Decision, ...], bool]:
    """Return workers kept out only there, decisions only here, and a lost type."""
    decided = decisions.about_workers(run.store)
    reasons = {
        worker: {each.because for each in history if each.verdict == "block"}
        for worker, history in decided.items()
    }
    is_asked = may_have_lost and any(reasons.values())
    blocked = run.platform.blocked() if is_asked else {}
    type_ids = {*campaign_facts.platform_types(run.store, "exclusion").values()}
    excluded, is_type_lost = set[WorkerId](), False
    for type_id in type_ids:
        try:
            excluded |= run.platform.excluded(QualificationTypeId(type_id))
        except PlatformRefused as refusal:
            if refusal.kind != "qualification_type_unknown":
                raise
            is_type_lost = True

    def is_lost(worker: WorkerId, verdict: Verdict) -> bool:
        if verdict == "exclude":
            return bool(type_ids) and worker not in excluded
        if verdict == "block":
            return worker not in blocked
        # A block with another reason is another campaign's.
        return worker in excluded or blocked.get(worker) in reasons[worker]

    in_force = _about_workers_in_force(run) if may_have_lost else {}
    return (
        tuple(sorted(excluded - set(decided))),
        tuple(each for worker, each in in_force.items() if is_lost(worker, each.verdict)),
        is_type_lost,
    )


def _about_workers_in_force(run: CampaignRun) -> dict[WorkerId, Decision]:
    """Return decisions about workers that were carried out at the marketplace."""
    verdicts: tuple[Verdict, ...] = ("exclude", "block", "include")
    waiting = decisions.unsettled(run.store, *verdicts)
    forgotten = {
        subject
        for operation in (*verdicts, "repeat")
        for subject in intents.subjects(run.store, operation, outcome=FORGOTTEN)
    }
    return {
        WorkerId(decision.subject_id): decision
        for decision in decisions.load_decisions(run.store, "worker", verdicts=verdicts)
        if decision not in waiting and decision.subject_id not in forgotten
    }
