"""Batches: a dataset, what is asked about each row, and the tasks made of both."""

import json
import sqlite3
from typing import Any

from pydantic import Field

from offline_markets.core.clock import iso
from offline_markets.core.errors import ApiError, not_found, wrong
from offline_markets.prolific.beyond.task_builder import datasets, exports, layouts, tasks
from offline_markets.prolific.beyond.task_builder.collecting import TaskDetails
from offline_markets.prolific.body import Closed, Text, read
from offline_markets.prolific.call import Call
from offline_markets.prolific.operation import Operation
from offline_markets.prolific.pages import listing
from offline_markets.prolific.state import State
from offline_markets.prolific.workspaces import workspace_row

_ONLY_LATER = ("schema_version", "total_task_groups", "auto_sync_enabled")
"""What the answer to a creation does not have yet."""


class _NewBatch(Closed):
    name: Text
    workspace_id: Text
    dataset_id: Text | None = None
    task_details: TaskDetails
    batch_items: list[Any] | None = None


class _Change(Closed):
    name: Text | None = None
    task_details: TaskDetails | None = None
    dataset_id: Text | None = None
    batch_items: list[Any] | None = None
    auto_sync_enabled: bool | None = None


class _SetUp(Closed):
    dataset_id: Text | None = None
    tasks_per_group: int = Field(1, ge=1)


class _Copy(Closed):
    name: Text | None = None
    upload_new_dataset: bool = False


def list_batches(call: Call) -> dict[str, Any]:
    """List the batches of a workspace."""
    workspace_id = workspace_row(call.state, call.query.get("workspace_id", ""))["id"]
    return listing(
        call,
        "batch WHERE workspace_id = ?",
        [workspace_id],
        render=lambda row: _document(call.state, row),
    )


def create(call: Call) -> dict[str, Any]:
    """Create a batch, with its layout if that is sent."""
    new, state = read(_NewBatch, call), call.state
    workspace_row(state, new.workspace_id)
    dataset = _dataset(state, new.dataset_id, new.workspace_id)
    layout = None
    if new.batch_items is not None:
        layout = layouts.read_layout(state, new.batch_items, dataset=dataset)
    return _insert(
        state,
        workspace_id=new.workspace_id,
        name=new.name,
        task_details=new.task_details.model_dump_json(),
        dataset_id=new.dataset_id,
        layout=layout,
        asked=[],
    )


def get(call: Call) -> dict[str, Any]:
    """Return one batch."""
    return _document(call.state, layouts.batch_row(call))


def update(call: Call) -> dict[str, Any]:
    """Change a batch; its dataset only before tasks are made of it."""
    row, state, change = layouts.batch_row(call), call.state, read(_Change, call)
    dataset_id = change.dataset_id or row["dataset_id"]
    if dataset_id != row["dataset_id"] and row["status"] in ("PROCESSING", "READY"):
        raise wrong("dataset_id", "Tasks were made of the batch's dataset already.")
    dataset = _dataset(state, dataset_id, row["workspace_id"])
    values: dict[str, object] = {"dataset_id": dataset_id}
    before = json.loads(row["layout"]) if row["layout"] else []
    sent = before if change.batch_items is None else change.batch_items
    if sent:
        known = frozenset(part["id"] for part in layouts.parts_of(before))
        layout = layouts.read_layout(state, sent, dataset=dataset, known=known)
        values["layout"] = json.dumps(layout)
    if change.name is not None:
        values["name"] = change.name
    if change.task_details is not None:
        values["task_details"] = change.task_details.model_dump_json()
    if change.auto_sync_enabled is not None:
        values["auto_sync"] = int(change.auto_sync_enabled)
    assignments = ", ".join(f"{name} = ?" for name in values)
    state.conn.execute(
        f"UPDATE batch SET {assignments} WHERE id = ?", [*values.values(), row["id"]]
    )
    return _document(state, layouts.batch_row(call))


def get_status(call: Call) -> dict[str, Any]:
    """Return whether a batch's tasks are made."""
    return {"status": layouts.batch_row(call)["status"]}


