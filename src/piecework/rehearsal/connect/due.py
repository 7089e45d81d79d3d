"""Carry out planned events before each call, each at its own time."""

from piecework.rehearsal.connect import assignment
from piecework.rehearsal.connect.state import State
from piecework.rehearsal.offline import database

_KINDS = {"time_out": assignment.time_out, "approve": assignment.approve_by_silence}


def catch_up(state: State) -> None:
    """Carry out everything due by now, the earliest first."""
    database.catch_up(state, _KINDS)
