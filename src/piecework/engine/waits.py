"""How long a pass waits for news of a marketplace.

A schedule starts a pass every few minutes for days, and each call to a marketplace has
a cost. So the wait for news grows while no work arrives and shrinks when much arrives.
"""

from datetime import timedelta

LEAST_WAIT = timedelta(minutes=1)
_MOST_WAITS, _MOST_WAITS_FAR_OFF = 60, 120
LONGEST_WAIT = _MOST_WAITS_FAR_OFF * LEAST_WAIT
OPEN_HITS = timedelta(hours=6)
"""How long HITs may be open before a pass checks them for new answers. Most are done
sooner and are checked once; each further check costs one call per HIT."""
WATCHED_HITS = 200
"""In a campaign with at most this many HITs, each check of `run` also looks at open
HITs: two pages of a listing, and one call for each HIT with news."""
_GROWS = 1.5
_QUESTIONS = 2
"""How often to ask about the rest of a batch if work continues at the same rate."""


def next_wait(wait: timedelta, *, came: int, left: int, least: timedelta = LEAST_WAIT) -> timedelta:
    """Return how long to wait, given the previous wait and what it brought.

    The aim is the end of a batch. So the wait is a fraction of the time that the rest
    takes at the recent rate, and changes by at most half at a time. It is at most sixty
    times `least`, or twice that while the end is far off.

    Args:
        wait: the previous wait.
        came: how many HITs had become reviewable.
        left: how many are still open.
        least: the shortest wait.
    """
    if came and not left:
        return wait  # The batch is complete; the next one has its own rate.
    aim = wait * left / (came * _QUESTIONS) if came else wait * _GROWS
    changed = min(max(aim, wait / _GROWS), wait * _GROWS)
    most = _MOST_WAITS_FAR_OFF if came else _MOST_WAITS
    return min(max(changed, least), most * least)
