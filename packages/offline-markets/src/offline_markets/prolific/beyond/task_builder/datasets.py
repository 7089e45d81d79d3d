"""Datasets: made with or without a schema, filled by files or by single records.

Prolific calls those without a schema version 3, and those with one version 4. A second
file replaces the rows of the former, and adds to those of the latter.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable
from typing import Any

from pydantic import Field

from offline_markets.core.clock import iso
from offline_markets.core.errors import ApiError, not_found, wrong
from offline_markets.prolific.beyond import uploads
from offline_markets.prolific.beyond.task_builder import records, tasks
from offline_markets.prolific.beyond.task_builder.records import DataSchema
from offline_markets.prolific.body import Closed, Text, read
from offline_markets.prolific.call import Call
from offline_markets.prolific.operation import Operation
from offline_markets.prolific.state import State
from offline_markets.prolific.workspaces import workspace_row

_CONFLICT = 409
_MOST_RECORDS = 1000
_CONTENT_TYPES = {".csv": "text/csv", ".zip": "application/zip", ".jsonl": "application/x-ndjson"}
_ENDINGS = {3: (".csv", ".zip"), 4: (".csv", ".jsonl")}


class _NewDataset(Closed):
    name: Text
    workspace_id: Text
    fields: DataSchema | None = Field(None, alias="schema")


class _Change(Closed):
    fields: DataSchema = Field(alias="schema")


def create(call: Call) -> dict[str, Any]:
    """Create a dataset; one with a schema is of version 4."""
    new = read(_NewDataset, call)
    workspace_row(call.state, new.workspace_id)
    dataset_id = call.state.new_uuid()
    call.state.conn.execute(
        "INSERT INTO dataset (id, workspace_id, name, fields, created_ms) VALUES (?, ?, ?, ?, ?)",
        (
            dataset_id,
            new.workspace_id,
            new.name,
            new.fields and new.fields.model_dump_json(exclude_none=True),
            call.state.now_ms,
        ),
    )
    return document(call.state, dataset_row(call.state, dataset_id))


def get(call: Call) -> dict[str, Any]:
    """Return one dataset."""
    return document(call.state, _asked(call))


def update(call: Call) -> dict[str, Any]:
    """Change a dataset's schema; its rows are fitted to the new one."""
    row = _asked(call)
    if version(row) == 3:  # noqa: PLR2004 - a version
        raise ApiError(400, "A dataset of version 3 has no schema.")
    before = DataSchema.model_validate_json(row["fields"])
    after = read(_Change, call).fields
    if before.group_field() != after.group_field() and _count(call.state, row["id"]):
        raise wrong("schema", "The task_group_id cannot change: there are datapoints.")
    job_id = records.begin(call.state, row["id"], after.model_dump_json(exclude_none=True))
    changed = document(call.state, _asked(call))
    return {**changed, "migration_job_id": job_id}


def get_status(call: Call) -> dict[str, Any]:
    """Return whether a dataset is ready for tasks."""
    return {"status": status(call.state, _asked(call))}


def upload_address(call: Call) -> dict[str, Any]:
    """Return an address for a file with rows."""
    row, state = _asked(call), call.state
    upload = uploads.presigned(call, uploads.DATASET, row["id"], _ENDINGS[version(row)])
    import_id = state.new_uuid()
    state.conn.execute(
        "INSERT INTO dataset_import (id, dataset_id, upload_id, created_ms, "
        "updated_ms) VALUES (?1, ?2, ?3, ?4, ?4)",
        (import_id, row["id"], upload["id"], state.now_ms),
    )
    filename = upload["filename"]
    answer = {
        "dataset_id": row["id"],
        "upload_url": uploads.address(call, upload),
        "http_method": "PUT",
        "content_type": _CONTENT_TYPES[filename[filename.rindex(".") :].lower()],
        "expires_at": iso(upload["expires_ms"]),
        "file_key": f"{row['id']}/{filename}",
    }
    return answer if version(row) == 3 else {**answer, "import_id": import_id}  # noqa: PLR2004 - a version


def import_status(call: Call) -> dict[str, Any]:
    """Return what became of a file for a dataset of version 4."""
    row = call.state.row(
        f"{_IMPORTS} AND dataset_import.id = ?", (_asked(call)["id"], call.path["import_id"])
    )
    if row is None:
        raise not_found("import", call.path["import_id"])
    return _import(row)


