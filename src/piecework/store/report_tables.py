"""Tables that only a report reads, as columns; worker ids are in the clear here."""

from typing import Any

from piecework.store.columns import read_columns
from piecework.store.database import Store
from piecework.store.hits import ROUND

Columns = dict[str, list[Any]]
"""Cells by column: text, numbers, `None`; times as ISO 8601 text."""

_ROUNDS = f"""
SELECT batch, round, hits, assignments_wanted, posted_at,
    max(submitted) AS last_submitted_at,
    count(submitted) AS assignments_submitted, max(settled) AS settled_at
FROM (
    SELECT batch, round, count(*) AS hits, sum(max_assignments) AS assignments_wanted,
        min(posted_at) AS posted_at
    FROM hits GROUP BY batch, round
) AS posted LEFT JOIN (
    SELECT hits.batch, {ROUND} AS round, submitted_at AS submitted,
        decided_at AS settled
    FROM assignments JOIN hits USING (hit_id) LEFT JOIN (
        SELECT subject_id, decided_at FROM decisions WHERE decision_id IN (
            SELECT max(decision_id) FROM decisions
            WHERE subject_kind = 'assignment' GROUP BY subject_id)
    ) AS settlings ON subject_id = assignment_id
) AS sent USING (batch, round)
GROUP BY batch, round, hits, assignments_wanted, posted_at ORDER BY batch, round
"""

_DECISIONS = """
SELECT subject_kind, subject_id, decisions.verdict, decided_by, decided_at, because,
    coalesce(assignments.outcome, '') AS outcome
FROM (
    SELECT max(decision_id) AS latest, min(decision_id) AS first FROM decisions
    GROUP BY subject_kind, subject_id
) AS ends
JOIN decisions ON decision_id = latest
LEFT JOIN assignments ON subject_kind = 'assignment' AND assignment_id = subject_id
ORDER BY first
"""


def rounds(store: Store) -> Columns:
    """Return a row per batch and round: what was posted, what came, and when."""
    return read_columns(store, _ROUNDS)


def decisions(store: Store) -> Columns:
    """Return a row per subject: its decision in force, and an assignment's outcome.

    The rows are in the order in which the subjects were first decided.
    """
    return read_columns(store, _DECISIONS)


def findings(store: Store) -> Columns:
    """Return a row per stored finding, by subject."""
    return read_columns(
        store,
        "SELECT heuristic, version, subject_kind, subject_id, suspicion, flag, "
        "evidence FROM findings ORDER BY subject_kind, subject_id, heuristic",
    )


def assignments(store: Store) -> Columns:
    """Return a row per assignment, in the order of submission."""
    return read_columns(
        store,
        "SELECT assignment_id, worker_id, accepted_at, submitted_at, verdict, outcome "
        "FROM assignments ORDER BY submitted_at, assignment_id",
    )


def by_market(store: Store) -> Columns:
    """Return a row per assignment of a HIT with a market: who did it, and when."""
    return read_columns(
        store,
        "SELECT market, assignment_id, worker_id, accepted_at, submitted_at "
        "FROM assignments JOIN hits USING (hit_id) WHERE market <> '' "
        "ORDER BY submitted_at, assignment_id",
    )


def rewards(store: Store) -> Columns:
    """Return a row per assignment: what was offered for it, and how long it took."""
    return read_columns(
        store,
        "SELECT batch, assignment_id, worker_id, accepted_at, submitted_at, "
        "reward_cents "
        "FROM assignments JOIN hits USING (hit_id) "
        "ORDER BY submitted_at, assignment_id",
    )
