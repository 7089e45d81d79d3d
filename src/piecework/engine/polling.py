"""How long to wait before a marketplace is asked for news again.

A schedule calls every few minutes for days, and each call to a marketplace costs; so
the wait grows while nothing comes and shrinks when much does.
"""

from datetime import timedelta

LEAST = timedelta(minutes=1)
_MOST, _MOST_FAR_OFF = 60, 120
LONGEST = _MOST_FAR_OFF * LEAST
OPEN_HITS = timedelta(hours=6)
"""How long HITs may be open before they are asked for what they have got so far. Most
are done sooner and are asked once; each further look costs a call a HIT."""
WATCHED_HITS = 200
"""A campaign of at most so many HITs is asked at each look of `run` for what open HITs
have got: two pages of a listing, and a call for each HIT that has news."""
_GROWS = 1.5
_QUESTIONS = 2
"""How often, at most, what is left is asked for, if it goes on as it did."""


def next_wait(
    wait: timedelta, *, came: int, left: int, least: timedelta = LEAST
) -> timedelta:
    """How long to wait after an answer, if so long was waited before it.

    What is waited for is the end of a batch, so the wait is a part of the time that
    what is left takes at the rate of late, from which it departs by half as much at a
    time. Sixty times the least is the most, twice that while the end is far off.

    Args:
        wait: what was waited before.
        came: how many HITs had become reviewable.
        left: how many are still open.
        least: what is waited in any case.
    """
    if came and not left:
        return wait  # The batch is here; what follows it takes its own time.
    aim = wait * left / (came * _QUESTIONS) if came else wait * _GROWS
    changed = min(max(aim, wait / _GROWS), wait * _GROWS)
    most = _MOST_FAR_OFF if came else _MOST
    return min(max(changed, least), most * least)
