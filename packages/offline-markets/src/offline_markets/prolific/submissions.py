"""Submissions as a requester sees them: listing, counting and deciding."""

from collections.abc import Callable
from typing import Any

from offline_markets.core import clock
from offline_markets.core.errors import ApiError, wrong
from offline_markets.prolific import submission as submission_life
from offline_markets.prolific.call import Call
from offline_markets.prolific.pages import PAGE_SIZE, listing
from offline_markets.prolific.state import State
from offline_markets.prolific.study import Study
from offline_markets.prolific.submission import Submission, set_status

STATUSES = (
    "RESERVED",
    "ACTIVE",
    "TIMED-OUT",
    "AWAITING REVIEW",
    "APPROVED",
    "PARTIALLY APPROVED",
    "REJECTED",
    "RETURNED",
    "SCREENED OUT",
)
CATEGORIES = (
    "TOO_QUICKLY",
    "TOO_SLOWLY",
    "FAILED_INSTRUCTIONS",
    "INCOMP_LONGITUDINAL",
    "FAILED_CHECK",
    "LOW_EFFORT",
    "MALINGERING",
    "NO_CODE",
    "BAD_CODE",
    "NO_DATA",
    "UNSUPP_DEVICE",
    "OTHER",
)
LEAST_MESSAGE = 100
"""The shortest rejection message, in characters."""

_FLAGS = {
    "completed": "completed_ms IS NOT NULL",
    "returned": "status = 'RETURNED'",
    "awaiting_review": "status = 'AWAITING REVIEW'",
    "approved": "status = 'APPROVED'",
    "active": "status = 'ACTIVE'",
    "timeout": "status = 'TIMED-OUT'",
    "rejected": "status = 'REJECTED'",
    "screened_out": "status = 'SCREENED OUT'",
    "completeoractive": "(completed_ms IS NOT NULL OR status = 'ACTIVE')",
}
_OF_ONE_STUDY = {
    "started_at": "started_ms",
    "completed_at": "completed_ms",
    "status": "status",
    "participant_id": "participant_id",
}
_OF_ALL = {"started_at": "started_ms", "submission_reward": "study_id", "study_name": "study_id"}
"""The orderings. A list covers one study, so two of these have no effect."""
_LEAST_PERCENTAGE, _MOST_PERCENTAGE = 8, 99


def list_all(call: Call) -> dict[str, Any]:
    """List the submissions of the study in the query, with its filters."""
    study_id = call.query.get("study")
    if not study_id:
        raise wrong("study", "This field is required.")
    conditions, values = list[str](), list[object]()
    if "status" in call.query:
        conditions.append("status = ?")
        values.append(_status(call.query["status"]))
    for name, condition in _FLAGS.items():
        asked = call.flag(name)
        if asked is not None:
            conditions.append(condition if asked else f"NOT {condition}")
    for name, compare in (("submitted_from", ">="), ("submitted_before", "<")):
        if name in call.query:
            conditions.append(f"completed_ms {compare} ?")
            values.append(_day(name, call.query[name]))
    return _listing(call, study_id, conditions, values, orderings=_OF_ALL)


def list_of_study(call: Call) -> dict[str, Any]:
    """List the submissions of a study."""
    return _listing(call, call.path["id"], [], [], orderings=_OF_ONE_STUDY)


def count(call: Call) -> dict[str, int]:
    """Count a study's submissions by status."""
    counts = Study.find(call.state, call.path["id"]).counts(call.state)
    return {status: counts[status] for status in STATUSES} | {"TOTAL": counts.total()}


def get(call: Call) -> dict[str, Any]:
    """Return one submission."""
    return Submission.find(call.state, call.path["id"]).detail(call.state)


def transition(call: Call) -> dict[str, Any]:
    """Make a transition of a submission; a repeated one changes nothing."""
    call.only("action", "message", "rejection_category", "completion_code", "completion_code_data")
    submission = Submission.find(call.state, call.path["id"])
    action = call.text("action")
    if action not in _ACTIONS:
        raise wrong("action", f"One of {', '.join(_ACTIONS)}.")
    targets, sources, act = _ACTIONS[action]
    if submission.status not in targets:
        if submission.status not in sources:
            raise ApiError(
                400, f"A submission that is {submission.status} cannot be changed this way."
            )
        act(call, submission)
    return Submission.find(call.state, submission.submission_id).document()


def request_return(call: Call) -> dict[str, Any]:
    """Ask the participant to return a submission."""
    call.only("request_return_reasons")
    reasons = call.texts("request_return_reasons")
    if not reasons:
        raise wrong("request_return_reasons", "At least one reason is needed.")
    submission = Submission.find(call.state, call.path["id"])
    if submission.status not in ("ACTIVE", "AWAITING REVIEW"):
        raise ApiError(400, f"A submission that is {submission.status} cannot be returned.")
    submission_life.request_return(call.state, submission, reasons)
    document = Submission.find(call.state, submission.submission_id).detail(call.state)
    return {name: document[name] for name in ("id", "status", "participant", "return_requested")}


