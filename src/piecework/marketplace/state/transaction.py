"""One open transaction, with the present moment and the source of new ids.

Every operation of either side takes a `Transaction` and values and returns values; it
never commits, never asks a clock, never sees a request.
"""

import sqlite3
from dataclasses import dataclass

from piecework.marketplace.state.ids import IdGenerator
from piecework.marketplace.state.money import MTURK, PriceList

_NO_END = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction:
    """What an operation may use.

    Attributes:
        conn: the connection, in this transaction.
        now_ms: the present.
        steady_ms: of a clock that counts on and cannot be set; while a process lasts,
            two of its moments tell how much time has passed.
        id_generator: makes new ids.
        held_ms: so far behind the present is the moment up to which what comes due is
            done; 0 where the clock is believed.
        has_backlog: whether some of what has come due is not done yet.
        lag_ms: how old a HIT must be to be in a list; only a rehearsal's script of
            faults sets it.
        prices: the currency of all amounts, and what fees there are.
        spend_at_most_cents: of all requesters together; None is no limit.
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
        """What comes due is done up to this moment."""
        return self.now_ms - self.held_ms

    @property
    def listed_ms(self) -> int:
        """HITs that were made up to this moment are in lists.

        Those of a clock that was ahead are made later than now; they are listed too.
        """
        return self.now_ms - self.lag_ms if self.lag_ms else _NO_END

    def one(self, sql: str, *values: object) -> sqlite3.Row | None:
        """The first row, if there is one."""
        row: sqlite3.Row | None = self.conn.execute(sql, values).fetchone()
        return row

    def all(self, sql: str, *values: object) -> list[sqlite3.Row]:
        """All rows."""
        return self.conn.execute(sql, values).fetchall()

    def execute(self, sql: str, *values: object) -> int:
        """Execute one statement; the id of the row that it made, if it made one."""
        return self.conn.execute(sql, values).lastrowid or 0
