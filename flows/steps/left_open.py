"""What a person began and a death cut short: written down if it was done, else not.

A pass repeats what it finds due; a bonus or a rejection taken back was due because
somebody said so once, and is not begun again by itself.
"""

from flows.steps import bonuses, unreject
from flows.workplace import Workplace
from store import intents
from store.acting import carry_out


def close_left_open(place: Workplace) -> int:
    """Look for every such act that is open; how many there were.

    What the platform has done is booked; what it has not is forgotten.
    """
    if not has_left_open(place):
        return 0
    recorded, closed = list(bonuses.recorded_bonuses(place).values()), 0
    for operation in (bonuses.OPERATION, unreject.OPERATION):
        for intent in intents.every(place.store, operation, is_done=False):
            if operation == unreject.OPERATION:
                act = unreject.act_for(place, intent)
            else:
                act = bonuses.act_for(place, intent, recorded)
            if act.look() is None:
                intents.withdraw(place.store, intent.key)
            else:
                carry_out(place.store, [act], clock=place.clock)
                if operation == bonuses.OPERATION:
                    recorded.append(bonuses.bonus_of(intent))
            closed += 1
    return closed


def has_left_open(place: Workplace) -> bool:
    """Whether there is any such act."""
    return any(
        intents.every(place.store, operation, is_done=False)
        for operation in (bonuses.OPERATION, unreject.OPERATION)
    )
