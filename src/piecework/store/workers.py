"""What is known of workers and of markets: their work, test scores, simulated traits.

Worker ids are in the clear. Traits are those of simulated workers, which only a rehearsal
knows. They are kept in the store, so that a later report says the same. Only the report
reads them: if a step used them, the rehearsal would prove little.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from piecework.domain.ids import AssignmentId, WorkerId
from piecework.store import ledger
from piecework.store.database import Store, parsed_moment, to_text
from piecework.store.forgetting import forgotten
from piecework.store.settlements import ELSEWHERE

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
_REJECTED_ELSEWHERE = """
SELECT worker_id, because, count(*) FROM assignments JOIN decisions
ON subject_kind = 'assignment' AND subject_id = assignment_id AND decided_by = :elsewhere
AND decision_id = (SELECT max(decision_id) FROM decisions AS latest
    WHERE latest.subject_kind = 'assignment' AND latest.subject_id = assignment_id)
WHERE assignments.verdict = 'reject' AND outcome IS DISTINCT FROM :paid_already
GROUP BY worker_id, because ORDER BY worker_id, because
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
        rejected_elsewhere: how many of these were rejected outside of the campaign, by reason.
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
    rejected_elsewhere: Mapping[str, int] = field(default_factory=dict)


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
    elsewhere: dict[str, dict[str, int]] = {}
    for worker_id, because, number in store.db.execute(
        _REJECTED_ELSEWHERE, {"elsewhere": ELSEWHERE, "paid_already": paid_already}
    ):
        elsewhere.setdefault(worker_id, {})[because] = number
    paid = paid_from(store, "rewards", "bonuses", "compensations")
    return {
        WorkerId(worker_id): WorkerTotals(
            **sent.get(worker_id, {}),
            **answered.get(worker_id, {}),
            paid_cents=paid.get(worker_id, 0),
            flags=flags.get(worker_id, {}),
            rejected_elsewhere=elsewhere.get(worker_id, {}),
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


def paid_from(store: Store, *accounts: ledger.Account) -> dict[str, int]:
    """Return what each worker got from these accounts, in cents without fees."""
    by_subject = ledger.paid_cents(store, *accounts)
    paid: dict[str, int] = {}
    for assignment_id, worker_id in store.db.execute(
        "SELECT assignment_id, worker_id FROM assignments"
    ):
        paid[worker_id] = paid.get(worker_id, 0) + by_subject.pop(assignment_id, 0)
    # A compensation is for a worker, and not for an assignment.
    for subject, cents in by_subject.items():
        paid[str(subject)] = paid.get(str(subject), 0) + cents
    return paid


@dataclass(frozen=True, slots=True, kw_only=True)
class MarketWork:
    """The work of one market; assignments are counted by the slots of their HITs.

    Attributes:
        hits: HITs that were planned for it, without added slots.
        planned: assignments that were ever planned for it.
        open: those of them that are not posted, or whose HIT is not collected.
        collected: assignments that were submitted and fetched.
        first_posted_at: when its first HIT was posted; `None`: none was.
    """

    hits: int
    planned: int
    open: int
    collected: int
    first_posted_at: datetime | None


def work_by_market(store: Store) -> dict[str, MarketWork]:
    """Return the work of each market that has any HIT; "" for HITs without a market."""
    collected = dict(
        store.db.execute(
            "SELECT market, count(*) FROM assignments JOIN hits USING (hit_id) GROUP BY market"
        )
    )
    rows = store.db.query(
        "SELECT hits.market AS market, "
        "sum(CASE WHEN hits.extends IS NULL THEN 1 ELSE 0 END) AS hits, "
        "sum(hits.max_assignments) AS planned, "
        "sum(CASE WHEN hits.posted_at IS NULL OR whole.collected_at IS NULL "
        "THEN hits.max_assignments ELSE 0 END) AS open, "
        "min(hits.posted_at) AS first_posted_at "
        "FROM hits JOIN hits AS whole "
        "ON whole.hit_key = coalesce(hits.extends, hits.hit_key) "
        "GROUP BY hits.market ORDER BY min(hits.rowid)"
    )
    return {
        row["market"]: MarketWork(
            hits=row["hits"],
            planned=row["planned"],
            open=row["open"],
            collected=collected.get(row["market"], 0),
            first_posted_at=parsed_moment(row["first_posted_at"]),
        )
        for row in rows
    }


def market_of_assignment(store: Store, assignment_id: AssignmentId) -> str:
    """Return the market of an assignment's HIT; "" if it has none or is unknown."""
    row = store.db.execute(
        "SELECT market FROM hits JOIN assignments USING (hit_id) WHERE assignment_id = ?",
        [assignment_id],
    ).fetchone()
    return str(row[0]) if row else ""


def market_of_worker(store: Store, worker_id: str) -> str:
    """Return the market of a worker's latest assignment; "" if it is not known."""
    row = store.db.execute(
        "SELECT market FROM hits JOIN assignments USING (hit_id) "
        "WHERE worker_id = ? AND market <> '' ORDER BY submitted_at DESC LIMIT 1",
        [worker_id],
    ).fetchone()
    return str(row[0]) if row else ""


def keep_scores(store: Store, scores: Mapping[WorkerId, int], *, at: datetime) -> None:
    """Store scores; a worker who took the test again has the new score.

    The marketplace still has those of forgotten workers, which are left out.
    """
    gone = forgotten(store, scores)
    rows = [
        (worker_id, score, to_text(at))
        for worker_id, score in scores.items()
        if worker_id not in gone
    ]
    with store.db.atomic():
        store.db.executemany(
            "INSERT INTO scores (worker_id, score, seen_at) VALUES (?, ?, ?) "
            "ON CONFLICT (worker_id) DO UPDATE SET score = excluded.score, "
            "seen_at = excluded.seen_at WHERE scores.score <> excluded.score",
            rows,
        )


def load_scores(store: Store) -> dict[WorkerId, int]:
    """Return the score of each worker who has taken the test."""
    return {
        WorkerId(row["worker_id"]): int(row["score"])
        for row in store.db.query("SELECT * FROM scores ORDER BY worker_id")
    }


def keep_traits(store: Store, traits: Mapping[WorkerId, str], bad: frozenset[str]) -> None:
    """Store each simulated worker's trait, and which traits mean bad work.

    Participants become workers when they arrive, so more may follow.
    """
    rows = {worker: (trait, trait in bad) for worker, trait in traits.items()}
    if rows.items() <= load_traits(store).items():
        return
    with store.db.atomic():
        store.db.executemany(
            "INSERT INTO simulated_workers (worker_id, trait, is_bad) "
            "VALUES (?, ?, ?) ON CONFLICT (worker_id) DO UPDATE SET "
            "trait = excluded.trait, is_bad = excluded.is_bad",
            [(worker, *row) for worker, row in rows.items()],
        )


def load_traits(store: Store) -> dict[WorkerId, tuple[str, bool]]:
    """Return the trait and whether it means bad work, by worker, in a rehearsal."""
    return {
        WorkerId(worker): (trait, bool(is_bad))
        for worker, trait, is_bad in store.db.execute(
            "SELECT worker_id, trait, is_bad FROM simulated_workers ORDER BY worker_id"
        )
    }
