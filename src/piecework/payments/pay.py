"""Pay bonuses, each through an intent, within the caps.

Campaign and batch caps refuse the whole plan before its first call. A day's cap only
delays the rest: the same command pays it on the next day.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from piecework.campaign import caps
from piecework.campaign.opened import CampaignRun
from piecework.domain.bonus import Bonus
from piecework.domain.errors import BudgetExceeded, PlatformRefused
from piecework.domain.ids import AssignmentId
from piecework.payments.bonuses import PlannedBonus, act_for, recorded_bonuses
from piecework.payments.plan import BonusPlan
from piecework.store import hits
from piecework.store.acting import carry_out
from piecework.store.intents import Act

_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Paid:
    """The bonuses paid, and those that wait for the next day; cents with fees."""

    bonuses: int
    cents: int
    waiting: int
    waiting_cents: int


def check_bonuses(run: CampaignRun, plan: BonusPlan) -> None:
    """Refuse a plan that the caps of the campaign or of a batch do not allow.

    Raises:
        BudgetExceeded: a cap is too low; nothing was paid.
    """
    rewards = run.campaign.rewards
    by_batch: Counter[int] = Counter()
    for bonus in plan.due:
        by_batch[bonus.batch] += bonus.intent.amount_cents
    # Planned HITs are promised too, even if a cap delays them until tomorrow.
    to_post: Counter[int] = Counter()
    for hit in hits.unposted(run.store):
        to_post[hit.batch] += hit.cost_cents
    for batch, cents in sorted(by_batch.items()):
        room = caps.left(run, batch)
        needed = (
            (plan.total_cents, room.campaign, to_post.total(), rewards.cap_name),
            (cents, room.batch, to_post[batch], f"the cap of batch {batch}"),
        )
        for cost, free, promised, name in needed:
            rest = None if free is None else free - promised
            if rest is not None and cost > rest:
                raise BudgetExceeded(
                    f"the bonuses cost {rewards.shown(cost)} with fees, but "
                    f"{rewards.shown(max(rest, 0))} are left of {name}; nothing was "
                    "paid",
                    next_step=f"look at piecework status {run.campaign.path}, then "
                    "raise the cap, or pay less with --from FILE",
                )


def pay(run: CampaignRun, plan: BonusPlan) -> Paid:
    """Pay the due bonuses that today's cap allows.

    Raises:
        BudgetExceeded: the cap of the campaign or of a batch is too low; nothing was
            paid.
        PlatformRefused: the platform refused the named bonuses; the others were paid.
        TransientPlatformError: the outcome of a call is unknown; call this again.
    """
    check_bonuses(run, plan)
    today = _for_today(run, plan.due)
    refused = []
    for group in _apart(today):
        refused += carry_out(run.store, _acts(run, group), clock=run.clock, at_once=run.at_once)
    if refused:
        # The key has assignment or pseudonym; the platform's text may name a worker.
        named = "; ".join(f"{act.intent.key} ({no.code})" for act, no in refused[:_NAMED])
        raise PlatformRefused(
            f"{len(refused)} of {len(today)} bonuses were refused: {named}",
            code=refused[0][1].code,
            kind=refused[0][1].kind,
            next_step="the others were paid; run the same command to try these again",
        )
    later = plan.due[len(today) :]
    return Paid(
        bonuses=len(today),
        cents=sum(planned.intent.amount_cents for planned in today),
        waiting=len(later),
        waiting_cents=sum(planned.intent.amount_cents for planned in later),
    )


def _for_today(run: CampaignRun, due: tuple[PlannedBonus, ...]) -> tuple[PlannedBonus, ...]:
    left = caps.left_today(run)
    if left is None:
        return due
    for number, planned in enumerate(due):
        left -= planned.intent.amount_cents
        if left < 0:
            return due[:number]
    return due


def _apart(due: tuple[PlannedBonus, ...]) -> list[list[PlannedBonus]]:
    """Split bonuses so that no group has two of one assignment, to tell them apart."""
    groups: list[list[PlannedBonus]] = []
    seen: Counter[str] = Counter()
    for planned in due:
        number = seen[planned.bonus.assignment_id]
        seen[planned.bonus.assignment_id] += 1
        if number == len(groups):
            groups.append([])
        groups[number].append(planned)
    return groups


def _acts(run: CampaignRun, due: list[PlannedBonus]) -> Iterator[Act]:
    # The caps were checked for all of them, and only one process pays at a time.
    recorded = defaultdict[AssignmentId, list[Bonus]](list)
    for bonus in recorded_bonuses(run).values():
        recorded[bonus.assignment_id].append(bonus)
    for planned in due:
        yield act_for(run, planned.intent, recorded[planned.bonus.assignment_id])
