"""Exports and reports of a batch.

A job takes as long as the switch `settling_seconds` says, and at least until the next
call. For an hour it answers further requests. An address is valid for an hour as well,
needs no token, and is renewed by every look at the job.
"""

import io
import json
import sqlite3
import zipfile
from typing import Any

from offline_markets.core.clock import HOUR, SECOND, iso
from offline_markets.core.errors import ApiError, not_found
from offline_markets.prolific.beyond.task_builder import layouts
from offline_markets.prolific.call import Accepted, Call, Csv, Zip
from offline_markets.prolific.operation import Operation
from offline_markets.prolific.state import State


def download_report(call: Call) -> Csv:
    """Return a row for each task and submission, and for each task without one."""
    check_expiry(call)
    batch = layouts.batch_row(call)
    questions = layouts.questions(batch)
    answers: dict[str, dict[str, dict[str, Any]]] = {}
    people: dict[str, str] = {}
    for row in call.state.rows(ALL, (batch["id"],)):
        of_task = answers.setdefault(row["task_id"], {})
        values = [str(part["value"]) for part in json.loads(row["answer"])]
        of_task.setdefault(row["submission_id"], {})[row["instruction_id"]] = values
        people[row["submission_id"]] = row["participant_id"]
    tasks = call.state.rows(
        "SELECT task.id, content FROM task JOIN datapoint "
        "ON datapoint.id = datapoint_id WHERE batch_id = ? ORDER BY datapoint.number",
        (batch["id"],),
    )
    contents = [json.loads(task["content"]) for task in tasks]
    columns = list(dict.fromkeys(key for content in contents for key in content))
    table = [
        [
            *(content.get(column, "") for column in columns),
            people.get(submission_id, ""),
            submission_id,
            *("; ".join(of_submission.get(question["id"], ())) for question in questions),
        ]
        for task, content in zip(tasks, contents, strict=True)
        for submission_id, of_submission in answers.get(task["id"], {"": {}}).items()
    ]
    asked = [question["description"] for question in questions]
    return Csv.of([*columns, "participant_id", "submission_id", *asked], table)


COLUMNS = (
    "task_response.id, task_response.created_ms, parent_id, task_id, instruction_id, "
    "task_response.type, answer, submission_id, participant_id"
)
ALL = (
    f"SELECT {COLUMNS} FROM task_response JOIN submission "
    "ON submission.id = submission_id WHERE parent_id = ? ORDER BY task_response.number"
)
_FORBIDDEN = 403
_TITLES = (
    *("response_id", "created_at", "participant_id", "submission_id", "task_id"),
    *("instruction_id", "type", "answer"),
)


def shared(row: sqlite3.Row) -> dict[str, Any]:
    """Return an answer as lists show it, without what it belongs to."""
    return {
        "id": row["id"],
        "created_at": iso(row["created_ms"]),
        "participant_id": row["participant_id"],
        "submission_id": row["submission_id"],
        "response": {
            "instruction_id": row["instruction_id"],
            "type": row["type"],
            "answer": json.loads(row["answer"]),
        },
    }


def request(call: Call, subject: str) -> object:
    """Return the latest export if it is recent; otherwise begin one."""
    state = call.state
    job = state.row(
        "SELECT * FROM export_job WHERE subject = ? AND requested_ms > ? ORDER BY number DESC",
        (subject, state.now_ms - HOUR),
    )
    if job is None:
        job_id = state.new_uuid()
        state.conn.execute(
            "INSERT INTO export_job (id, subject, requested_ms) VALUES (?, ?, ?)",
            (job_id, subject, state.now_ms),
        )
        at_ms = state.now_ms + state.switches.settling_seconds * SECOND
        state.plan("export", job_id, at_ms=at_ms)
        [job] = state.rows("SELECT * FROM export_job WHERE id = ?", (job_id,))
    shown = _shown(call, job)
    return shown if job["content"] is not None else Accepted(shown)


def status(call: Call, subject: str) -> dict[str, Any]:
    """Return whether an export is ready, and from where."""
    return _shown(call, _job(call.state, call.path["export_id"], subject))


def generate(state: State, job_id: str) -> None:
    """Make the file of an export from the answers there are."""
    [job] = state.rows("SELECT * FROM export_job WHERE id = ?", (job_id,))
    rows = []
    for row in state.rows(ALL, (job["subject"],)):
        values = [part.get("value") for part in json.loads(row["answer"])]
        rows.append(
            [
                *(row["id"], iso(row["created_ms"]), row["participant_id"]),
                *(row["submission_id"], row["task_id"] or "", row["instruction_id"]),
                *(row["type"], json.dumps(values, ensure_ascii=False)),
            ]
        )
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("responses.csv"), Csv.of(_TITLES, rows).text)
    state.conn.execute(
        "UPDATE export_job SET content = ? WHERE id = ?", (packed.getvalue(), job_id)
    )


def download_export(call: Call) -> Zip:
    """Return the file of an export."""
    check_expiry(call)
    job = _job(call.state, call.path["export_id"])
    if job["content"] is None:
        raise not_found("export", job["id"])
    return Zip(job["content"])


def presigned(call: Call, path: str) -> dict[str, Any]:
    """Return an address under the emulator's own that is valid for an hour."""
    expires_ms = call.state.now_ms + HOUR
    return {
        "url": f"{call.origin}/emulator/{path}?expires={expires_ms}",
        "expires_at": iso(expires_ms),
    }


def check_expiry(call: Call) -> None:
    """Refuse an address that is not valid any more.

    Raises:
        ApiError: its time is over, or it names none.
    """
    expires = call.query.get("expires", "")
    if not (expires.isascii() and expires.isdecimal() and len(expires) < 20):  # noqa: PLR2004 - digits
        raise ApiError(_FORBIDDEN, "The address is incomplete.")
    if int(expires) <= call.state.now_ms:
        raise ApiError(_FORBIDDEN, "Request has expired.")


def _job(state: State, job_id: str, subject: str | None = None) -> sqlite3.Row:
    row = state.row(
        "SELECT * FROM export_job WHERE id = ? AND subject = coalesce(?, subject)",
        (job_id, subject),
    )
    if row is None:
        raise not_found("export", job_id)
    return row


def _shown(call: Call, job: sqlite3.Row) -> dict[str, Any]:
    if job["content"] is None:
        return {"status": "generating", "export_id": job["id"]}
    return {"status": "complete", **presigned(call, f"downloads/{job['id']}")}


WITHOUT_TOKEN = (Operation("download", "GET", "/emulator/downloads/{export_id}", download_export),)
