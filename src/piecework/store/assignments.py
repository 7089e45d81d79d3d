"""What workers sent: the document verbatim, the assignment, and its typed answers."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any

from piecework.domain.assignment import Answer, Assignment
from piecework.domain.column_names import MEASURES, PLAYED
from piecework.domain.ids import AnswerId, AssignmentId, HitId, ItemId, WorkerId
from piecework.domain.verdicts import Verdict
from piecework.store import archive
from piecework.store.database import Store, from_text, insert, parsed_moment, to_text

_UNDECIDED = """
    SELECT assignment_id FROM assignments WHERE verdict IS NULL
    UNION
    SELECT assignment_id FROM answers WHERE verdict IS NULL
"""
_IS_LOST = (
    "EXISTS (SELECT 1 FROM intents WHERE operation = 'forget' "
    "AND subject_kind = 'assignment' AND subject_id = assignment_id)"
)
"""SQL for whether the marketplace has lost an assignment (`piecework.engine.recover`)."""


Collected = tuple[Assignment, Iterable[Answer]]
"""An assignment and its answers."""


def keep_collected(store: Store, *collected: Collected) -> None:
    """Store new assignments and their answers; part of the caller's transaction.

    A known assignment is not stored again: it may be archived, or its worker forgotten.
    """
    rows = store.db.execute(
        "SELECT assignment_id FROM assignments "
        "WHERE assignment_id IN (SELECT value FROM json_each(?))",
        [json.dumps([assignment.assignment_id for assignment, _ in collected])],
    )
    known = {assignment_id for (assignment_id,) in rows}
    new = [pair for pair in collected if pair[0].assignment_id not in known]
    cells = [
        {
            "assignment_id": assignment.assignment_id,
            "hit_id": assignment.hit_id,
            "worker_id": assignment.worker_id,
            "status_when_collected": assignment.status,
            "accepted_at": to_text(assignment.accepted_at),
            "submitted_at": to_text(assignment.submitted_at),
            "auto_approved_at": _cell(assignment.auto_approved_at),
            "judge_by": _cell(assignment.judge_by),
        }
        for assignment, _ in new
    ]
    insert(store, "assignments", cells, or_ignore=True)
    documents = [
        {"assignment_id": assignment.assignment_id, "raw": assignment.raw} for assignment, _ in new
    ]
    insert(store, "raw_answers", documents, or_ignore=True)
    sent = (answer_row(answer) for _, answers in new for answer in answers)
    insert(store, "answers", sent, or_ignore=True)


def _cell(moment: datetime | None) -> str:
    return "" if moment is None else to_text(moment)


def load_assignments(
    store: Store, *, assignment_ids: Iterable[AssignmentId] | None = None
) -> list[Assignment]:
    """Return assignments in the order of their submission, without their documents.

    Args:
        store: the campaign's memory.
        assignment_ids: the assignments to load; all by default.
    """
    chosen, values = "", []
    if assignment_ids is not None:
        chosen = "WHERE assignment_id IN (SELECT value FROM json_each(?))"
        values = [json.dumps(list(assignment_ids))]
    return [
        Assignment(
            assignment_id=AssignmentId(row["assignment_id"]),
            hit_id=HitId(row["hit_id"]),
            worker_id=WorkerId(row["worker_id"]),
            status=row["status_when_collected"],
            accepted_at=from_text(row["accepted_at"]),
            submitted_at=from_text(row["submitted_at"]),
            auto_approved_at=parsed_moment(row["auto_approved_at"]),
        )
        for row in store.db.query(
            f"SELECT * FROM assignments {chosen} ORDER BY submitted_at, assignment_id", values
        )
    ]


def documents(store: Store) -> dict[AssignmentId, str]:
    """Return what was sent with each assignment, verbatim."""
    rows = store.db.execute("SELECT assignment_id, raw FROM raw_answers")
    both = chain(archive.documents(store), rows)
    return {AssignmentId(assignment_id): raw for assignment_id, raw in both}


def count_by_hit(store: Store, hit_ids: Iterable[HitId] | None = None) -> dict[HitId, int]:
    """Return how many assignments are stored for each of these HITs, or for all."""
    chosen, values = "", []
    if hit_ids is not None:
        chosen = "WHERE hit_id IN (SELECT value FROM json_each(?))"
        values = [json.dumps(list(hit_ids))]
    rows = store.db.query(
        f"SELECT hit_id, count(*) AS n FROM assignments {chosen} GROUP BY 1", values
    )
    return {HitId(row["hit_id"]): row["n"] for row in rows}


def count_assignments(store: Store) -> int:
    """Return how many assignments were collected."""
    (number,) = store.db.execute(
        "SELECT coalesce(sum(subjects), 0) FROM verdict_counts WHERE subject_kind = 'assignment'"
    ).fetchone()
    return int(number)


def names_also_sent(store: Store) -> dict[str, int]:
    """Return the names that were sent and are no fields, with the number of answers.

    The most frequent is first.
    """
    counts = Counter[str]()
    rows = store.db.execute("SELECT also_sent FROM answers WHERE also_sent <> ''")
    for (also_sent,) in rows:
        counts.update([*json.loads(also_sent)])
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def count_workers(store: Store) -> int:
    """Return how many workers have submitted work."""
    # The index is asked for the next worker each time, not read whole.
    row = store.db.execute(
        "WITH RECURSIVE known (worker_id) AS ("
        "SELECT min(worker_id) FROM assignments UNION ALL "
        "SELECT (SELECT min(worker_id) FROM assignments "
        "WHERE worker_id > known.worker_id) FROM known WHERE known.worker_id IS NOT "
        "NULL) SELECT count(worker_id) FROM known"
    )
    return int(row.fetchone()[0])


def workers_of_items(
    store: Store, item_ids: Iterable[ItemId], *, is_lost: bool = False
) -> list[WorkerId]:
    """Return who has answered any of these items, with any verdict.

    If `is_lost` is set, only in work that the marketplace has lost.
    """
    rows = store.db.execute(
        "SELECT DISTINCT worker_id FROM answers JOIN assignments USING (assignment_id) "
        "WHERE item_id IN (SELECT value FROM json_each(?)) "
        + (f"AND {_IS_LOST} " if is_lost else "")
        + "ORDER BY worker_id",
        [json.dumps(list(item_ids))],
    )
    return [WorkerId(worker_id) for (worker_id,) in rows]


def all_workers(store: Store) -> list[WorkerId]:
    """Return everybody who submitted work."""
    rows = store.db.execute("SELECT DISTINCT worker_id FROM assignments ORDER BY 1")
    return [WorkerId(worker_id) for (worker_id,) in rows]


def ids_unlike_items(store: Store) -> list[AssignmentId]:
    """Return the ids of assignments; files of other tools may name them as items."""
    rows = store.db.execute(
        "SELECT assignment_id FROM assignments "
        "WHERE assignment_id NOT IN (SELECT item_id FROM items) ORDER BY 1"
    )
    return [AssignmentId(assignment_id) for (assignment_id,) in rows]


def assignment_of(store: Store, answer_id: str) -> AssignmentId | None:
    """Return the assignment of an answer; `None` if there is no such answer."""
    return next(iter(assignments_of(store, [answer_id])), None)


def assignments_of(store: Store, answer_ids: Iterable[str]) -> set[AssignmentId]:
    """Return the assignments of these answers."""
    rows = store.db.execute(
        "SELECT DISTINCT assignment_id FROM answers "
        "WHERE answer_id IN (SELECT value FROM json_each(?))",
        [json.dumps(list(answer_ids))],
    )
    return {AssignmentId(assignment_id) for (assignment_id,) in rows}


def has_undecided(store: Store) -> bool:
    """Whether an assignment or an answer has no verdict yet."""
    return store.db.execute(f"{_UNDECIDED} LIMIT 1").fetchone() is not None


def undecided(store: Store, *, due_at: datetime | None = None) -> frozenset[AssignmentId]:
    """Return assignments that lack a verdict, or that have an answer without one.

    Args:
        store: the campaign's memory.
        due_at: only those that have to be judged by this time or earlier.
    """
    rows = store.db.execute(
        f"SELECT assignment_id FROM ({_UNDECIDED}) AS undecided JOIN assignments "
        "USING (assignment_id) WHERE judge_by BETWEEN ? AND ?",
        # What has no such time is judged with its batch.
        ["", "9999"] if due_at is None else ["0", to_text(due_at)],
    )
    return frozenset(AssignmentId(assignment_id) for (assignment_id,) in rows)


def decided_answers(store: Store, assignment_ids: Iterable[AssignmentId]) -> list[AnswerId]:
    """Return the answers of these assignments that have a verdict."""
    rows = store.db.execute(
        "SELECT answer_id FROM answers WHERE verdict IS NOT NULL "
        "AND assignment_id IN (SELECT value FROM json_each(?))",
        [json.dumps(list(assignment_ids))],
    )
    return [AnswerId(answer_id) for (answer_id,) in rows]


def next_due(store: Store, moment: datetime) -> datetime | None:
    """Return when the first undecided assignment has to be judged after a given time."""
    (earliest,) = store.db.execute(
        f"SELECT min(judge_by) FROM ({_UNDECIDED}) AS undecided JOIN assignments "
        "USING (assignment_id) WHERE judge_by > ?",
        [to_text(moment)],
    ).fetchone()
    return parsed_moment(earliest)


def first_auto_approval(store: Store, assignment_ids: Iterable[AssignmentId]) -> datetime | None:
    """Return when the platform approves the first of these without a verdict, if any."""
    (earliest,) = store.db.execute(
        "SELECT min(auto_approved_at) FROM assignments WHERE verdict IS NULL "
        "AND auto_approved_at <> '' AND assignment_id IN (SELECT value FROM json_each(?))",
        [json.dumps(list(assignment_ids))],
    ).fetchone()
    return parsed_moment(earliest)


def verdict_and_outcome(
    store: Store, assignment_id: AssignmentId
) -> tuple[Verdict | None, str | None]:
    """Return the verdict in force about an assignment, and how it was carried out."""
    verdict, outcome = store.db.execute(
        "SELECT verdict, outcome FROM assignments WHERE assignment_id = ?", [assignment_id]
    ).fetchone()
    return verdict, outcome


def with_lost_work(store: Store, worker_ids: Iterable[WorkerId]) -> frozenset[WorkerId]:
    """Return those of these workers who have done work that the marketplace has lost."""
    rows = store.db.execute(
        f"SELECT DISTINCT worker_id FROM assignments WHERE {_IS_LOST} "
        "AND worker_id IN (SELECT value FROM json_each(?))",
        [json.dumps(list(worker_ids))],
    )
    return frozenset(WorkerId(worker_id) for (worker_id,) in rows)


def rejected_of(store: Store, assignment_ids: Iterable[AssignmentId]) -> set[AssignmentId]:
    """Return those of these assignments that are rejected."""
    rows = store.db.execute(
        "SELECT assignment_id FROM assignments WHERE verdict = 'reject' "
        "AND assignment_id IN (SELECT value FROM json_each(?))",
        [json.dumps(list(assignment_ids))],
    )
    return {AssignmentId(name) for (name,) in rows}


def mark_settled(store: Store, assignment_id: AssignmentId, *, outcome: str | None) -> None:
    """Record how the verdict about an assignment was carried out.

    `None` means not yet. Part of the caller's transaction.
    """
    store.db.execute(
        "UPDATE assignments SET outcome = ? WHERE assignment_id = ?", [outcome, assignment_id]
    )


def answers_with(store: Store, assignment_id: AssignmentId, verdict: Verdict) -> list[AnswerId]:
    """Return the answers of an assignment that have this verdict, by position."""
    rows = store.db.execute(
        "SELECT answer_id FROM answers WHERE assignment_id = ? AND verdict = ? ORDER BY position",
        [assignment_id, verdict],
    )
    return [AnswerId(answer_id) for (answer_id,) in rows]


def verdicts_of_answers(
    store: Store, assignment_ids: Iterable[AssignmentId]
) -> list[tuple[AnswerId, AssignmentId, Verdict | None]]:
    """Return the answers of these assignments, each with its assignment and verdict."""
    rows = store.db.execute(
        "SELECT answer_id, assignment_id, verdict FROM answers "
        "WHERE assignment_id IN (SELECT value FROM json_each(?)) ORDER BY number",
        [json.dumps(list(assignment_ids))],
    )
    return [
        (AnswerId(answer_id), AssignmentId(assignment_id), verdict)
        for answer_id, assignment_id, verdict in rows
    ]


def verdicts_by_answer(
    store: Store, answer_ids: Iterable[AnswerId]
) -> dict[AnswerId, Verdict | None]:
    """Return the verdict in force about each of these answers; `None` if undecided."""
    rows = store.db.execute(
        "SELECT answer_id, verdict FROM answers "
        "WHERE answer_id IN (SELECT value FROM json_each(?))",
        [json.dumps(list(answer_ids))],
    )
    return {AnswerId(answer_id): verdict for answer_id, verdict in rows}


def with_verdict(store: Store, answer_ids: Iterable[AnswerId], verdict: Verdict) -> list[AnswerId]:
    """Return those of these answers that have this verdict."""
    rows = store.db.execute(
        "SELECT answer_id FROM answers WHERE verdict = ? "
        "AND answer_id IN (SELECT value FROM json_each(?))",
        [verdict, json.dumps(list(answer_ids))],
    )
    return [AnswerId(answer_id) for (answer_id,) in rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictCounts:
    """How much work came, and how it was decided.

    Attributes:
        rejected: assignments, without those that the platform had already paid.
        excluded: workers who were excluded or blocked.
        with_more: answers with which something was sent that is not a field.
    """

    assignments: int
    answers: int
    dropped: int
    rejected: int
    excluded: int
    with_more: int


def count_verdicts(store: Store, *, paid_already: str) -> VerdictCounts:
    """Count assignments, answers and workers by the verdict in force.

    Args:
        store: the campaign's memory.
        paid_already: the outcome of a rejection that came too late.
    """
    assignments, answers, rejected, dropped, excluded, with_more = store.db.execute(
        "SELECT coalesce(sum(iif(subject_kind = 'assignment', subjects, 0)), 0), "
        "coalesce(sum(iif(subject_kind = 'answer', subjects, 0)), 0), "
        "coalesce(sum(iif(verdict = 'reject' AND outcome <> ?, subjects, 0)), 0), "
        "coalesce(sum(iif(verdict = 'drop', subjects, 0)), 0), "
        "(SELECT count(*) FROM decisions WHERE verdict IN ('exclude', 'block') "
        "AND decision_id IN (SELECT max(decision_id) FROM decisions "
        "WHERE subject_kind = 'worker' GROUP BY subject_id)), "
        "(SELECT count(*) FROM answers WHERE also_sent <> '') FROM verdict_counts",
        [paid_already],
    ).fetchone()
    return VerdictCounts(
        assignments=assignments,
        answers=answers,
        dropped=dropped,
        rejected=rejected,
        excluded=excluded,
        with_more=with_more,
    )


def answer_row(answer: Answer) -> dict[str, str | int]:
    """Return an answer's cells in the table `answers`."""
    fields: dict[str, Any] = {
        "values": dict(answer.values),
        **{name: getattr(answer, name) for name in MEASURES},
        **({} if answer.played is None else {PLAYED: answer.played}),
        **_shown(answer),
    }
    return {
        "answer_id": answer.answer_id,
        "assignment_id": answer.assignment_id,
        "item_id": answer.item_id,
        "position": answer.position,
        "fields": json.dumps(fields),
        "problems": json.dumps(answer.problems),
        "also_sent": json.dumps(dict(answer.also_sent)) if answer.also_sent else "",
    }


def _shown(answer: Answer) -> Mapping[str, object]:
    """Return how the page showed the item, fields asked once, and records of typing."""
    shown = {
        "place": answer.place,
        "orders": dict(answer.orders),
        "hit_values": dict(answer.hit_values),
        "typing": {name: record.as_json() for name, record in answer.typing.items()},
    }
    return {name: value for name, value in shown.items() if value not in (None, {})}
