"""Pools of user names and passwords, which participants get when they start a study.

Each credential is used once, also if its submission is returned. A study needs a free
one for each participant; without it, no more of them can take a place.
"""

import csv
import io
import sqlite3
from collections import Counter
from typing import Any

from offline_markets.core.errors import ApiError, not_found, wrong
from offline_markets.prolific.call import Call, Csv
from offline_markets.prolific.operation import Operation
from offline_markets.prolific.state import State
from offline_markets.prolific.study import Study
from offline_markets.prolific.workspaces import workspace_row

_CONFLICT = 409
_REPORT = ("Participant ID", "Submission ID", "Username", "Status")
"""The columns are documented, their titles are not."""


def list_pools(call: Call) -> dict[str, Any]:
    """List the pools of a workspace, with how many credentials are left."""
    workspace_id = call.query.get("workspace_id", "")
    workspace_row(call.state, workspace_id)
    rows = call.state.rows(
        "SELECT pool.id, count(credential.number) AS total, "
        "count(credential.number) - count(credential.submission_id) AS free "
        "FROM credential_pool AS pool LEFT JOIN credential ON pool_id = pool.id "
        "WHERE workspace_id = ? GROUP BY pool.number ORDER BY pool.number",
        (workspace_id,),
    )
    return {
        "credential_pools": [
            {
                "credential_pool_id": row["id"],
                "total_credentials": row["total"],
                "available_credentials": row["free"],
            }
            for row in rows
        ]
    }


def create(call: Call) -> dict[str, Any]:
    """Create a pool from lines of a user name and a password."""
    call.only("credentials", "workspace_id")
    workspace_id = workspace_row(call.state, call.text("workspace_id"))["id"]
    pool_id = call.state.new_uuid()
    call.state.conn.execute(
        "INSERT INTO credential_pool (id, workspace_id) VALUES (?, ?)", (pool_id, workspace_id)
    )
    return _add(call, pool_id)


def update(call: Call) -> dict[str, Any]:
    """Add credentials to a pool; those that it has stay."""
    call.only("credentials")
    row = call.state.row(
        "SELECT id FROM credential_pool WHERE id = ?", (call.path["credential_pool_id"],)
    )
    if row is None:
        raise not_found("credential pool", call.path["credential_pool_id"])
    return _add(call, row["id"])


def report(call: Call) -> Csv:
    """Return which participants of a study have which credentials, and what is left."""
    study = Study.find(call.state, call.path["id"])
    pool_id = study.fields.get("credential_pool_id")
    if pool_id is None:
        raise ApiError(400, "The study has no credentials.")
    rows = call.state.rows(
        "SELECT username, submission.id, participant_id FROM credential "
        "LEFT JOIN submission ON submission.id = submission_id WHERE pool_id = ? "
        "AND coalesce(study_id, ?2) = ?2 ORDER BY credential.number",
        (pool_id, study.study_id),
    )
    return Csv.of(
        _REPORT,
        (
            (
                row["participant_id"] or "",
                row["id"] or "",
                row["username"],
                "USED" if row["id"] else "UNUSED",
            )
            for row in rows
        ),
    )


def check_pool(state: State, workspace_id: str, pool_id: str | None) -> None:
    """Refuse a pool that does not exist or belongs to another workspace.

    Raises:
        ApiError: it is such a pool.
    """
    if pool_id is not None and not state.number(
        "SELECT count(*) FROM credential_pool WHERE id = ? AND workspace_id = ?",
        (pool_id, workspace_id),
    ):
        raise wrong("credential_pool_id", f"Unknown credential pool {pool_id}.")


def has_credential(state: State, study: Study) -> bool:
    """Return whether another participant could start the study."""
    pool_id = study.fields.get("credential_pool_id")
    return pool_id is None or _free(state, pool_id) is not None


def assign(state: State, study: Study, submission_id: str) -> None:
    """Give a submission a credential, if its study has a pool.

    Raises:
        ApiError: none is left.
    """
    pool_id = study.fields.get("credential_pool_id")
    if pool_id is None:
        return
    free = _free(state, pool_id)
    if free is None:
        raise ApiError(400, "No credentials are left.")
    state.conn.execute(
        "UPDATE credential SET submission_id = ? WHERE number = ?", (submission_id, free["number"])
    )


def of_submission(state: State, submission_id: str) -> dict[str, str] | None:
    """Return the credential of a submission, if it has one."""
    row = state.row(
        "SELECT username, password FROM credential WHERE submission_id = ?", (submission_id,)
    )
    return dict(row) if row else None


def _free(state: State, pool_id: str) -> sqlite3.Row | None:
    return state.row(
        "SELECT * FROM credential WHERE pool_id = ? AND submission_id IS NULL "
        "ORDER BY number LIMIT 1",
        (pool_id,),
    )


def _add(call: Call, pool_id: str) -> dict[str, Any]:
    pairs = _pairs(call.text("credentials"))
    known = call.state.rows("SELECT username FROM credential WHERE pool_id = ?", (pool_id,))
    counts = Counter([row["username"] for row in known] + [name for name, _ in pairs])
    doubled = sorted(name for name, count in counts.items() if count > 1)
    if doubled:
        raise ApiError(_CONFLICT, f"Duplicate user names: {', '.join(doubled)}.")
    call.state.conn.executemany(
        "INSERT INTO credential (pool_id, username, password) VALUES (?, ?, ?)",
        [(pool_id, name, password) for name, password in pairs],
    )
    return {"credential_pool_id": pool_id}


def _pairs(text: str) -> list[tuple[str, str]]:
    try:
        rows = [row for row in csv.reader(io.StringIO(text), strict=True) if row]
    except csv.Error as fault:
        raise wrong("credentials", f"Not CSV: {fault}.") from fault
    for number, row in enumerate(rows, 1):
        if len(row) != 2 or not all(cell.strip() for cell in row):  # noqa: PLR2004 - a pair
            raise wrong("credentials", f"Line {number}: write username,password.")
    return [(name.strip(), password.strip()) for name, password in rows]


OPERATIONS = (
    Operation("list-credential-pools", "GET", "/credentials/", list_pools, is_bare=True),
    Operation("create-credential-pool", "POST", "/credentials/", create, 201, is_bare=True),
    Operation(
        "update-credential-pool",
        "PATCH",
        "/credentials/{credential_pool_id}/",
        update,
        is_bare=True,
    ),
    Operation(
        "download-study-credential-report",
        "GET",
        "/studies/{id}/credentials/report/",
        report,
        is_bare=True,
    ),
)
