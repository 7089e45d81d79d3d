"""Create, change, list, price, copy, publish and end studies."""

import json
from typing import Any

from offline_markets.core.errors import ApiError, wrong
from offline_markets.prolific import filters, money, study_life
from offline_markets.prolific.beyond import allocations, filter_sets
from offline_markets.prolific.beyond.credentials import check_pool
from offline_markets.prolific.beyond.task_builder import hosting
from offline_markets.prolific.call import Call
from offline_markets.prolific.groups import check_groups
from offline_markets.prolific.pages import PAGE_SIZE, listing
from offline_markets.prolific.state import State
from offline_markets.prolific.study import Study
from offline_markets.prolific.study_fields import read_fields
from offline_markets.prolific.workspaces import project_row

STATUSES = (
    "UNPUBLISHED",
    "SCHEDULED",
    "PUBLISHING",
    "ACTIVE",
    "PAUSED",
    "AWAITING REVIEW",
    "COMPLETED",
)
_CHANGEABLE = {
    "internal_name",
    "access_details",
    "data_collection_metadata",
    "total_available_places",
    "submissions_config",
    "completion_codes",
}
"""The fields that can change after publication; codes only in their slots."""

_MOST_PLACES = 1_000_000


def create(call: Call) -> dict[str, Any]:
    """Create a draft."""
    fields = _checked(call.state, filter_sets.applied(call.state, call.body, sent=call.body))
    return _document(call.state, insert(call.state, fields))


def get(call: Call) -> dict[str, Any]:
    """Return one study, with undocumented links that programs follow."""
    shown = _document(call.state, call.path["id"])
    address = f"{call.origin}{call.address.removesuffix('/')}/"
    return {
        **shown,
        "_links": {
            "self": {"href": address, "title": "Study"},
            "related": {"href": f"{address}submissions/", "title": "Submissions"},
        },
    }


def list_all(call: Call) -> dict[str, Any]:
    """List all studies, or those with a `state` such as `(active|paused)`."""
    asked = call.query.get("state", "").strip("()").replace("_", " ").upper()
    wanted = [name for name in asked.split("|") if name]
    unknown = set(wanted) - {*STATUSES, "UNKNOWN"}
    if unknown:
        raise wrong("state", f"Unknown: {', '.join(sorted(unknown))}.")
    marks = ", ".join("?" * len(wanted))
    return _listing(call, f"status IN ({marks})" if wanted else "1", wanted)


def list_of_project(call: Call) -> dict[str, Any]:
    """List the studies of a project."""
    project = project_row(call.state, call.path["project_id"])
    return _listing(call, "project_id = ?", [project["id"]])


def update(call: Call) -> dict[str, Any]:
    """Change a draft, or the few fields of a published study that can change."""
    state = call.state
    study = Study.find(state, call.path["id"])
    merged = {**study.fields, "project": study.project_id, **call.body}
    fields = _checked(state, filter_sets.applied(state, merged, sent=call.body))
    if study.status == "SCHEDULED":
        raise ApiError(400, "A scheduled study can be changed only after CANCEL_PUBLISH.")
    if not study.is_draft:
        _check_changes(study, fields)
    state.conn.execute(
        "UPDATE study SET fields = ?, project_id = ? WHERE id = ?",
        (json.dumps(fields), fields["project"], study.study_id),
    )
    changed = Study.find(state, study.study_id)
    if changed.places > study.places:
        study_life.reopen(state, changed)
    elif not changed.is_draft:
        study_life.reconcile_hold(state, changed)
    return _document(state, study.study_id)


def delete(call: Call) -> dict[str, Any]:
    """Delete a draft; published studies cannot be deleted."""
    study_id = call.path.get("study_id") or call.path["id"]
    study = Study.find(call.state, study_id)
    if call.path.get("project_id", study.project_id) != study.project_id:
        raise ApiError(404, f"The study {study_id} is not in this project.")
    if not study.is_draft:
        raise ApiError(400, "Published studies cannot be deleted.")
    # A scheduled draft must not be published any more.
    call.state.conn.execute("DELETE FROM due WHERE subject = ?", (study_id,))
    call.state.conn.execute("DELETE FROM study WHERE id = ?", (study_id,))
    return {}


def transition(call: Call) -> dict[str, Any]:
    """Publish, pause, start, stop, schedule or cancel a study."""
    call.only("action", "publish_at")
    study = Study.find(call.state, call.path["id"])
    study_life.transition(call.state, study, call.text("action"), call.body.get("publish_at"))
    return _document(call.state, study.study_id)


def clone(call: Call) -> dict[str, Any]:
    """Copy a study to a draft, excluding its participants unless told otherwise."""
    call.only("block_previous_participants")
    study = Study.find(call.state, call.path["id"])
    blocks = call.body.get("block_previous_participants", True)
    if not isinstance(blocks, bool):
        raise wrong("block_previous_participants", "Must be true or false.")
    fields = dict(study.fields)
    if blocks:
        fields["filters"] = [
            *(fields["filters"] or []),
            {"filter_id": "previous_studies_blocklist", "selected_values": [study.study_id]},
        ]
    copy_id = insert(call.state, {**fields, "project": study.project_id})
    return _document(call.state, copy_id)


def cost(call: Call) -> dict[str, Any]:
    """Return what was paid for a study, or its cost when full if `is_projected`."""
    state = call.state
    study = Study.find(state, call.path["id"])
    if call.flag("is_projected"):
        full = study_life.cost_when_full(state, study)
        rewards = [full.reward, full.fee, full.vat]
    else:
        rewards = _paid(state, study.study_id, "pay", "rewards")
    return {
        "rewards": _breakdown(state, rewards),
        "bonuses": _breakdown(state, _paid(state, study.study_id, "bonus", "bonuses")),
    }


