"""Results that other tools collected: their files, items and outcomes.

Imported assignments and answers are in the same tables as collected ones, so all code
that reads a store reads them. A time that a file does not tell is an empty text.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from piecework.domain.assignment import Answer, AssignmentStatus
from piecework.domain.hit import Item
from piecework.domain.ids import AnswerId, AssignmentId, HitId, HitKey, ItemId, WorkerId
from piecework.domain.imported import ImportedFile
from piecework.store.assignments import answer_row
from piecework.store.database import Store, insert, read_columns, to_text

_BATCH = 1
"""Everything imported is one batch, so heuristics see it together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedAssignment:
    """One worker's work on one HIT, with its typed answers.

    Attributes:
        item_ids: in the order of the row.
        raw: the contents of the row as JSON; answers can be typed again from it.
        outcomes: what was decided elsewhere about each answer, "" if undecided.
    """

    assignment_id: AssignmentId
    hit_id: HitId
    worker_id: WorkerId
    status: AssignmentStatus
    accepted_at: datetime | None
    submitted_at: datetime | None
    reward_cents: int
    item_ids: tuple[ItemId, ...]
    raw: str
    answers: tuple[Answer, ...]
    outcomes: Mapping[AnswerId, str]
    feedback: str = ""


def begin_import(store: Store, file: ImportedFile, *, at: datetime) -> int:
    """Record that the import of a file begins; return its number."""
    (number,) = store.db.execute(
        "INSERT INTO imports (file, sha256, format, imported_at) "
        "VALUES (?, ?, ?, ?) RETURNING import_id",
        [file.file, file.sha256, file.format_name, to_text(at)],
    ).fetchone()
    return int(number)


def end(store: Store, number: int, counts: ImportedFile) -> None:
    """Record the counts of an import."""
    store.db.execute(
        "UPDATE imports SET assignments = ?, known = ?, not_sent = ?, unreadable = ? "
        "WHERE import_id = ?",
        [counts.assignments, counts.known, counts.not_sent, counts.unreadable, number],
    )


def files(store: Store) -> list[ImportedFile]:
    """Return all imports, in their order."""
    return [
        ImportedFile(**row)
        for row in store.db.query(
            "SELECT file, sha256, format AS format_name, assignments, known, not_sent, "
            "unreadable FROM imports ORDER BY import_id"
        )
    ]


def keep_unreadable(
    store: Store,
    number: int,
    place: int,
    *,
    line: int,
    column: str,
    fault: str,
    cells: str,
    worker_id: str,
) -> None:
    """Set aside a row that could not be read; part of the caller's transaction.

    Args:
        store: the campaign's memory.
        number: the import's number.
        place: among the import's unreadable rows, from 1. Several may have one line.
        line: where it is in the file.
        column: the column with the fault; "" if none.
        fault: what was found and what is allowed.
        cells: the row as far as it was read, as a list in JSON.
        worker_id: who wrote it; "" if that is not known.
    """
    row = {
        "import_id": number,
        "place": place,
        "line": line,
        "column_name": column,
        "fault": fault,
        "cells": cells,
        "worker_id": worker_id,
    }
    insert(store, "unreadable_rows", [row])


def workers_set_aside(store: Store) -> list[WorkerId]:
    """Return the workers who are known to have unreadable rows."""
    rows = store.db.execute(
        "SELECT DISTINCT worker_id FROM unreadable_rows WHERE worker_id <> '' ORDER BY 1"
    )
    return [WorkerId(worker_id) for (worker_id,) in rows]


def keep_items(store: Store, items: Iterable[Mapping[str, str]], *, key: str) -> None:
    """Store items by their column `key`; known ones stay as they are."""
    rows = [{"item_id": columns[key], "columns": json.dumps(dict(columns))} for columns in items]
    insert(store, "imported_items", rows, or_ignore=True)


def items(store: Store) -> tuple[Item, ...]:
    """Return all items, in the order in which they came."""
    return tuple(
        Item(item_id=ItemId(item_id), columns=json.loads(columns))
        for item_id, columns in store.db.execute(
            "SELECT item_id, columns FROM imported_items ORDER BY rowid"
        )
    )


def known_raw(store: Store, assignment_ids: Iterable[AssignmentId]) -> dict[AssignmentId, str]:
    """Return the imported rows of those of these assignments that are stored."""
    rows = store.db.execute(
        "SELECT assignment_id, raw FROM raw_answers "
        "WHERE assignment_id IN (SELECT value FROM json_each(?))",
        [json.dumps(list(assignment_ids))],
    )
    return {AssignmentId(assignment_id): raw for assignment_id, raw in rows}


