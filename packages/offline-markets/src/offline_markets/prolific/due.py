"""Carry out scheduled events before each call, each at its own time."""

from collections.abc import Callable

from offline_markets.core import database
from offline_markets.prolific import bonuses, study_life
from offline_markets.prolific import submission as submission_life
from offline_markets.prolific.beyond.task_builder import datasets, exports, records, tasks
from offline_markets.prolific.state import State

_KINDS: dict[str, Callable[[State, str], None]] = {
    "publish": study_life.publish_scheduled,
    "recruit": study_life.recruit,
    "lapse": submission_life.lapse,
    "time_out": submission_life.time_out,
    "approve": submission_life.approve_by_silence,
    "bulk_approve": submission_life.approve_if_waiting,
    "pay_bonus": bonuses.settle,
    "export": exports.generate,
    "import": datasets.take_in,
    "migrate": records.migrate,
    "set_up": tasks.set_up,
    "sync": tasks.synchronize,
}


def catch_up(state: State) -> None:
    """Carry out everything due by now, the earliest first."""
    database.catch_up(state, _KINDS)
