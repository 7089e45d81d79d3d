"""How participants take places of a study: quotas, and a prediction of how fast.

Prolific documents the field `weightings` of a filter, and not how it is kept. Here each
value has its part of the places, rounded up; a value without a weighting may have all.
A participant with several of the values counts for the first that has room.

Prolific predicts this with a model that it does not describe. Here every eligible
participant takes a place once in fifty hours, which is an invention.

A program acts for each of them, or a person in a browser (`site.py`).
"""

import json
import math
import sqlite3
from collections import Counter
from typing import Any

from offline_markets.core.errors import ApiError, wrong
from offline_markets.prolific import filters
from offline_markets.prolific import submission as submission_life
from offline_markets.prolific.addresses import work_address
from offline_markets.prolific.beyond import allocations, credentials
from offline_markets.prolific.beyond.task_builder import hosting
from offline_markets.prolific.call import Call
from offline_markets.prolific.participants import row_of
from offline_markets.prolific.state import State
from offline_markets.prolific.study import OPEN, PAID, Study
from offline_markets.prolific.study_fields import NO_LIMIT
from offline_markets.prolific.submission import Submission, set_status
from offline_markets.prolific.workspaces import workspace_row


def has_room(state: State, person: sqlite3.Row, study: Study) -> bool:
    """Return whether a place of a study is free for a person with these answers."""
    return all(
        _has_room(state, person, study, selection)
        for selection in study.fields["filters"] or []
        if selection.get("weightings") and "selected_values" in selection
    )


def _has_room(state: State, person: sqlite3.Row, study: Study, selection: dict[str, Any]) -> bool:
    weightings, filter_id = selection["weightings"], selection["filter_id"]
    whole = sum(weightings.values())
    left = dict.fromkeys(selection["selected_values"], study.places) | {
        value: math.ceil(study.places * weight / whole) for value, weight in weightings.items()
    }
    marks = ", ".join("?" for _ in (*OPEN, *PAID))
    taken = state.rows(
        "SELECT answers FROM submission JOIN participant "
        "ON participant.id = participant_id WHERE study_id = ? "
        f"AND submission.status IN ({marks}) ORDER BY submission.number",
        (study.study_id, *OPEN, *PAID),
    )
    for row in taken:
        if (value := _first_with_room(row, filter_id, left)) is not None:
            left[value] -= 1
    return _first_with_room(person, filter_id, left) is not None


def _first_with_room(person: sqlite3.Row, filter_id: str, left: dict[str, int]) -> str | None:
    own = json.loads(person["answers"]).get(filter_id, [])
    return next((value for value in own if left.get(value)), None)


_HOURS_BETWEEN = 50.0
_LIMIT = 100.0
"""From this time on, the prediction is said to be unstable."""


def of_study(call: Call) -> dict[str, Any]:
    """Predict the recruitment time of a study."""
    study = Study.find(call.state, call.path["study_id"])
    return _predicted(call.state, study.fields["filters"] or [], study.places)


def of_fields(call: Call) -> dict[str, Any]:
    """Predict the recruitment time of a study that does not exist."""
    asked = call.body.get("filters")
    if not isinstance(asked, list):
        raise wrong("filters", "This field is required.")
    workspace_row(call.state, call.text("workspace_id"))
    call.text("study_type")
    filters.check(call.state, asked)
    numbers = ("reward", "total_available_places", "estimated_completion_time")
    reward, places, minutes = (_number(call, name) for name in numbers)
    del reward, minutes  # Prolific's model may use them; this one does not.
    return _predicted(call.state, asked, places)


def _predicted(state: State, asked: list[Any], places: float) -> dict[str, Any]:
    people = state.rows("SELECT * FROM participant")
    eligible = sum(filters.is_eligible(state, person, asked) for person in people)
    hours = places * _HOURS_BETWEEN / eligible if eligible else _LIMIT
    hours = round(hours, 2)
    shown = f"{hours:g} hours" if hours < _LIMIT else f"{_LIMIT:g} hours+"
    return {
        "precise_recruitment_time_hours": hours,
        "lower_bound_hours": round(hours * 0.5, 2),
        "upper_bound_hours": round(hours * 2, 2),
        "display_string": shown,
        "limit_at": _LIMIT,
    }


def _number(call: Call, name: str) -> float:
    value = call.body.get(name)
    if value is None:
        raise wrong(name, "This field is required.")
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        raise wrong(name, "Not a number above zero.")
    return float(value)


def list_open(call: Call) -> dict[str, Any]:
    """List the studies in which a participant could take a place now."""
    person = row_of(call.state, call.path["participant_id"])
    rows = call.state.rows("SELECT * FROM study WHERE status = 'ACTIVE' ORDER BY number")
    studies = [
        {
            "id": study.study_id,
            "name": study.fields["name"],
            "description": study.fields["description"],
            "reward": study.reward,
            "currency": call.state.currency,
            "estimated_completion_time": study.fields["estimated_completion_time"],
            "places_left": study.free_places(call.state),
            "device_compatibility": study.fields["device_compatibility"],
        }
        for study in map(Study.of_row, rows)
        if _closed_to(call.state, person, study) is None
    ]
    return {"results": studies}


