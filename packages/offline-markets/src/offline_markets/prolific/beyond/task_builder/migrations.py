"""Schema migrations: the rows of a dataset, fitted to another schema."""

import json
from typing import Any

from offline_markets.core.clock import SECOND, iso
from offline_markets.core.errors import not_found
from offline_markets.prolific.beyond.task_builder import records
from offline_markets.prolific.call import Call
from offline_markets.prolific.state import State


def begin(state: State, dataset_id: str, fields: str) -> str:
    """Store a dataset's new schema, plan the migration, and return its id."""
    state.conn.execute(
        "UPDATE dataset SET fields = ?, schema_number = schema_number + 1 WHERE id = ?",
        (fields, dataset_id),
    )
    job_id = state.new_uuid()
    state.conn.execute(
        "INSERT INTO schema_migration (id, dataset_id, schema_number, created_ms, "
        "updated_ms) SELECT ?1, id, schema_number, ?2, ?2 FROM dataset WHERE id = ?3",
        (job_id, state.now_ms, dataset_id),
    )
    at_ms = state.now_ms + state.switches.settling_seconds * SECOND
    state.plan("migrate", job_id, at_ms=at_ms)
    return job_id


def migrate(state: State, job_id: str) -> None:
    """Fit all rows to the schema; what does not fit it becomes null."""
    [job] = state.rows(
        "SELECT job.dataset_id, fields FROM schema_migration AS job "
        "JOIN dataset ON dataset.id = job.dataset_id WHERE job.id = ?",
        (job_id,),
    )
    schema = records.DataSchema.model_validate_json(job["fields"])
    count, faults = 0, list[dict[str, str]]()
    for row in state.rows(
        "SELECT id, sent FROM datapoint WHERE dataset_id = ? ORDER BY number", (job["dataset_id"],)
    ):
        count += 1
        values, wrong = records.fitted(schema, json.loads(row["sent"]))
        faults += [
            {"datapoint_id": row["id"], "field": field, "reason": reason} for field, reason in wrong
        ]
        nulls = {field: None for field, _ in wrong}
        state.conn.execute(
            "UPDATE datapoint SET content = ? WHERE id = ?",
            (json.dumps({**values, **nulls}), row["id"]),
        )
    outcome: dict[str, Any] = {"reprocessed_count": count}
    if faults:
        failed = len({fault["datapoint_id"] for fault in faults})
        outcome |= {"failed_count": failed, "errors": faults}
    state.conn.execute(
        "UPDATE schema_migration SET status = ?, outcome = ?, updated_ms = ? WHERE id = ?",
        ("partial" if faults else "complete", json.dumps(outcome), state.now_ms, job_id),
    )


def get(call: Call) -> dict[str, Any]:
    """Return what became of a migration."""
    row = call.state.row(
        "SELECT * FROM schema_migration WHERE dataset_id = ? AND id = ?",
        (call.path["dataset_id"], call.path["job_id"]),
    )
    if row is None:
        raise not_found("migration", call.path["job_id"])
    return {
        "dataset_id": row["dataset_id"],
        "job_id": row["id"],
        "schema_version": row["schema_number"],
        "created_at": iso(row["created_ms"]),
        "updated_at": iso(row["updated_ms"]),
        "status": row["status"],
        **json.loads(row["outcome"]),
    }
