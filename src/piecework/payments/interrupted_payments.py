"""What a person began and a death cut short: written down if it was done, else not.

A pass repeats what it finds due; a bonus or a rejection taken back was due because
a person said so once, and is not begun again by itself.
"""

from piecework.campaign.opened import CampaignRun
from piecework.payments import bonuses, unreject
from piecework.store import intents
from piecework.store.acting import carry_out
from piecework.store.database import Store


def close_interrupted(run: CampaignRun) -> int:
    """Look for every such act that is open; how many there were.

    What the platform has done is booked; what it has not is forgotten.
    """
    if not has_interrupted_payments(run.store):
        return 0
    recorded, closed = list(bonuses.recorded_bonuses(run).values()), 0
    for operation in (bonuses.OPERATION, unreject.OPERATION):
        for intent in intents.load(run.store, operation, is_done=False):
            if operation == unreject.OPERATION:
                act = unreject.act_for(run, intent)
            else:
                act = bonuses.act_for(run, intent, recorded)
            if act.look() is None:
                intents.withdraw(run.store, intent.key)
            else:
                carry_out(run.store, [act], clock=run.clock)
                if operation == bonuses.OPERATION:
                    recorded.append(bonuses.bonus_of(intent))
            closed += 1
    return closed


def has_interrupted_payments(store: Store) -> bool:
    """Whether there is any such act."""
    return intents.has_open(store, bonuses.OPERATION, unreject.OPERATION)
