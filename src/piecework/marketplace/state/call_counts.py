"""Counts calls of each requester operation since the database was created.

Storing each read-only call would cost a disk write, so counts wait in memory for the
next transaction that writes.
"""

import sqlite3
from collections import Counter


class CallCounts:
    """Counts that are stored with the next write."""

    def __init__(self) -> None:
        self._waiting: Counter[str] = Counter()

    def count(self, operation: str) -> None:
        """Count one more call of this operation, successful or not."""
        self._waiting[operation] += 1

    def write(self, conn: sqlite3.Connection) -> None:
        """Store waiting counts in the open transaction."""
        for operation, times in self._waiting.items():
            conn.execute(
                "INSERT INTO calls (operation, times) VALUES (?, ?) ON CONFLICT "
                "(operation) DO UPDATE SET times = times + excluded.times",
                (operation, times),
            )
        self._waiting.clear()

    def read(self, conn: sqlite3.Connection) -> dict[str, int]:
        """Return all counts, including waiting ones."""
        self.write(conn)
        rows = conn.execute("SELECT operation, times FROM calls ORDER BY operation")
        return {row["operation"]: row["times"] for row in rows}
