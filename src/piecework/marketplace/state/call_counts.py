"""How often each requester operation was called since the database was made.

Counts of calls that only read would cost a disk write each, so they wait in memory for
the next transaction that writes anyway.
"""

import sqlite3
from collections import Counter


class CallCounts:
    """Counts that are written along with whatever is written next."""

    def __init__(self) -> None:
        self._waiting: Counter[str] = Counter()

    def count(self, operation: str) -> None:
        """One more call of this operation, whatever came of it."""
        self._waiting[operation] += 1

    def write(self, conn: sqlite3.Connection) -> None:
        """Write down what waits; part of the open transaction."""
        for operation, times in self._waiting.items():
            conn.execute(
                "INSERT INTO calls (operation, times) VALUES (?, ?) ON CONFLICT "
                "(operation) DO UPDATE SET times = times + excluded.times",
                (operation, times),
            )
        self._waiting.clear()

    def read(self, conn: sqlite3.Connection) -> dict[str, int]:
        """All counts, those that wait included."""
        self.write(conn)
        rows = conn.execute("SELECT operation, times FROM calls ORDER BY operation")
        return {row["operation"]: row["times"] for row in rows}
