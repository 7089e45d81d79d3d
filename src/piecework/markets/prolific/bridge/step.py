"""One step of the bridge."""

from functools import partial

from piecework.markets.prolific.bridge import (
    bonuses,
    comparing,
    deciding,
    filter_types,
    groups,
    messages,
    reading,
    screening,
    studies,
)
from piecework.markets.prolific.bridge.bridge import Bridge


def step(bridge: Bridge) -> bool:
    """Update Prolific to match the marketplace; return whether a call changed it.

    It reads the state, then updates who may take part, then carries out decisions, then
    pays. Nothing is published or paid before the file is compared with Prolific.
    """
    bridge.changes, bridge.faults, bridge.is_due_soon = 0, [], False
    bridge.is_throttled = False
    bridge.tried(partial(comparing.compare, bridge))
    for part, spends in (
        (filter_types.offer, False),
        (reading.read_prolific, False),
        (groups.keep_in_step, False),
        (studies.recruit, True),
        (screening.screen, True),
        (deciding.decide, False),
        (bonuses.pay, True),
        (messages.send, False),
    ):
        if bridge.is_compared or not spends:
            bridge.tried(partial(part, bridge))
    return bridge.changes > 0


def settle(bridge: Bridge, *, most: int = 20) -> None:
    """Make steps until one changes nothing; for a rehearsal, where time is frozen."""
    for _ in range(most):
        if not step(bridge):
            return
