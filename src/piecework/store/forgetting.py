"""Removal of what one worker wrote, at the worker's request.

Rows that money, totals and other workers' results depend on stay, under the worker's id:
assignments, verdicts, payments. Their content is removed, also from the archive. The
worker's pseudonym marks that nothing of it is stored again.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from piecework.domain.ids import WorkerId
from piecework.domain.verdicts import Decision, SubjectKind, Verdict
from piecework.postprocess.pseudonyms import pseudonym
from piecework.store import archive, bound, decisions
from piecework.store.archive import FORGOTTEN
from piecework.store.database import Store, insert, writing

BECAUSE = "The worker asked that their data be deleted."
"""Why answers are dropped."""

_ASSIGNMENTS = "SELECT assignment_id FROM assignments WHERE worker_id = :worker"
_ANSWERS = f"SELECT answer_id FROM answers WHERE assignment_id IN ({_ASSIGNMENTS})"
_ABOUT = (
    f"WHERE subject_id = :worker OR subject_id IN ({_ASSIGNMENTS}) OR subject_id IN ({_ANSWERS})"
)
_FINDINGS = f"FROM findings {_ABOUT}"
_LEFT = f"""
SELECT
    (SELECT count(*) FROM answers WHERE assignment_id IN ({_ASSIGNMENTS})
        AND fields <> '{FORGOTTEN}') AS answers,
    (SELECT count(*) {_FINDINGS}) AS findings,
    (SELECT count(*) FROM scores WHERE worker_id = :worker) AS scores,
    (SELECT count(*) FROM unreadable_rows WHERE worker_id = :worker) AS unreadable
"""
_NOT_DROPPED = f"{_ANSWERS} AND verdict IS DISTINCT FROM 'drop' ORDER BY answer_id"
_UNDECIDED = (
    # Imported work was settled elsewhere: to approve it pays nothing.
    f"{_ASSIGNMENTS} AND verdict IS NULL "
    "AND (SELECT environment FROM bound) = 'imported' ORDER BY assignment_id"
)
_DECIDED: tuple[tuple[str, SubjectKind, Verdict], ...] = (
    (_NOT_DROPPED, "answer", "drop"),
    (_UNDECIDED, "assignment", "approve"),
)
_REMOVALS = (
    f"DELETE FROM raw_answers WHERE assignment_id IN ({_ASSIGNMENTS})",
    f"DELETE FROM edits WHERE answer_id IN ({_ANSWERS})",
    f"DELETE FROM edit_proposals WHERE answer_id IN ({_ANSWERS})",
    f"DELETE {_FINDINGS}",
    f"DELETE FROM proposals {_ABOUT}",
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
        unreadable: imported rows that could not be read.
    """

    answers: int
    findings: int
    scores: int
    unreadable: int


def removable(store: Store, worker_id: WorkerId) -> Removable:
    """Count what `forget_worker` would remove."""
    (row,) = store.db.query(_LEFT, {"worker": worker_id})
    return Removable(**row)


def unsettled(store: Store, worker_id: WorkerId) -> tuple[int, int]:
    """Return the number of a worker's assignments that are not settled, and of open acts."""
    assignments, acts = store.db.execute(_UNSETTLED, {"worker": worker_id}).fetchone()
    return int(assignments), int(acts)


def forgotten(store: Store, worker_ids: Iterable[str]) -> set[str]:
    """Return those of these workers whose data were deleted at their request."""
    marks = {mark for (mark,) in store.db.execute("SELECT pseudonym FROM forgotten_workers")}
    if not marks:
        return set()
    key = _key(store)
    return {name for name in worker_ids if pseudonym(WorkerId(name), key) in marks}


def _key(store: Store) -> bytes:
    return bytes.fromhex(bound.read_bound(store).pseudonym_key or "")


def forget_worker(store: Store, worker_id: WorkerId, *, at: datetime, by: str) -> None:
    """Remove what a worker wrote; their answers are dropped first.

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
        for subjects, kind, verdict in _DECIDED:
            ids = store.db.execute(subjects, values).fetchall()
            decisions.overrule(
                store,
                [
                    Decision(
                        subject_kind=kind,
                        subject_id=subject_id,
                        verdict=verdict,
                        decided_by=by,
                        decided_at=at,
                        because=BECAUSE,
                    )
                    for (subject_id,) in ids
                ],
            )
        mark = {"pseudonym": pseudonym(worker_id, _key(store))}
        insert(store, "forgotten_workers", [mark], or_ignore=True)
        _empty_unreadable(store, worker_id)
        for removal in (*_REMOVALS, _EMPTY):
            store.db.execute(removal, values)
        store.db.execute(_REASONS, {"worker": worker_id, "because": BECAUSE})
        archive.replace_parts(store, rewritten, at=at)
    archive.remove_unnamed_files(store)
    # Deleted rows stay readable in a file's free pages.
    store.db.compact()


def _empty_unreadable(store: Store, worker_id: WorkerId) -> None:
    """Empty the worker's imported rows that could not be read.

    A row without a known worker is theirs if one of its cells is their id.
    """
    rows = store.db.execute(
        "SELECT import_id, place, worker_id, cells FROM unreadable_rows"
    ).fetchall()
    store.db.executemany(
        "UPDATE unreadable_rows SET fault = '', cells = '[]', worker_id = '' "
        "WHERE import_id = ? AND place = ?",
        [
            (number, place)
            for number, place, by, cells in rows
            if worker_id == by
            or (not by and worker_id in {cell.strip() for cell in json.loads(cells)})
        ],
    )