def bulk_approve(call: Call) -> str:
    """Approve many submissions a little later; skip those that cannot be approved."""
    call.only("submission_ids", "study_id", "participant_ids")
    state = call.state
    if "submission_ids" in call.body:
        ids = call.texts("submission_ids")
        submissions = [Submission.find(state, submission_id) for submission_id in ids]
    else:
        study = Study.find(state, call.text("study_id"))
        submissions = [
            submission
            for person in call.texts("participant_ids")
            for submission in _of_participant(state, study.study_id, person)
        ]
    at_ms = state.now_ms + state.switches.settling_seconds * clock.SECOND
    for submission in submissions:
        state.plan("bulk_approve", submission.submission_id, at_ms=at_ms)
    return "The submissions are being approved."


def _listing(
    call: Call,
    study_id: str,
    conditions: list[str],
    values: list[object],
    *,
    orderings: dict[str, str],
) -> dict[str, Any]:
    study = Study.find(call.state, study_id)
    ordering = call.query.get("ordering", "started_at")
    if ordering.removeprefix("-") not in orderings:
        raise wrong("ordering", f"One of {', '.join(orderings)}, or with a minus.")
    falling = " DESC" if ordering.startswith("-") else ""
    newest = call.state.now_ms - call.state.lag_ms
    where = " AND ".join(["study_id = ?", "started_ms <= ?", *conditions])
    return listing(
        call,
        f"submission WHERE {where}",
        [study.study_id, newest, *values],
        render=lambda row: Submission.of_row(row).line(call.state),
        ordering=f"{orderings[ordering.removeprefix('-')]}{falling}, number{falling}",
        page_size=PAGE_SIZE,
    )


def _of_participant(state: State, study_id: str, person: str) -> list[Submission]:
    rows = state.rows(
        "SELECT * FROM submission WHERE study_id = ? AND participant_id = ?", (study_id, person)
    )
    if not rows:
        raise wrong("participant_ids", f"{person} did not take part.")
    return [Submission.of_row(row) for row in rows]


def _status(text: str) -> str:
    asked = text.upper().replace("_", " ")
    if asked not in (*STATUSES, "UNKNOWN"):
        raise wrong("status", f"Unknown: {text}.")
    return asked


def _day(name: str, text: str) -> int:
    try:
        return clock.read_day(text)
    except ValueError as fault:
        raise wrong(name, "Write a day as DD/MM/YYYY.") from fault


def _approve(call: Call, submission: Submission) -> None:
    submission_life.approve(call.state, submission)


def _reject(call: Call, submission: Submission) -> None:
    message = call.text("message")
    if len(message) < LEAST_MESSAGE:
        raise wrong("message", f"At least {LEAST_MESSAGE} characters.")
    if call.text("rejection_category") not in CATEGORIES:
        raise wrong("rejection_category", f"One of {', '.join(CATEGORIES)}.")
    submission_life.reject(call.state, submission, message)


def _complete(call: Call, submission: Submission) -> None:
    code = call.text("completion_code")
    known = Study.find(call.state, submission.study_id).code(code, actor="researcher")
    if known is None:
        raise wrong("completion_code", "Not a code of the study with the actor researcher.")
    data = call.body.get("completion_code_data") or {}
    percentage = data.get("percentage_of_reward") if isinstance(data, dict) else None
    if percentage is not None and not (
        isinstance(percentage, int | float) and _LEAST_PERCENTAGE <= percentage <= _MOST_PERCENTAGE
    ):
        raise wrong(
            "completion_code_data",
            f"percentage_of_reward is from {_LEAST_PERCENTAGE} to {_MOST_PERCENTAGE}.",
        )
    submission_life.complete(
        call.state, submission, code, actor="researcher", percentage=percentage
    )


def _start(call: Call, submission: Submission) -> None:
    submission_life.start(call.state, submission)


def _return(call: Call, submission: Submission) -> None:
    set_status(call.state, submission, "RETURNED")


def _screen_out(call: Call, submission: Submission) -> None:
    submission_life.screen_out(call.state, submission)


def _unreject(call: Call, submission: Submission) -> None:
    if not call.state.switches.unreject:
        raise ApiError(400, "A rejection cannot be undone.")
    submission_life.unreject(call.state, submission)


def _unreturn(_call: Call, _submission: Submission) -> None:
    raise ApiError(400, "A return cannot be undone.")


_ACTIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...], Callable[[Call, Submission], None]]] = {
    "APPROVE": (("APPROVED",), ("AWAITING REVIEW",), _approve),
    "REJECT": (("REJECTED",), ("AWAITING REVIEW",), _reject),
    "COMPLETE": (
        ("APPROVED", "PARTIALLY APPROVED", "SCREENED OUT"),
        ("ACTIVE", "AWAITING REVIEW"),
        _complete,
    ),
    "RETURN": (("RETURNED",), ("RESERVED", "ACTIVE", "AWAITING REVIEW"), _return),
    "START": (("ACTIVE",), ("RESERVED",), _start),
    "SCREEN_OUT": (("SCREENED OUT",), ("ACTIVE", "AWAITING REVIEW"), _screen_out),
    "UNREJECT": (("AWAITING REVIEW",), ("REJECTED",), _unreject),
    "UNRETURN": (("ACTIVE",), ("RETURNED",), _unreturn),
}
"""By action: the statuses in which it is already done or can be done, and how."""
