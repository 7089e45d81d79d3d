"""The wage floor as a rule: the bonuses that raise paid work to it.

The time of a kind of HIT is the **median** over its paid assignments. A worker who left
the page open over lunch counts as one of many, and a slow worker earns no more. A kind
is one HIT type and one number of items, since a HIT with one item left takes less time
than one with five. Each paid assignment of a kind gets the difference between
floor x median and its reward and bonuses so far.
"""

from collections import defaultdict
from collections.abc import Collection
from statistics import median

from piecework.campaign.opened import CampaignRun
from piecework.campaign.pricing import top_up_cents
from piecework.domain.assignment import Assignment
from piecework.domain.bonus import Bonus
from piecework.domain.hit import PlannedHit
from piecework.domain.ids import AssignmentId
from piecework.payments.bonuses import PlannedBonus, bonus_key, planned_bonus, recorded_bonuses
from piecework.payments.plan import BonusPlan
from piecework.store import assignments, hits, ledger

LABEL = "wage-floor"
_REASON = "Top-up: the median time of a HIT like this was"


def top_ups(run: CampaignRun, *, label: str = LABEL) -> BonusPlan:
    """Return the bonuses that the wage floor requires now."""
    recorded = recorded_bonuses(run)
    rewards = ledger.paid_cents(run.store, "rewards")
    pay = ledger.paid_cents(run.store, "rewards", "bonuses")
    floor = run.campaign.rewards.wage_floor_cents_per_hour
    due, before, lacking, too_late = [], 0, 0, []
    for paid in _paid_by_kind(run, set(rewards)):
        seconds = median(_seconds(assignment) for assignment, _ in paid)
        for assignment, hit in paid:
            assignment_id = assignment.assignment_id
            cents = top_up_cents(floor, seconds, pay[assignment_id]) or 0
            if bonus_key(label, assignment_id) in recorded:
                before, lacking = before + 1, lacking + cents
            elif cents and is_too_late(run, assignment):
                too_late.append(assignment_id)
            elif cents:
                due.append(_planned(run, assignment, hit.batch, cents, seconds, label))
    return BonusPlan(
        label=label, due=tuple(due), before=before, lacking_cents=lacking, too_late=tuple(too_late)
    )


def is_wage_floor(bonus: Bonus) -> bool:
    """Return whether a bonus was paid by this rule, judging by its reason."""
    return bonus.reason.startswith(_REASON)


def is_too_late(run: CampaignRun, assignment: Assignment) -> bool:
    """Return whether the platform no longer accepts a bonus for an assignment."""
    window = run.platform.capabilities.bonus_window
    return run.clock.now() > assignment.submitted_at + window


def _paid_by_kind(
    run: CampaignRun, paid: Collection[AssignmentId]
) -> list[list[tuple[Assignment, PlannedHit]]]:
    """Return paid assignments with their HITs, grouped by HIT type and size."""
    posted = {hit.hit_id: hit for hit in hits.load(run.store)}
    kinds = defaultdict[tuple[str, int], list[tuple[Assignment, PlannedHit]]](list)
    for assignment in assignments.load(run.store):
        if assignment.assignment_id in paid:
            hit = posted[assignment.hit_id]
            kinds[str(hit.hit_type_id), len(hit.item_ids)].append((assignment, hit))
    return list(kinds.values())


def _seconds(assignment: Assignment) -> float:
    return (assignment.submitted_at - assignment.accepted_at).total_seconds()


def _planned(
    run: CampaignRun, assignment: Assignment, batch: int, cents: int, seconds: float, label: str
) -> PlannedBonus:
    rewards = run.campaign.rewards
    floor = rewards.shown(rewards.wage_floor_cents_per_hour)
    bonus = Bonus(
        assignment_id=assignment.assignment_id,
        worker_id=assignment.worker_id,
        cents=cents,
        reason=f"{_REASON} {seconds / 60:.1f} "
        f"minutes, and it shall not pay less than {floor} an hour.",
    )
    return planned_bonus(run, bonus, label=label, subject=assignment.assignment_id, batch=batch)
