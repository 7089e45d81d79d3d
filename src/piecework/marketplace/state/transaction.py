"""One open transaction, with the current time and the source of new ids.

Every operation of either side takes a `Transaction` and values and returns values. It
never commits, reads a clock or sees a request.
"""

import sqlite3
from dataclasses import dataclass

from piecework.marketplace.state.ids import IdGenerator
from piecework.marketplace.state.money import MTURK, PriceList

_NO_END = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """The resources of an operation.

    Attributes:
        conn: the connection, in this transaction.
        now_ms: the current time.
        steady_ms: the time of a clock that cannot be set; within a process, two
            readings give the elapsed time.
        id_generator: makes new ids.
        held_ms: how far due work is held back behind the current time; 0 if the clock
            is trusted.
        has_backlog: whether due work is left.
        lag_ms: the age at which a HIT is listed; only a rehearsal's fault script sets
            it.
        prices: the currency of all amounts, and the fees.
        spend_at_most_cents: the spending limit of all requesters together, if any.
    """

    conn: sqlite3.Connection
    now_ms: int
    steady_ms: int
    id_generator: IdGenerator
    held_ms: int = 0
    has_backlog: bool = False
    lag_ms: int = 0
    prices: PriceList = MTURK
    spend_at_most_cents: int | None = None

    @property
    def due_ms(self) -> int:
        """The time up to which due work is done."""
        return self.now_ms - self.held_ms

    @property
    def listed_ms(self) -> int:
        """The creation time up to which HITs are listed.

        HITs created under a clock that was ahead are later than now and listed too.
        """
        return self.now_ms - self.lag_ms if self.lag_ms else _NO_END

    def first_row(self, sql: str, *values: object) -> sqlite3.Row | None:
        """Return the first row, if any."""
        row: sqlite3.Row | None = self.conn.execute(sql, values).fetchone()
        return row

    def all(self, sql: str, *values: object) -> list[sqlite3.Row]:
        """Return all rows."""
        return self.conn.execute(sql, values).fetchall()

    def execute(self, sql: str, *values: object) -> int:
        """Execute one statement, and return the id of a row that it created."""
        return self.conn.execute(sql, values).lastrowid or 0