def calculate_cost(call: Call) -> dict[str, Any]:
    """Return the cost of this many places with this reward, with fees and tax."""
    call.only("reward", "total_available_places")
    reward = _amount(call, "reward")
    places = _amount(call, "total_available_places")
    return {"total_cost": money.cost_of(call.state, reward).times(places).total}


def _listing(call: Call, condition: str, values: list[str]) -> dict[str, Any]:
    ordering = call.query.get("ordering", "-date_created")
    if ordering not in ("date_created", "-date_created"):
        raise wrong("ordering", "date_created or -date_created.")
    newest = call.state.now_ms - call.state.lag_ms
    return listing(
        call,
        f"study WHERE {condition} AND created_ms <= ?",
        [*values, newest],
        render=lambda row: _line(call.state, Study.of_row(row)),
        ordering="number DESC" if ordering.startswith("-") else "number",
        page_size=PAGE_SIZE,
    )


def _line(state: State, study: Study) -> dict[str, Any]:
    total = study_life.cost_when_full(state, study).total
    return study.line(state, total_cost=total)


def _document(state: State, study_id: str) -> dict[str, Any]:
    study = Study.find(state, study_id)
    total = study_life.cost_when_full(state, study).total
    return study.document(state, total_cost=total)


def _checked(state: State, body: dict[str, Any]) -> dict[str, Any]:
    fields = read_fields(body, is_strict=state.is_strict)
    if fields["project"] is None:
        # As documented: the account's first project.
        row = state.rows("SELECT id FROM project ORDER BY number LIMIT 1")[0]
        fields["project"] = row["id"]
    project = project_row(state, fields["project"])
    fields = hosting.settled(state, project["workspace_id"], fields)
    filters.check(state, fields["filters"] or [])
    actions = [action for code in fields["completion_codes"] for action in code["actions"]]
    _check_screen_outs(state, actions)
    _check_actors(state, fields["completion_codes"])
    check_pool(state, project["workspace_id"], fields["credential_pool_id"])
    check_groups(
        state,
        project["workspace_id"],
        [action["participant_group"] for action in actions if "participant_group" in action],
    )
    return fields


def _check_screen_outs(state: State, actions: list[dict[str, Any]]) -> None:
    pays = any(action["action"] == "FIXED_SCREEN_OUT_PAYMENT" for action in actions)
    if pays and not state.switches.screen_outs:
        raise wrong("completion_codes", "This workspace may not use FIXED_SCREEN_OUT_PAYMENT.")


def _check_actors(state: State, codes: list[dict[str, Any]]) -> None:
    is_ours = any(code["actor"] == "researcher" for code in codes)
    if is_ours and not state.switches.researcher_codes:
        raise wrong("completion_codes", "This workspace may not use the actor researcher.")


def insert(state: State, fields: dict[str, Any]) -> str:
    """Store a draft with these fields, and return its id."""
    study_id = state.new_id()
    project = project_row(state, fields["project"])
    state.conn.execute(
        "INSERT INTO study (id, project_id, workspace_id, status, fields, created_ms) "
        "VALUES (?, ?, ?, 'UNPUBLISHED', ?, ?)",
        (study_id, project["id"], project["workspace_id"], json.dumps(fields), state.now_ms),
    )
    return study_id


def _check_changes(study: Study, fields: dict[str, Any]) -> None:
    before = {**study.fields, "project": study.project_id}
    # A file from an older version lacks some fields, which then have their defaults.
    changed = {
        name
        for name, value in fields.items()
        if (value != before[name] if name in before else value)
    }
    locked = {
        name: ["It cannot be changed after publication."] for name in sorted(changed - _CHANGEABLE)
    }
    if fields["total_available_places"] < study.places:
        locked["total_available_places"] = ["It can only be raised."]
    kept = allocations.of_fields(fields)
    if any(kept.get(url, 0) < count for url, count in allocations.of_fields(study.fields).items()):
        locked["access_details"] = ["Allocations can only be added and raised."]
    if hosting.annotators(fields) < hosting.annotators(study.fields):
        locked["data_collection_metadata"] = ["It can only be raised."]
    if _without_slots(fields) != _without_slots(study.fields):
        locked["completion_codes"] = ["Only slots may change after publication."]
    if locked:
        raise ApiError(400, locked)


def _without_slots(fields: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            **code,
            "actions": [
                {name: value for name, value in action.items() if name != "slots"}
                for action in code["actions"]
            ],
        }
        for code in fields["completion_codes"]
    ]


def _paid(state: State, study_id: str, kind: str, target: str) -> list[int]:
    return [
        state.number(
            "SELECT coalesce(sum(amount), 0) FROM ledger "
            "WHERE study_id = ? AND kind = ? AND target = ?",
            (study_id, kind, account),
        )
        for account in (target, "fees", "vat")
    ]


def _breakdown(state: State, amounts: list[int]) -> dict[str, Any]:
    names = ("rewards", "fees", "tax")
    return {
        name: {"amount": amount, "currency": state.currency}
        for name, amount in zip(names, amounts, strict=True)
    }


def _amount(call: Call, name: str) -> int:
    value = call.body.get(name)
    if value is None:
        raise wrong(name, "This field is required.")
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or value != int(value) or not 0 < value <= _MOST_PLACES:
        raise wrong(name, f"A whole number from 1 to {_MOST_PLACES}.")
    return int(value)
