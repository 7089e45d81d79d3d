"""Scores of the test before the work: the newest of each worker."""

from collections.abc import Mapping
from datetime import datetime

from piecework.domain.ids import WorkerId
from piecework.store.columns import to_text
from piecework.store.database import Store


def keep(store: Store, scores: Mapping[WorkerId, int], *, at: datetime) -> None:
    """Store scores; a worker who took the test again has the new score."""
    rows = [(worker_id, score, to_text(at)) for worker_id, score in scores.items()]
    with store.db.atomic():
        store.db.executemany(
            "INSERT INTO scores (worker_id, score, seen_at) VALUES (?, ?, ?) "
            "ON CONFLICT (worker_id) DO UPDATE SET score = excluded.score, "
            "seen_at = excluded.seen_at WHERE scores.score <> excluded.score",
            rows,
        )


def load(store: Store) -> dict[WorkerId, int]:
    """Return the score of each worker who has taken the test."""
    return {
        WorkerId(row["worker_id"]): int(row["score"])
        for row in store.db.query("SELECT * FROM scores ORDER BY worker_id")
    }
