"""Carry out planned events before each call, each at its own time."""

from offline_markets.connect import assignment
from offline_markets.connect.state import State
from offline_markets.core import database

_KINDS = {"time_out": assignment.time_out, "approve": assignment.approve_by_silence}


def catch_up(state: State) -> None:
    """Carry out everything due by now, the earliest first."""
    database.catch_up(state, _KINDS)