def keep_imported(
    store: Store, arrived: Iterable[ImportedAssignment], *, campaign: str, number: int, at: datetime
) -> None:
    """Store new assignments; part of the caller's transaction.

    Args:
        store: the campaign's memory.
        arrived: the assignments.
        campaign: its name, for the keys of HITs.
        number: the import's number.
        at: when they were imported.
    """
    arrived = list(arrived)
    moment = to_text(at)
    insert(
        store,
        "hits",
        (_hit_row(assignment, campaign, moment) for assignment in arrived),
        or_ignore=True,
    )
    insert(
        store,
        "items",
        (
            {"item_id": item_id, "batch": _BATCH}
            for assignment in arrived
            for item_id in assignment.item_ids
        ),
        or_ignore=True,
    )
    insert(store, "assignments", map(_assignment_row, arrived))
    insert(
        store,
        "raw_answers",
        (
            {"assignment_id": assignment.assignment_id, "raw": assignment.raw}
            for assignment in arrived
        ),
    )
    insert(
        store,
        "answers",
        (answer_row(answer) for assignment in arrived for answer in assignment.answers),
    )
    keep_outcomes(store, arrived, number=number)


def keep_outcomes(store: Store, arrived: Iterable[ImportedAssignment], *, number: int) -> None:
    """Store what was decided elsewhere; a later file replaces an earlier one."""
    store.db.executemany(
        "INSERT INTO outcomes (answer_id, outcome, feedback, import_id) "
        "VALUES (?, ?, ?, ?) ON CONFLICT (answer_id) DO UPDATE SET "
        "outcome = excluded.outcome, feedback = excluded.feedback, "
        "import_id = excluded.import_id",
        [
            (answer_id, outcome, assignment.feedback, number)
            for assignment in arrived
            for answer_id, outcome in assignment.outcomes.items()
        ],
    )


def count_slots(store: Store) -> None:
    """Give each HIT as many slots as it has assignments."""
    store.db.execute(
        "UPDATE hits SET max_assignments = max(1, (SELECT count(*) FROM assignments "
        "WHERE assignments.hit_id = hits.hit_id))"
    )


def retype(store: Store, answers: Iterable[Answer]) -> None:
    """Store answers that were typed again; verdicts stay. Part of a transaction."""
    store.db.executemany(
        "UPDATE answers SET fields = :fields, problems = :problems, "
        "also_sent = :also_sent WHERE answer_id = :answer_id",
        (
            {name: row[name] for name in ("fields", "problems", "also_sent", "answer_id")}
            for row in map(answer_row, answers)
        ),
    )


def outcomes(store: Store) -> dict[str, list[str]]:
    """Return decisions made elsewhere: `answer_id`, `outcome` and `feedback`."""
    return read_columns(
        store, "SELECT answer_id, outcome, feedback FROM outcomes ORDER BY answer_id"
    )


def most_answers(store: Store) -> int:
    """Return the largest number of answers that an item has; at least 1."""
    (most,) = store.db.execute(
        "SELECT max(n) FROM (SELECT count(*) AS n FROM answers GROUP BY item_id) AS counts"
    ).fetchone()
    return max(1, int(most or 0))


def _hit_row(assignment: ImportedAssignment, campaign: str, imported_at: str) -> dict[str, object]:
    begun = assignment.accepted_at or assignment.submitted_at
    return {
        "hit_key": HitKey(f"{campaign}.imported.{assignment.hit_id}"),
        "batch": _BATCH,
        "round": 0,
        "max_assignments": 1,
        "reward_cents": assignment.reward_cents,
        "fee_cents": 0,
        "item_ids": json.dumps(assignment.item_ids),
        "hit_type_id": "imported",
        "hit_id": assignment.hit_id,
        "posted_at": to_text(begun) if begun else imported_at,
        "collected_at": imported_at,
    }


def _assignment_row(assignment: ImportedAssignment) -> dict[str, object]:
    return {
        "assignment_id": assignment.assignment_id,
        "hit_id": assignment.hit_id,
        "worker_id": assignment.worker_id,
        "status_when_collected": assignment.status,
        "accepted_at": to_text(assignment.accepted_at) if assignment.accepted_at else "",
        "submitted_at": to_text(assignment.submitted_at) if assignment.submitted_at else "",
    }
