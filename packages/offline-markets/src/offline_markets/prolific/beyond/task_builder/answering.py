"""Participants at work on pages that Prolific hosts: what they see, what they answer.

A submission ends by itself, with the study's code, when every question is answered.
"""

from typing import Any

from offline_markets.core.errors import ApiError, wrong
from offline_markets.prolific import submission as submission_life
from offline_markets.prolific.beyond.task_builder import hosting, items
from offline_markets.prolific.call import Call
from offline_markets.prolific.operation import Operation
from offline_markets.prolific.study import Study
from offline_markets.prolific.submission import Submission


def show(call: Call) -> dict[str, Any]:
    """Return a submission's tasks, with their questions."""
    submission, study = _own(call)
    return {"tasks": hosting.tasks(call.state, study, submission.submission_id)}


def answer(call: Call) -> dict[str, Any]:
    """Store answers; the last one ends the submission."""
    call.only("answers")
    submission, study = _own(call)
    if submission.status != "ACTIVE":
        raise ApiError(400, f"A submission that is {submission.status} is not open.")
    tasks = hosting.tasks(call.state, study, submission.submission_id)
    open_questions = {
        (task["task_id"], question["id"]): question
        for task in tasks
        for question in task["questions"]
    }
    sent = call.body.get("answers")
    if not isinstance(sent, list) or not sent:
        raise wrong("answers", "Not a list of answers.")
    for each in sent:
        task_id, question, values = _read(each, open_questions)
        hosting.store(
            call.state,
            study,
            submission.submission_id,
            task_id=task_id,
            question=question,
            answer=values,
        )
    done = {
        (row["task_id"], row["instruction_id"])
        for row in hosting.stored(call.state, submission.submission_id)
    }
    if done >= set(open_questions):
        submission_life.complete(
            call.state, submission, hosting.own_code(study), actor="participant"
        )
    return Submission.find(call.state, submission.submission_id).document()


def _own(call: Call) -> tuple[Submission, Study]:
    submission = Submission.find(call.state, call.path["submission_id"])
    if submission.participant_id != call.path["participant_id"]:
        raise ApiError(404, "That is another participant's submission.")
    study = Study.find(call.state, submission.study_id)
    if not hosting.is_hosted(study):
        raise ApiError(404, "The work of this study is on the requester's own page.")
    return submission, study


def _read(
    sent: object, questions: dict[tuple[Any, Any], dict[str, Any]]
) -> tuple[str | None, dict[str, Any], list[dict[str, Any]]]:
    """Return an answer's task, its question and its values.

    Raises:
        ApiError: it answers nothing that is asked, or not in the wanted form.
    """
    if not isinstance(sent, dict):
        raise wrong("answers", "An answer is an object.")
    key = sent.get("task_id"), sent.get("instruction_id")
    if not all(isinstance(part, str | None) for part in key) or key not in questions:
        raise wrong("answers", f"Nothing is asked with the id {key[1]}.")
    values = sent.get("answer")
    if not isinstance(values, list) or not all(
        isinstance(part, dict)
        and set(part) == {"value"}
        and isinstance(part["value"], str | int | float)
        for part in values
    ):
        raise wrong("answers", 'An answer is a list such as [{"value": "red"}].')
    question = questions[key]
    fault = items.fault_of(question, [part["value"] for part in values])
    if fault is not None:
        raise wrong("answers", f"{question['description']}: {fault}")
    return key[0], question, values


_WORK = "/emulator/participants/{participant_id}/submissions/{submission_id}"

PARTICIPANTS = (
    Operation("tasks", "GET", f"{_WORK}/tasks", show),
    Operation("answer", "POST", f"{_WORK}/answers", answer),
)