def set_up(call: Call) -> dict[str, Any]:
    """Make a batch's tasks, a little later."""
    row, state, wanted = layouts.batch_row(call), call.state, read(_SetUp, call)
    if row["status"] in ("PROCESSING", "READY"):
        raise ApiError(400, f"The batch is {row['status']} already.")
    dataset = _dataset(state, wanted.dataset_id or row["dataset_id"], row["workspace_id"])
    if dataset is None:
        raise wrong("dataset_id", "The batch has no dataset.")
    if datasets.status(state, dataset) != "READY":
        raise ApiError(400, "The dataset is not ready: no file was imported.")
    if not layouts.questions(row):
        raise ApiError(400, "The batch asks nothing: it has no instructions.")
    state.conn.execute(
        "UPDATE batch SET status = 'PROCESSING', dataset_id = ?, tasks_per_group = ? WHERE id = ?",
        (dataset["id"], wanted.tasks_per_group, row["id"]),
    )
    tasks.plan(state, "set_up", row["id"])
    return {}


def sync(call: Call) -> dict[str, Any]:
    """Make tasks of the rows that came since, a little later."""
    row = layouts.batch_row(call)
    if row["status"] != "READY":
        raise ApiError(400, f"The batch is {row['status']}; set it up first.")
    return _sync(call.state, row["id"], tasks.begin_sync(call.state, row))


def sync_status(call: Call) -> dict[str, Any]:
    """Return what became of such a job."""
    return _sync(call.state, layouts.batch_row(call)["id"], call.path["sync_id"])


def duplicate(call: Call) -> dict[str, Any]:
    """Copy a batch without its tasks; both share the dataset, or the copy has none."""
    row, state, wanted = layouts.batch_row(call), call.state, read(_Copy, call)
    layout = json.loads(row["layout"]) if row["layout"] else None
    dataset_id = None if wanted.upload_new_dataset else row["dataset_id"]
    return _insert(
        state,
        workspace_id=row["workspace_id"],
        name=wanted.name or f"{row['name']} (Copy)",
        task_details=row["task_details"],
        dataset_id=dataset_id,
        layout=layout,
        asked=json.loads(row["instructions"]),
    )


def list_responses(call: Call) -> dict[str, Any]:
    """List the answers to a batch."""
    row = layouts.batch_row(call)
    return listing(
        call,
        "task_response JOIN submission ON submission.id = submission_id WHERE parent_id = ?",
        [row["id"]],
        render=lambda each: {
            **exports.shared(each),
            "batch_id": row["id"],
            "task_id": each["task_id"],
        },
        columns=exports.COLUMNS,
        ordering="task_response.number",
    )


def report(call: Call) -> dict[str, Any]:
    """Return an address of the dataset as CSV, with the answers beside it."""
    row = layouts.batch_row(call)
    return {**exports.presigned(call, f"reports/{row['id']}"), "http_method": "GET"}


def request_export(call: Call) -> object:
    """Begin an export of all answers, or return the one that is ready."""
    return exports.request(call, layouts.batch_row(call)["id"])


def export_status(call: Call) -> dict[str, Any]:
    """Return whether an export is ready, and from where."""
    return exports.status(call, layouts.batch_row(call)["id"])


def _dataset(state: State, dataset_id: str | None, workspace_id: str) -> sqlite3.Row | None:
    if dataset_id is None:
        return None
    row = datasets.dataset_row(state, dataset_id)
    if row["workspace_id"] != workspace_id:
        raise not_found("dataset", dataset_id)
    return row