def append(call: Call) -> dict[str, Any]:
    """Add records, a line each; refuse those that do not fit, one by one."""
    row, state = _asked(call), call.state
    if row["fields"] is None:
        raise ApiError(400, "Records are appended to datasets with a schema.")
    if _is_at_work(state, row["id"]):
        raise ApiError(_CONFLICT, "An import or a migration is in progress.")
    try:
        sent = list(records.read_lines(call.content))
    except records.UnreadableError as fault:
        raise ApiError(400, str(fault)) from fault
    if len(sent) > _MOST_RECORDS:
        raise ApiError(400, f"At most {_MOST_RECORDS} records.")
    accepted, faults = _add(state, row, sent, first=1)
    tasks.follow(state, row["id"])
    return {"accepted": accepted, "rejected": len(faults), "errors": faults}


def take_in(state: State, upload_id: str) -> None:
    """Read an uploaded file into its dataset."""
    [upload] = state.rows("SELECT * FROM upload WHERE id = ?", (upload_id,))
    row = dataset_row(state, upload["subject"])
    fill: Callable[[State, sqlite3.Row, list[object]], dict[str, Any]] = (
        _replace if row["fields"] is None else _extend
    )
    try:
        outcome = fill(state, row, records.read_file(upload["filename"], upload["content"]))
    except records.UnreadableError as fault:
        outcome = {"status": "failed", "reason": str(fault)}
    result = outcome.pop("status")
    state.conn.execute(
        "UPDATE dataset_import SET status = ?, outcome = ?, updated_ms = ? WHERE upload_id = ?",
        (result, json.dumps(outcome), state.now_ms, upload_id),
    )
    if result != "failed" or row["fields"] is None:
        state.conn.execute(
            "UPDATE dataset SET status = ?, filename = ? WHERE id = ?",
            ("ERROR" if result == "failed" else "READY", upload["filename"], row["id"]),
        )
    tasks.follow(state, row["id"])


def dataset_row(state: State, dataset_id: str) -> sqlite3.Row:
    """Return the row of a dataset.

    Raises:
        ApiError: it does not exist.
    """
    row = state.row("SELECT * FROM dataset WHERE id = ?", (dataset_id,))
    if row is None:
        raise not_found("dataset", dataset_id)
    return row


def version(row: sqlite3.Row) -> int:
    """Return a dataset's version."""
    return 3 if row["fields"] is None else 4


def status(state: State, row: sqlite3.Row) -> str:
    """Return a dataset's status; that of version 4 follows from its rows."""
    if _is_at_work(state, row["id"]):
        return "PROCESSING"
    is_filled = row["fields"] is not None and _count(state, row["id"])
    return "READY" if is_filled else str(row["status"])


def document(state: State, row: sqlite3.Row) -> dict[str, Any]:
    """Return a dataset as the API shows it."""
    shown: dict[str, Any] = {
        "id": row["id"],
        "name": row["name"],
        "created_at": iso(row["created_ms"]),
        "created_by": state.user_id,
        "workspace_id": row["workspace_id"],
        "total_datapoint_count": _count(state, row["id"]),
        "schema_version": str(version(row)),
    }
    if row["fields"] is not None:
        imports = state.rows(f"{_IMPORTS} ORDER BY dataset_import.number DESC", (row["id"],))
        return {
            **shown,
            "schema": json.loads(row["fields"]),
            "imports": [_import(each) for each in imports],
        }
    return {
        **shown,
        "status": status(state, row),
        "filename": row["filename"],
        "has_predetermined_grouping_id": _has_groups(state, row["id"])
        if row["status"] == "READY"
        else None,
        "imports": None,
    }


_IMPORTS = (
    "SELECT dataset_import.*, filename, received_ms FROM dataset_import "
    "JOIN upload ON upload.id = upload_id WHERE dataset_id = ?"
)


def _import(row: sqlite3.Row) -> dict[str, Any]:
    is_waiting = row["status"] == "uninitialised" and row["received_ms"] is not None
    return {
        "dataset_id": row["dataset_id"],
        "import_id": row["id"],
        "type": "file_upload",
        "filename": row["filename"],
        "created_at": iso(row["created_ms"]),
        "updated_at": iso(row["received_ms"] if is_waiting else row["updated_ms"]),
        "status": "processing" if is_waiting else row["status"],
        **json.loads(row["outcome"]),
    }


def _asked(call: Call) -> sqlite3.Row:
    return dataset_row(call.state, call.path["dataset_id"])


def _count(state: State, dataset_id: str) -> int:
    return state.number("SELECT count(*) FROM datapoint WHERE dataset_id = ?", (dataset_id,))


