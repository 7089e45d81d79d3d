"""Tasks of a batch: made of a dataset's rows, put in groups, given to participants.

A task is one row with all questions. A participant does one group. Groups come from the
data, or are drawn from the rows at random, from the seed.
"""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from offline_markets.core.clock import SECOND
from offline_markets.prolific.beyond.task_builder import records
from offline_markets.prolific.state import State
from offline_markets.prolific.study import OPEN, PAID

_WITHOUT_TASK = (
    "SELECT datapoint.id, content FROM datapoint "
    "LEFT JOIN task ON datapoint_id = datapoint.id AND batch_id = ? "
    "WHERE dataset_id = ? AND task.id IS NULL ORDER BY datapoint.number"
)


def plan(state: State, kind: str, subject: str) -> None:
    """Plan work on a batch, which takes as long as the switch says."""
    at_ms = state.now_ms + state.switches.settling_seconds * SECOND
    state.plan(kind, subject, at_ms=at_ms)


def set_up(state: State, batch_id: str) -> None:
    """Make the tasks of a batch from all rows of its dataset."""
    [batch] = state.rows("SELECT * FROM batch WHERE id = ?", (batch_id,))
    made = _make(state, batch)
    state.conn.execute(
        "UPDATE batch SET status = ? WHERE id = ?",
        ("READY" if made["tasks_created"] else "ERROR", batch_id),
    )


def begin_sync(state: State, batch: sqlite3.Row) -> str:
    """Plan to make tasks of new rows; return the id of this job."""
    sync_id = state.new_uuid()
    state.conn.execute(
        "INSERT INTO batch_sync (id, batch_id, dataset_id, created_ms, updated_ms) "
        "VALUES (?1, ?2, ?3, ?4, ?4)",
        (sync_id, batch["id"], batch["dataset_id"], state.now_ms),
    )
    plan(state, "sync", sync_id)
    return sync_id


def synchronize(state: State, sync_id: str) -> None:
    """Make tasks of the rows that have none yet."""
    [job] = state.rows("SELECT * FROM batch_sync WHERE id = ?", (sync_id,))
    [batch] = state.rows("SELECT * FROM batch WHERE id = ?", (job["batch_id"],))
    state.conn.execute(
        "UPDATE batch_sync SET status = 'complete', outcome = ?, updated_ms = ? WHERE id = ?",
        (json.dumps(_make(state, batch)), state.now_ms, sync_id),
    )


def follow(state: State, dataset_id: str) -> None:
    """Plan tasks for a dataset's new rows, in batches that want them at once."""
    for batch in state.rows(
        "SELECT * FROM batch WHERE dataset_id = ? AND auto_sync AND status = 'READY'", (dataset_id,)
    ):
        begin_sync(state, batch)


def free_group(state: State, batch_id: str, participant_id: str, *, annotators: int) -> str | None:
    """Return the group that the fewest do and this participant has not; or None.

    Args:
        state: the emulator's memory.
        batch_id: the batch.
        participant_id: the participant.
        annotators: how many participants do each group.
    """
    marks = ", ".join("?" for _ in (*OPEN, *PAID))
    row = state.row(
        "SELECT task_group.id FROM task_group "
        "LEFT JOIN group_assignment ON group_id = task_group.id "
        "LEFT JOIN submission ON submission.id = submission_id "
        "WHERE batch_id = ? GROUP BY task_group.id "
        f"HAVING count(*) FILTER (WHERE status IN ({marks})) < ? "
        "AND NOT count(*) FILTER (WHERE participant_id = ?) "
        f"ORDER BY count(*) FILTER (WHERE status IN ({marks})), task_group.number",
        (batch_id, *OPEN, *PAID, annotators, participant_id, *OPEN, *PAID),
    )
    return None if row is None else str(row["id"])


def of_submission(state: State, submission_id: str) -> list[sqlite3.Row]:
    """Return the tasks that a submission has to do, with their rows of data."""
    return state.rows(
        "SELECT task.id, content FROM group_assignment "
        "JOIN task USING (group_id) JOIN datapoint ON datapoint.id = datapoint_id "
        "WHERE submission_id = ? ORDER BY task.number",
        (submission_id,),
    )


def _make(state: State, batch: sqlite3.Row) -> dict[str, int]:
    """Make tasks of the rows that have none, and count what was made."""
    rows = state.rows(_WITHOUT_TASK, (batch["id"], batch["dataset_id"]))
    [dataset] = state.rows("SELECT fields FROM dataset WHERE id = ?", (batch["dataset_id"],))
    field = records.group_field_of(dataset["fields"])
    is_grouped = any(json.loads(row["content"]).get(field) for row in rows)
    created, expanded = (
        _grouped_by_data(state, batch, rows, field)
        if is_grouped
        else (_grouped_at_random(state, batch, rows), 0)
    )
    return {
        "tasks_created": len(rows),
        "datapoints_processed": len(rows),
        "groups_created": created,
        "groups_expanded": expanded,
    }


def _grouped_by_data(
    state: State, batch: sqlite3.Row, rows: Sequence[sqlite3.Row], field: str
) -> tuple[int, int]:
    by_label = defaultdict[str, list[str]](list)
    for row in rows:
        by_label[str(json.loads(row["content"]).get(field) or "")].append(row["id"])
    created = 0
    for label, datapoints in by_label.items():
        known = state.row(
            "SELECT id FROM task_group WHERE batch_id = ? AND label = ?", (batch["id"], label)
        )
        created += known is None
        group_id = known["id"] if known else _new_group(state, batch["id"], label)
        _fill(state, batch["id"], group_id, datapoints)
    return created, len(by_label) - created


def _grouped_at_random(state: State, batch: sqlite3.Row, rows: Sequence[sqlite3.Row]) -> int:
    ids, size = [row["id"] for row in rows], batch["tasks_per_group"]
    state.rng("task groups", batch["id"], str(len(ids))).shuffle(ids)
    parts = [ids[start : start + size] for start in range(0, len(ids), size)]
    for part in parts:
        _fill(state, batch["id"], _new_group(state, batch["id"], None), part)
    return len(parts)


def _new_group(state: State, batch_id: str, label: str | None) -> str:
    group_id = state.new_uuid()
    state.conn.execute(
        "INSERT INTO task_group (id, batch_id, label) VALUES (?, ?, ?)", (group_id, batch_id, label)
    )
    return group_id


def _fill(state: State, batch_id: str, group_id: str, datapoints: Sequence[Any]) -> None:
    state.conn.executemany(
        "INSERT INTO task (id, batch_id, group_id, datapoint_id) VALUES (?, ?, ?, ?)",
        [(state.new_uuid(), batch_id, group_id, each) for each in datapoints],
    )
