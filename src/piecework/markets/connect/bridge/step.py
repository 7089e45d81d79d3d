"""One step of the bridge."""

from functools import partial

from piecework.markets.connect.bridge import bonuses, deciding, messages, projects, reading, unknown
from piecework.markets.connect.bridge.bridge import Bridge


def step(bridge: Bridge) -> bool:
    """Update Connect to match the marketplace; return whether a call changed it.

    It reads the state, then recruits, then carries out decisions, then pays. Nothing is
    published or paid before the file is compared with Connect.
    """
    bridge.changes, bridge.faults, bridge.is_due_soon = 0, [], False
    bridge.listed = None
    bridge.tried(partial(unknown.compare, bridge))
    for part, spends in (
        (reading.read_connect, False),
        (projects.recruit, True),
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
