"""The wage floor as a rule: which bonuses lift paid work to it.

The time of a kind of HIT is the **median** over its paid assignments: who left the page
open over lunch counts as one of many, and nobody earns more by being slow. A kind is
one HIT type and one number of items, since a HIT with one item left takes less time
than one with five. Each paid assignment of a kind then gets what its reward and its
bonuses so far lack of floor x median.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from statistics import median

from domain.assignment import Assignment
from domain.bonus import Bonus
from domain.ids import AssignmentId
from domain.money import dollars
from flows.steps.bonuses import (
    PlannedBonus,
    bonus_key,
    planned_bonus,
    recorded_bonuses,
)
from flows.steps.pricing import top_up_cents
from flows.steps.state import State, read_state
from flows.workplace import Workplace
from store import ledger

LABEL = "wage-floor"


@dataclass(frozen=True, slots=True, kw_only=True)
class BonusPlan:
    """Bonuses that are due, and what was left out.

    Attributes:
        label: tells these bonuses from others for the same work.
        before: bonuses with this label that were paid before.
        lacking_cents: what work that had such a bonus lacks of the floor again.
        too_late: assignments that are too old for any bonus.
    """

    label: str
    due: tuple[PlannedBonus, ...]
    before: int = 0
    lacking_cents: int = 0
    too_late: tuple[AssignmentId, ...] = field(default=())

    @property
    def bonus_cents(self) -> int:
        """What workers get."""
        return sum(one.bonus.cents for one in self.due)

    @property
    def total_cents(self) -> int:
        """What it costs, fees included."""
        return sum(one.intent.amount_cents for one in self.due)


def top_ups(place: Workplace, *, label: str = LABEL) -> BonusPlan:
    """The bonuses that the wage floor asks for now."""
    state, recorded = read_state(place), recorded_bonuses(place)
    rewards = ledger.paid_cents(place.store, "rewards")
    pay = ledger.paid_cents(place.store, "rewards", "bonuses")
    floor = place.campaign.rewards.wage_floor_cents_per_hour
    due, before, lacking, too_late = [], 0, 0, []
    for kind in _kinds(state, set(rewards)):
        seconds = median(_seconds(one) for one in kind)
        for assignment in kind:
            name = assignment.assignment_id
            cents = top_up_cents(floor, seconds, pay[name]) or 0
            if bonus_key(label, name) in recorded:
                before, lacking = before + 1, lacking + cents
            elif cents and is_too_late(place, assignment):
                too_late.append(name)
            elif cents:
                due.append(_planned(place, state, assignment, cents, seconds, label))
    return BonusPlan(
        label=label,
        due=tuple(due),
        before=before,
        lacking_cents=lacking,
        too_late=tuple(too_late),
    )


def is_too_late(place: Workplace, assignment: Assignment) -> bool:
    """Whether the platform takes no bonus for it any more."""
    window = place.platform.capabilities.bonus_window
    return place.clock.now() > assignment.submitted_at + window


def _kinds(state: State, paid: set[AssignmentId]) -> list[list[Assignment]]:
    """Paid assignments, those of one HIT type and number of items together."""
    kinds: dict[tuple[str, int], list[Assignment]] = defaultdict(list)
    for assignment in state.assignments.values():
        if assignment.assignment_id in paid:
            hit = state.posted[assignment.hit_id]
            kinds[str(hit.hit_type_id), len(hit.item_ids)].append(assignment)
    return list(kinds.values())


def _seconds(assignment: Assignment) -> float:
    return (assignment.submitted_at - assignment.accepted_at).total_seconds()


def _planned(
    place: Workplace,
    state: State,
    assignment: Assignment,
    cents: int,
    seconds: float,
    label: str,
) -> PlannedBonus:
    floor = dollars(place.campaign.rewards.wage_floor_cents_per_hour)
    bonus = Bonus(
        assignment_id=assignment.assignment_id,
        worker_id=assignment.worker_id,
        cents=cents,
        reason=f"Top-up: the median time of a HIT like this was {seconds / 60:.1f} "
        f"minutes, and it shall not pay less than {floor} an hour.",
    )
    return planned_bonus(
        place,
        bonus,
        label=label,
        subject=assignment.assignment_id,
        batch=state.posted[assignment.hit_id].batch,
    )
