"""Studies whose page is Prolific's: what they show, and who is given which part."""

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from piecework.rehearsal.offline.errors import wrong
from piecework.rehearsal.prolific.state import State
from piecework.rehearsal.prolific.study import Study
from piecework.rehearsal.prolific.task_builder import collecting

COLLECTION = "AI_TASK_BUILDER_COLLECTION"
_TABLES = {COLLECTION: "collection"}


def settled(
    state: State, workspace_id: str, fields: Mapping[str, Any]
) -> dict[str, Any]:
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
    return {**fields, "completion_codes": codes}


def tasks(state: State, study: Study, submission_id: str) -> list[dict[str, Any]]:
    """Return what a submission has to do: each task with its questions.

    A collection is one task without an id.
    """
    del submission_id
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
        "SELECT * FROM task_response WHERE submission_id = ? ORDER BY number",
        (submission_id,),
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
        "DELETE FROM task_response WHERE submission_id = ? AND instruction_id = ? "
        "AND task_id IS ?",
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