def take(call: Call) -> dict[str, Any]:
    """Take a place, or continue with a reserved one; return the address of the work.

    With `reserve` the place is only reserved.
    """
    call.only("reserve")
    state = call.state
    person = row_of(state, call.path["participant_id"])
    study = Study.find(state, call.path["study_id"])
    reserved = state.row(
        "SELECT * FROM submission WHERE participant_id = ? AND study_id = ? "
        "AND status = 'RESERVED'",
        (person["id"], study.study_id),
    )
    if reserved is not None:
        taken = Submission.of_row(reserved)
    else:
        why_not = _closed_to(state, person, study)
        if why_not is not None:
            raise ApiError(400, why_not)
        taken = submission_life.reserve(state, study, person["id"])
    if call.body.get("reserve") is not True:
        taken = submission_life.start(state, taken, is_new=reserved is None)
    credential = credentials.of_submission(state, taken.submission_id)
    return {
        **({} if credential is None else {"credential": credential}),
        "submission_id": taken.submission_id,
        "status": taken.status,
        "url": work_address(call, study, taken),
        "complete_url": f"{call.origin}/submissions/complete",
    }


def list_mine(call: Call) -> dict[str, Any]:
    """List a participant's submissions, with what was paid and where to continue."""
    person = row_of(call.state, call.path["participant_id"])
    rows = call.state.rows(
        "SELECT * FROM submission WHERE participant_id = ? ORDER BY number", (person["id"],)
    )
    submissions = [Submission.of_row(row) for row in rows]
    return {
        "results": [
            {
                **submission.detail(call.state),
                "reward_paid": _reward(call.state, submission),
                "url": work_address(call, Study.find(call.state, submission.study_id), submission)
                if submission.status == "ACTIVE"
                else None,
            }
            for submission in submissions
        ]
    }


def complete(call: Call) -> dict[str, Any]:
    """End a participant's submission, with or without a code."""
    call.only("code")
    code = call.body.get("code")
    if not isinstance(code, str | None):
        raise ApiError(400, {"code": ["Not a text."]})
    return _complete(call.state, _own(call), code)


def give_back(call: Call) -> dict[str, Any]:
    """Return a participant's submission, which then is not paid."""
    submission = _own(call)
    if submission.status not in ("RESERVED", "ACTIVE", "AWAITING REVIEW"):
        raise ApiError(400, f"A submission that is {submission.status} cannot be returned.")
    return set_status(call.state, submission, "RETURNED").document()


def complete_in_hand(call: Call) -> str:
    """End a participant's active submission with the code `cc`; return its status."""
    person = row_of(call.state, call.query.get("participant", ""))
    row = call.state.row(
        "SELECT * FROM submission WHERE participant_id = ? "
        "AND status IN ('ACTIVE', 'TIMED-OUT') ORDER BY status, number DESC",
        (person["id"],),
    )
    if row is None:
        raise ApiError(400, "This participant has no active submission.")
    done = _complete(call.state, Submission.of_row(row), call.query.get("cc"))
    return str(done["status"])


def _complete(state: State, submission: Submission, code: str | None) -> dict[str, Any]:
    late = submission.status == "TIMED-OUT" and state.switches.late_completion
    if submission.status != "ACTIVE" and not late:
        raise ApiError(400, f"A submission that is {submission.status} cannot be completed.")
    if late:
        # The reward must be held again before it can be paid.
        submission = set_status(state, submission, "ACTIVE")
    submission_life.complete(state, submission, code or None, actor="participant")
    return Submission.find(state, submission.submission_id).document()


def _own(call: Call) -> Submission:
    submission = Submission.find(call.state, call.path["submission_id"])
    if submission.participant_id != call.path["participant_id"]:
        raise ApiError(404, "That is another participant's submission.")
    return submission


def _closed_to(state: State, person: sqlite3.Row, study: Study) -> str | None:
    """Return why a participant cannot take a place; None if they can."""
    if study.status != "ACTIVE":
        return f"The study is {study.status}."
    if study.free_places(state) <= 0:
        return "Every place is taken."
    if not filters.is_eligible(state, person, study.fields["filters"] or []):
        return "This participant is not eligible."
    if not has_room(state, person, study):
        return "The quota of this participant's answers is full."
    return _used_up(state, person, study) or _had_enough(state, person, study)


def _used_up(state: State, person: sqlite3.Row, study: Study) -> str | None:
    """Return what a study has no more of for a participant; None if it has all."""
    if not allocations.has_page(state, study, person["id"]):
        return "No page of this study has a place for this participant."
    if not hosting.has_work(state, study, person["id"]):
        return "No tasks of this batch are left for this participant."
    if not credentials.has_credential(state, study):
        return "No credentials are left."
    return None


def _had_enough(state: State, person: sqlite3.Row, study: Study) -> str | None:
    """Return why a participant may not take part now; None if they may."""
    config = study.fields["submissions_config"]
    most = config["max_submissions_per_participant"]
    at_once = config["max_concurrent_submissions"]
    mine = Counter(
        row["status"]
        for row in state.rows(
            "SELECT status FROM submission WHERE participant_id = ? AND study_id = ?",
            (person["id"], study.study_id),
        )
    )
    if mine["RESERVED"] + mine["ACTIVE"]:
        return "This participant already has a place."
    if most not in (None, NO_LIMIT) and mine.total() >= most:
        return "This participant has already taken part."
    counts = study.counts(state)
    in_hand = counts["RESERVED"] + counts["ACTIVE"]
    if at_once not in (None, NO_LIMIT) and in_hand >= at_once:
        return "Too many participants are active right now."
    return None


def _reward(state: State, submission: Submission) -> int:
    return state.number(
        "SELECT coalesce(sum(amount), 0) FROM ledger "
        "WHERE submission_id = ? AND kind = 'pay' AND target = 'rewards'",
        (submission.submission_id,),
    )
