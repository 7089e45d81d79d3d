"""What each worker submitted and what was found in it; worker ids are in the clear."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from piecework.domain.ids import WorkerId
from piecework.store import ledger
from piecework.store.database import Store

_SENT = """
SELECT worker_id, count(*) AS assignments,
    count(iif(verdict = 'reject' AND outcome IS DISTINCT FROM :paid_already, 1, NULL))
        AS rejected
FROM assignments GROUP BY worker_id
"""
_ANSWERED = """
SELECT worker_id, count(*) AS answers,
    count(iif(answers.verdict = 'keep', 1, NULL)) AS kept,
    count(iif(answers.verdict = 'drop', 1, NULL)) AS dropped
FROM answers JOIN assignments USING (assignment_id) GROUP BY worker_id
"""
_FLAGGED = """
SELECT worker_id, heuristic, count(*) AS flags FROM (
    SELECT subject_id AS worker_id, heuristic FROM findings
    WHERE flag = 1 AND subject_kind = 'worker'
    UNION ALL
    SELECT worker_id, heuristic FROM findings
    JOIN assignments ON assignment_id = subject_id
    WHERE flag = 1 AND subject_kind = 'assignment'
    UNION ALL
    SELECT worker_id, heuristic FROM findings JOIN answers ON answer_id = subject_id
    JOIN assignments USING (assignment_id)
    WHERE flag = 1 AND subject_kind = 'answer'
) AS flagged GROUP BY worker_id, heuristic ORDER BY worker_id, heuristic
"""
_OF_ONE = """
SELECT count(DISTINCT assignment_id) AS assignments, count(*) AS answers,
    count(DISTINCT iif(assignments.verdict = 'reject', assignment_id, NULL))
        AS rejected,
    count(iif(answers.verdict = 'keep', 1, NULL)) AS kept,
    count(iif(answers.verdict = 'drop', 1, NULL)) AS dropped
FROM assignments JOIN answers USING (assignment_id) WHERE worker_id = :worker
"""
_FLAGS_OF_ONE = """
SELECT heuristic, count(*) FROM findings WHERE flag = 1 AND heuristic <> :but AND (
    (subject_kind = 'worker' AND subject_id = :worker)
    OR (subject_kind = 'assignment' AND subject_id IN (
        SELECT assignment_id FROM assignments WHERE worker_id = :worker))
    OR (subject_kind = 'answer' AND subject_id IN (
        SELECT answer_id FROM assignments JOIN answers USING (assignment_id)
        WHERE worker_id = :worker))
) GROUP BY heuristic ORDER BY 2 DESC, 1
"""
_KNOWN = """
SELECT worker_id FROM assignments UNION SELECT worker_id FROM scores
UNION SELECT subject_id FROM decisions WHERE subject_kind = 'worker'
UNION SELECT subject_id FROM intents
    WHERE operation = 'compensation' AND done_at IS NOT NULL
ORDER BY worker_id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerTotals:
    """Totals of one worker's work.

    Attributes:
        assignments: submitted assignments.
        rejected: those of them that were not paid.
        answers: answers to items in them.
        paid_cents: rewards, bonuses and compensations, without fees.
        flags: how many subjects each heuristic flagged: the worker, assignments,
            answers.
    """

    assignments: int = 0
    rejected: int = 0
    answers: int = 0
    kept: int = 0
    dropped: int = 0
    paid_cents: int = 0
    flags: Mapping[str, int] = field(default_factory=dict)


def totals(store: Store, *, paid_already: str) -> dict[WorkerId, WorkerTotals]:
    """Return totals of all who submitted work, took the test, or got a decision.

    Workers who got a compensation are among them.

    Args:
        store: the campaign's memory.
        paid_already: the outcome of a rejection that came too late.
    """
    sent = _rows(store, _SENT, paid_already=paid_already)
    answered = _rows(store, _ANSWERED)
    flags: dict[str, dict[str, int]] = {}
    for worker_id, heuristic, number in store.db.execute(_FLAGGED):
        flags.setdefault(worker_id, {})[heuristic] = number
    paid = _paid(store)
    return {
        WorkerId(worker_id): WorkerTotals(
            **sent.get(worker_id, {}),
            **answered.get(worker_id, {}),
            paid_cents=paid.get(worker_id, 0),
            flags=flags.get(worker_id, {}),
        )
        for (worker_id,) in store.db.execute(_KNOWN)
    }


def totals_of(store: Store, worker_id: WorkerId, *, but: str = "") -> WorkerTotals:
    """Return totals of one worker's work, without pay.

    Args:
        store: the campaign's memory.
        worker_id: the worker.
        but: a heuristic to leave out.
    """
    values = {"worker": worker_id, "but": but}
    (row,) = store.db.query(_OF_ONE, values)
    flags = store.db.execute(_FLAGS_OF_ONE, values)
    return WorkerTotals(**row, flags=dict(flags))


def _rows(store: Store, sql: str, **values: str) -> dict[str, dict[str, int]]:
    return {
        row["worker_id"]: {k: v for k, v in row.items() if k != "worker_id"}
        for row in store.db.query(sql, values)
    }


def _paid(store: Store) -> dict[str, int]:
    by_assignment = ledger.paid_cents(store, "rewards", "bonuses")
    paid: dict[str, int] = {
        str(worker): cents for worker, cents in ledger.paid_cents(store, "compensations").items()
    }
    for assignment_id, worker_id in store.db.execute(
        "SELECT assignment_id, worker_id FROM assignments"
    ):
        paid[worker_id] = paid.get(worker_id, 0) + by_assignment.get(assignment_id, 0)
    return paid