def _is_at_work(state: State, dataset_id: str) -> bool:
    return bool(
        state.number(
            "SELECT (SELECT count(*) FROM dataset_import JOIN upload "
            "ON upload.id = upload_id WHERE dataset_id = ?1 "
            "AND dataset_import.status = 'uninitialised' AND received_ms IS NOT NULL) "
            "+ (SELECT count(*) FROM schema_migration WHERE dataset_id = ?1 "
            "AND status = 'processing')",
            (dataset_id,),
        )
    )


def _has_groups(state: State, dataset_id: str) -> bool:
    row = state.row("SELECT content FROM datapoint WHERE dataset_id = ? LIMIT 1", (dataset_id,))
    return row is not None and records.GROUP_COLUMN in json.loads(row["content"])


def _replace(state: State, row: sqlite3.Row, sent: list[object]) -> dict[str, Any]:
    if state.number(
        "SELECT count(*) FROM task JOIN datapoint ON datapoint.id = datapoint_id "
        "WHERE dataset_id = ?",
        (row["id"],),
    ):
        raise records.UnreadableError("Tasks were made of this dataset already.")
    state.conn.execute("DELETE FROM datapoint WHERE dataset_id = ?", (row["id"],))
    for record in sent:
        if isinstance(record, dict):
            _insert(state, row["id"], record, record)
    return {"status": "complete", "accepted_count": len(sent)}


def _extend(state: State, row: sqlite3.Row, sent: list[object]) -> dict[str, Any]:
    accepted, faults = _add(state, row, sent, first=0)
    if not faults:
        return {"status": "complete", "accepted_count": accepted}
    if not accepted:
        reason = faults[0]["reason"]
        raise records.UnreadableError(f"Every record is rejected: {reason}")
    return {
        "status": "partial",
        "accepted_count": accepted,
        "rejected_count": len({fault["record_index"] for fault in faults}),
        "errors": faults,
    }


def _add(
    state: State, row: sqlite3.Row, sent: Iterable[object], *, first: int
) -> tuple[int, list[dict[str, Any]]]:
    """Store the records that fit; return their number, and the first fault of others.

    Args:
        state: the emulator's memory.
        row: the dataset.
        sent: the records, or why they could not be read.
        first: the number of the first record.
    """
    schema = DataSchema.model_validate_json(row["fields"])
    accepted, refused = 0, []
    for index, record in enumerate(sent, first):
        if isinstance(record, records.UnreadableError):
            values, faults = dict[str, Any](), [(records.WHOLE_RECORD, str(record))]
        else:
            values, faults = records.fitted(schema, record)
        if faults:
            field, reason = faults[0]
            refused.append({"record_index": index, "field": field, "reason": reason})
        elif isinstance(record, dict):
            accepted += 1
            if not _is_known(state, row["id"], record):
                _insert(state, row["id"], record, values)
    return accepted, refused


def _is_known(state: State, dataset_id: str, record: dict[str, Any]) -> bool:
    return bool(
        state.number(
            "SELECT count(*) FROM datapoint WHERE dataset_id = ? AND sent = ?",
            (dataset_id, records.as_stored(record)),
        )
    )


def _insert(state: State, dataset_id: str, record: dict[str, Any], values: dict[str, Any]) -> None:
    state.conn.execute(
        "INSERT INTO datapoint (id, dataset_id, sent, content) VALUES (?, ?, ?, ?)",
        (state.new_uuid(), dataset_id, records.as_stored(record), json.dumps(values)),
    )


_DATASETS = "/data-collection/datasets"
_DATASET = f"{_DATASETS}/{{dataset_id}}"

OPERATIONS = (
    Operation("create-task-builder-dataset", "POST", _DATASETS, create, 201),
    Operation("get-task-builder-dataset", "GET", _DATASET, get),
    Operation("update-task-builder-dataset", "PATCH", _DATASET, update),
    Operation(
        "get-dataset-upload-url", "GET", f"{_DATASET}/upload-url/{{filename}}", upload_address, 201
    ),
    Operation(
        "get-dataset-import-status", "GET", f"{_DATASET}/imports/{{import_id}}", import_status
    ),
    Operation("append-dataset-datapoints", "POST", f"{_DATASET}/datapoints", append, is_raw=True),
    Operation(
        "get-schema-migration-status",
        "GET",
        f"{_DATASET}/schema-migrations/{{job_id}}",
        records.get,
    ),
    Operation("get-task-builder-dataset-status", "GET", f"{_DATASET}/status", get_status),
)
