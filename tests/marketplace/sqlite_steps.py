"""Counts the steps of SQLite's virtual machine, which are the same on any machine."""

from collections.abc import Callable

from piecework.marketplace.state.backend import Backend
from piecework.marketplace.state.transaction import Transaction

STEP = 10
"""So many of them are counted as one."""

Action = Callable[[Transaction], object]


def steps(backend: Backend, action: Action) -> int:
    """How many steps an action takes, catching up included."""
    count = 0

    def step() -> int:
        nonlocal count
        count += 1
        return 0

    with backend.transaction() as transaction:
        transaction.conn.set_progress_handler(step, STEP)
    try:
        with backend.transaction() as transaction:
            action(transaction)
    finally:
        with backend.transaction() as transaction:
            transaction.conn.set_progress_handler(None, STEP)
    return count * STEP