def _insert(
    state: State,
    *,
    workspace_id: str,
    name: str,
    task_details: str,
    dataset_id: str | None,
    layout: list[dict[str, Any]] | None,
    asked: list[dict[str, Any]],
) -> dict[str, Any]:
    batch_id = state.new_uuid()
    state.conn.execute(
        "INSERT INTO batch (id, workspace_id, name, task_details, dataset_id, layout, "
        "instructions, created_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            batch_id,
            workspace_id,
            name,
            task_details,
            dataset_id,
            None if layout is None else json.dumps(layout),
            json.dumps([{**each, "parent_id": batch_id} for each in asked]),
            state.now_ms,
        ),
    )
    [row] = state.rows("SELECT * FROM batch WHERE id = ?", (batch_id,))
    made = _document(state, row)
    hidden = {*_ONLY_LATER, *(("batch_items",) if layout is None else ())}
    return {key: value for key, value in made.items() if key not in hidden}


def _document(state: State, row: sqlite3.Row) -> dict[str, Any]:
    groups, count = (
        state.number(f"SELECT count(*) FROM {table} WHERE batch_id = ?", (row["id"],))
        for table in ("task_group", "task")
    )
    shown = {
        "id": row["id"],
        "created_at": iso(row["created_ms"]),
        "created_by": state.user_id,
        "datasets": _datasets(state, row["dataset_id"]),
        "name": row["name"],
        "status": row["status"],
        "total_task_count": count,
        "total_instruction_count": len(layouts.questions(row)),
        "workspace_id": row["workspace_id"],
        "schema_version": 3 if row["layout"] is None else 4,
        "task_details": json.loads(row["task_details"]),
        "total_task_groups": groups,
        "batch_items": json.loads(row["layout"]) if row["layout"] else None,
    }
    if row["auto_sync"] is None:
        return shown
    return {**shown, "auto_sync_enabled": bool(row["auto_sync"])}


def _datasets(state: State, dataset_id: str | None) -> list[dict[str, Any]]:
    if dataset_id is None:
        return []
    row = datasets.dataset_row(state, dataset_id)
    count = datasets.document(state, row)["total_datapoint_count"]
    return [{"id": row["id"], "total_datapoint_count": count, "filename": row["filename"] or ""}]


def _sync(state: State, batch_id: str, sync_id: str) -> dict[str, Any]:
    row = state.row("SELECT * FROM batch_sync WHERE batch_id = ? AND id = ?", (batch_id, sync_id))
    if row is None:
        raise not_found("sync", sync_id)
    return {
        "batch_id": row["batch_id"],
        "dataset_id": row["dataset_id"],
        "sync_id": row["id"],
        "created_at": iso(row["created_ms"]),
        "updated_at": iso(row["updated_ms"]),
        "status": row["status"],
        **json.loads(row["outcome"]),
    }


_BATCHES = "/data-collection/batches"
_BATCH = f"{_BATCHES}/{{batch_id}}"
_EXPORT = f"{_BATCH}/export"

OPERATIONS = (
    Operation("get-task-builder-batches", "GET", _BATCHES, list_batches),
    Operation("create-task-builder-batch", "POST", _BATCHES, create, 201),
    Operation("get-task-builder-batch", "GET", _BATCH, get),
    Operation("update-task-builder-batch", "PATCH", _BATCH, update),
    Operation("sync-task-builder-batch", "POST", f"{_BATCH}/sync", sync, 202),
    Operation("get-batch-sync-status", "GET", f"{_BATCH}/syncs/{{sync_id}}", sync_status),
    Operation("get-task-builder-batch-status", "GET", f"{_BATCH}/status", get_status),
    Operation("setup-task-builder-batch", "POST", f"{_BATCH}/setup", set_up, 202),
    Operation(
        "get-task-builder-batch-task-responses", "GET", f"{_BATCH}/responses", list_responses
    ),
    Operation("get-task-builder-batch-report", "GET", f"{_BATCH}/report/", report),
    Operation("duplicate-task-builder-batch", "POST", f"{_BATCH}/duplicate", duplicate, 201),
    Operation("request-batch-export", "POST", _EXPORT, request_export),
    Operation("get-batch-export-status", "GET", f"{_EXPORT}/{{export_id}}", export_status),
)
WITHOUT_TOKEN = (
    Operation("report", "GET", "/emulator/reports/{batch_id}", exports.download_report),
)
