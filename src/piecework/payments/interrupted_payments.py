"""Payments that a crash interrupted: recorded if made, otherwise dropped.

A pass repeats what it finds due. A bonus, a compensation or a reversed rejection was
due only because a person asked for it once, so it is not started again automatically.
"""

from piecework.campaign.opened import CampaignRun
from piecework.domain.bonus import Bonus
from piecework.payments import bonuses, compensations, unreject
from piecework.store import intents
from piecework.store.acting import carry_out
from piecework.store.database import Store
from piecework.store.intents import Act, Intent

_OPERATIONS = (bonuses.OPERATION, compensations.OPERATION, unreject.OPERATION)


def close_interrupted(run: CampaignRun) -> int:
    """Close every interrupted payment; return how many there were.

    A payment that the platform has made is recorded. Otherwise its intent is dropped.
    """
    if not has_interrupted_payments(run.store):
        return 0
    recorded, closed = list(bonuses.recorded_bonuses(run).values()), 0
    for operation in _OPERATIONS:
        for intent in intents.load(run.store, operation, is_done=False):
            act = _act_for(run, intent, recorded)
            if act.look() is None:
                intents.withdraw(run.store, intent.key)
            else:
                carry_out(run.store, [act], clock=run.clock)
                if operation == bonuses.OPERATION:
                    recorded.append(bonuses.bonus_of(intent))
            closed += 1
    return closed


def has_interrupted_payments(store: Store) -> bool:
    """Return whether there is an interrupted payment."""
    return intents.has_open(store, *_OPERATIONS)


def _act_for(run: CampaignRun, intent: Intent, recorded: list[Bonus]) -> Act:
    if intent.operation == unreject.OPERATION:
        return unreject.act_for(run, intent)
    if intent.operation == compensations.OPERATION:
        return compensations.act_for(run, intent)
    return bonuses.act_for(run, intent, recorded)
