"""What a worker did: open work, the latest assignments, earnings."""

import sqlite3

from marketplace import books
from marketplace.exceptions import Refusal
from marketplace.turn import Turn
from marketplace.workers import discovery

SHOWN = 100

_SELECT = (
    "SELECT assignments.*, hit_types.title, "
    "(SELECT coalesce(sum(bonuses.cents), 0) FROM bonuses "
    "WHERE bonuses.assignment = assignments.id) AS bonus_cents "
    "FROM assignments JOIN hits ON hits.id = assignments.hit "
    "JOIN hit_types ON hit_types.id = hits.hit_type WHERE assignments.worker = ? "
)


def open_assignments(turn: Turn, worker: sqlite3.Row) -> list[sqlite3.Row]:
    """What the worker accepted and has not finished, most urgent first."""
    return turn.all(
        f"{_SELECT} AND assignments.status = 'Accepted' "
        "ORDER BY assignments.deadline_ms",
        worker["id"],
    )


def latest(turn: Turn, worker: sqlite3.Row) -> list[sqlite3.Row]:
    """The worker's latest assignments, newest first."""
    return turn.all(
        f"{_SELECT} ORDER BY assignments.id DESC LIMIT ?", worker["id"], SHOWN
    )


def earned_cents(turn: Turn, worker: sqlite3.Row) -> int:
    """Rewards and bonuses paid to the worker."""
    return books.balance(turn, books.worker_purse(worker["id"]))


def has_next(turn: Turn, worker: sqlite3.Row, hit_group_id: str) -> bool:
    """Whether the worker could take another HIT of the group now."""
    try:
        group = discovery.group(turn, worker, hit_group_id)
    except Refusal:
        return False
    return group.may_accept and group.available > 0
