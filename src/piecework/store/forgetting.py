"""Removal of what one worker wrote, at the worker's request.

Rows that money, totals and other workers' results depend on stay, under the worker's id:
assignments, verdicts, payments. Their content is removed, also from the archive.
"""

from dataclasses import dataclass
from datetime import datetime

from piecework.domain.ids import WorkerId
from piecework.domain.verdicts import Decision
from piecework.store import archive, decisions
from piecework.store.archive import FORGOTTEN
from piecework.store.database import Store, writing

BECAUSE = "The worker asked that their data be deleted."
"""Why answers are dropped."""

_ASSIGNMENTS = "SELECT assignment_id FROM assignments WHERE worker_id = :worker"
_ANSWERS = f"SELECT answer_id FROM answers WHERE assignment_id IN ({_ASSIGNMENTS})"
_FINDINGS = (
    "FROM findings WHERE subject_id = :worker "
    f"OR subject_id IN ({_ASSIGNMENTS}) OR subject_id IN ({_ANSWERS})"
)
_LEFT = f"""
SELECT
    (SELECT count(*) FROM answers WHERE assignment_id IN ({_ASSIGNMENTS})
        AND fields <> '{FORGOTTEN}') AS answers,
    (SELECT count(*) {_FINDINGS}) AS findings,
    (SELECT count(*) FROM scores WHERE worker_id = :worker) AS scores
"""
_KEPT = f"{_ANSWERS} AND verdict = 'keep' ORDER BY answer_id"
_REMOVALS = (
    f"DELETE FROM raw_answers WHERE assignment_id IN ({_ASSIGNMENTS})",
    f"DELETE FROM edits WHERE answer_id IN ({_ANSWERS})",
    f"DELETE FROM edit_proposals WHERE answer_id IN ({_ANSWERS})",
    f"DELETE {_FINDINGS}",
    "DELETE FROM scores WHERE worker_id = :worker",
    f"UPDATE outcomes SET feedback = '' WHERE answer_id IN ({_ANSWERS})",
)
_EMPTY = (
    f"UPDATE answers SET fields = '{FORGOTTEN}', problems = '[]', also_sent = '' "
    f"WHERE assignment_id IN ({_ASSIGNMENTS})"
)
_REASONS = (
    # A reason may quote the answer.
    "UPDATE decisions SET because = :because WHERE subject_kind = 'answer' "
    f"AND subject_id IN ({_ANSWERS})"
)
_UNSETTLED = """
SELECT
    (SELECT count(*) FROM assignments WHERE worker_id = :worker AND (verdict IS NULL
        OR outcome IS NULL OR EXISTS (SELECT 1 FROM answers WHERE verdict IS NULL
            AND answers.assignment_id = assignments.assignment_id))),
    (SELECT count(*) FROM intents WHERE done_at IS NULL AND (subject_id = :worker
        OR subject_id IN (SELECT assignment_id FROM assignments WHERE worker_id = :worker)))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Removable:
    """What a store has of a worker that can be removed.

    Attributes:
        answers: answers with content.
        findings: findings of heuristics, whose evidence may quote answers.
        scores: scores of the test before the work.
    """

    answers: int
    findings: int
    scores: int


def removable(store: Store, worker_id: WorkerId) -> Removable:
    """Count what `forget_worker` would remove."""
    (row,) = store.db.query(_LEFT, {"worker": worker_id})
    return Removable(**row)


def unsettled(store: Store, worker_id: WorkerId) -> tuple[int, int]:
    """Return the number of a worker's assignments that are not settled, and of open acts."""
    assignments, acts = store.db.execute(_UNSETTLED, {"worker": worker_id}).fetchone()
    return int(assignments), int(acts)


def forget_worker(store: Store, worker_id: WorkerId, *, at: datetime, by: str) -> None:
    """Remove what a worker wrote; their kept answers are dropped first.

    The caller holds the campaign's lock (`piecework.store.lock`). Repeating it has no
    effect, and finishes what an interruption left.

    Args:
        store: the campaign's memory.
        worker_id: the worker.
        at: the current time.
        by: who removes it.

    Raises:
        StoreError: a file of the archive is missing or was changed.
    """
    values = {"worker": worker_id}
    names = [name for (name,) in store.db.execute(_ASSIGNMENTS, values)]
    rewritten = archive.rewrite_without(store, names)
    with writing(store):
        decisions.overrule(
            store,
            [
                Decision(
                    subject_kind="answer",
                    subject_id=answer_id,
                    verdict="drop",
                    decided_by=by,
                    decided_at=at,
                    because=BECAUSE,
                )
                for (answer_id,) in store.db.execute(_KEPT, values).fetchall()
            ],
        )
        for removal in (*_REMOVALS, _EMPTY):
            store.db.execute(removal, values)
        store.db.execute(_REASONS, {"worker": worker_id, "because": BECAUSE})
        archive.replace_parts(store, rewritten, at=at)
    archive.remove_unnamed_files(store)
    # Deleted rows stay readable in a file's free pages.
    store.db.compact()
