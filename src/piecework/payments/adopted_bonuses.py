"""Bonuses that a newer copy of the store paid: recorded, and never paid again.

The platform stores no labels. A bonus to the wage floor is recognised by its reason. A
bonus from a file keeps the label "adopted" until the same file is read again.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import chain

from piecework.campaign.opened import CampaignRun
from piecework.domain.bonus import Bonus
from piecework.domain.ids import HitId
from piecework.payments.bonuses import act_for, bonus_key, planned_bonus, recorded_bonuses
from piecework.payments.plan import BonusPlan
from piecework.payments.wage_floor_bonuses import LABEL, is_wage_floor
from piecework.store import assignments, generations, hits, intents
from piecework.store.acting import carry_out
from piecework.store.intents import Act
from piecework.store.settlements import DONE

_ADOPTED = "adopted"


def adopt_bonuses(run: CampaignRun) -> int:
    """Record bonuses that a restored store lacks; return how many.

    For this, it asks the platform for the bonuses of every HIT. It does so only for a
    store that was restored.
    """
    if not generations.was_restored(run.store):
        return 0
    paid = bonuses_there(run, hits.ids(run.store) - hits.lost_ids(run.store))
    return book(run, unknown_bonuses(run, paid))


def bonuses_there(run: CampaignRun, hit_ids: Iterable[HitId]) -> list[Bonus]:
    """Return all bonuses that the platform has paid for work on these HITs."""
    with ThreadPoolExecutor(run.at_once, thread_name_prefix="bonuses") as pool:
        return list(chain.from_iterable(pool.map(run.platform.bonuses_of_hit, hit_ids)))


def as_listed(run: CampaignRun, bonus: Bonus) -> Bonus:
    """Return a bonus as the platform lists it."""
    is_whole = run.platform.capabilities.keeps_bonus_reason
    return bonus if is_whole else replace(bonus, reason="")


def unknown_bonuses(run: CampaignRun, paid: Iterable[Bonus]) -> Iterator[Bonus]:
    """Yield the paid bonuses that are not in the ledger."""
    recorded = Counter(as_listed(run, bonus) for bonus in recorded_bonuses(run).values())
    for bonus in paid:
        if recorded[as_listed(run, bonus)]:
            recorded[as_listed(run, bonus)] -= 1
        else:
            yield bonus


def book(run: CampaignRun, paid: Iterable[Bonus]) -> int:
    """Record bonuses for work that the store has; return how many."""
    known = {each.assignment_id for each in assignments.load(run.store)}
    taken = set(recorded_bonuses(run))
    acts = []
    for bonus in paid:
        if bonus.assignment_id not in known:
            continue
        label = LABEL if is_wage_floor(bonus) else _ADOPTED
        subject, number = str(bonus.assignment_id), 1
        while bonus_key(label, subject) in taken:
            number += 1
            label, subject = _ADOPTED, f"{bonus.assignment_id}.{number}"
        taken.add(bonus_key(label, subject))
        acts.append(_booking(run, bonus, label, subject))
    carry_out(run.store, acts, clock=run.clock)
    return len(acts)


def take_over(run: CampaignRun, plan: BonusPlan) -> BonusPlan:
    """Match adopted bonuses with those of a plan; the others stay due."""
    adopted = {
        key: bonus
        for key, bonus in recorded_bonuses(run).items()
        if key.startswith(f"{bonus_key(_ADOPTED, '')}")
    }
    due, before = [], plan.before
    for planned in plan.due:
        wanted = as_listed(run, planned.bonus)
        key = next((key for key, each in adopted.items() if as_listed(run, each) == wanted), None)
        if key is None:
            due.append(planned)
            continue
        del adopted[key]
        intents.rename(run.store, key, planned.intent.key)
        before += 1
    return replace(plan, due=tuple(due), before=before)


def _booking(run: CampaignRun, bonus: Bonus, label: str, subject: str) -> Act:
    hit = hits.of_assignment(run.store, bonus.assignment_id)
    planned = planned_bonus(run, bonus, label=label, subject=subject, batch=hit.batch)
    paid = act_for(run, planned.intent, ())
    return Act(intent=paid.intent, do=_paid, look=_paid, record=paid.record)


def _paid() -> str:
    return DONE
