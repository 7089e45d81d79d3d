"""Studies whose page is Prolific's: what they show, and who is given which part."""

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from offline_markets.core.errors import wrong
from offline_markets.prolific.beyond.task_builder import collecting, layouts
from offline_markets.prolific.beyond.task_builder import tasks as builder_tasks
from offline_markets.prolific.state import State
from offline_markets.prolific.study import Study

_BATCH = "AI_TASK_BUILDER_BATCH"
_TABLES = {"AI_TASK_BUILDER_COLLECTION": "collection", _BATCH: "batch"}


def settled(state: State, workspace_id: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a study's fields with what follows from its data collection.

    Raises:
        ApiError: there is no such data collection in the workspace.
    """
    method = fields["data_collection_method"]
    if method is None:
        return dict(fields)
    collection_id = fields["data_collection_id"]
    row = state.row(
        f"SELECT * FROM {_TABLES[method]} WHERE id = ? AND workspace_id = ?",
        (collection_id, workspace_id),
    )
    if row is None:
        raise wrong("data_collection_id", f"Unknown data collection {collection_id}.")
    codes = fields["completion_codes"] or [
        {
            "code": state.new_id()[:8].upper(),
            "code_type": "COMPLETED",
            "actions": [{"action": "MANUALLY_REVIEW"}],
            "actor": "participant",
        }
    ]
    places = fields["total_available_places"]
    if method == _BATCH:
        if row["status"] != "READY":
            raise wrong("data_collection_id", f"The batch is {row['status']}.")
        groups = state.number(
            "SELECT count(*) FROM task_group WHERE batch_id = ?", (collection_id,)
        )
        places = groups * annotators(fields)
    return {**fields, "completion_codes": codes, "total_available_places": places}


def annotators(fields: Mapping[str, Any]) -> int:
    """Return how many participants do each task of a study's batch."""
    metadata = fields.get("data_collection_metadata") or {}
    return int(metadata.get("annotators_per_task", 1))


def has_work(state: State, study: Study, participant_id: str) -> bool:
    """Return whether a batch has tasks left for a participant."""
    return not _is_of_batch(study) or _free_group(state, study, participant_id) != ""


def assign(state: State, study: Study, submission_id: str, participant_id: str) -> None:
    """Give a new submission its tasks, if its study is of a batch."""
    if _is_of_batch(study):
        state.conn.execute(
            "INSERT INTO group_assignment (submission_id, group_id) VALUES (?, ?)",
            (submission_id, _free_group(state, study, participant_id)),
        )


def tasks(state: State, study: Study, submission_id: str) -> list[dict[str, Any]]:
    """Return what a submission has to do: each task with its questions.

    A collection is one task without an id.
    """
    if _is_of_batch(study):
        [batch] = state.rows(
            "SELECT * FROM batch WHERE id = ?", (study.fields["data_collection_id"],)
        )
        asked = layouts.questions(batch)
        return [
            {"task_id": task["id"], "datapoint": json.loads(task["content"]), "questions": asked}
            for task in builder_tasks.of_submission(state, submission_id)
        ]
    row = collecting.collection_row(state, study.fields["data_collection_id"])
    return [{"task_id": None, "questions": collecting.questions(row)}]


def is_hosted(study: Study) -> bool:
    """Return whether Prolific shows a study's work itself."""
    return study.fields.get("data_collection_method") is not None


def own_code(study: Study) -> str:
    """Return the code with which a hosted study ends."""
    [code] = study.fields["completion_codes"]
    return str(code["code"])


def stored(state: State, submission_id: str) -> list[sqlite3.Row]:
    """Return the answers of a submission."""
    return state.rows(
        "SELECT * FROM task_response WHERE submission_id = ? ORDER BY number", (submission_id,)
    )


def store(
    state: State,
    study: Study,
    submission_id: str,
    *,
    task_id: str | None,
    question: Mapping[str, Any],
    answer: list[dict[str, Any]],
) -> None:
    """Store an answer; a later one to the same question replaces it."""
    state.conn.execute(
        "DELETE FROM task_response WHERE submission_id = ? AND instruction_id = ? AND task_id IS ?",
        (submission_id, question["id"], task_id),
    )
    state.conn.execute(
        "INSERT INTO task_response (id, parent_id, task_id, instruction_id, type, "
        "answer, submission_id, created_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            state.new_uuid(),
            study.fields["data_collection_id"],
            task_id,
            question["id"],
            question["type"],
            json.dumps(answer),
            submission_id,
            state.now_ms,
        ),
    )


def _is_of_batch(study: Study) -> bool:
    return study.fields.get("data_collection_method") == _BATCH


def _free_group(state: State, study: Study, participant_id: str) -> str:
    """Return the group of tasks that a participant would get; "" without one."""
    group_id = builder_tasks.free_group(
        state,
        study.fields["data_collection_id"],
        participant_id,
        annotators=annotators(study.fields),
    )
    return group_id or ""
